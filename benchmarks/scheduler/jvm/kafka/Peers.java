// SPDX-License-Identifier: MIT

/** The peers that this program was compiled with. */
final class Peers {
    static Peer named(String name) {
        return new KafkaPeer();
    }

    private Peers() {
    }
}
