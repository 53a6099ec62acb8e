// SPDX-License-Identifier: MIT

import java.util.List;

/** The peers that this program was compiled with. */
final class Peers {
    static final List<String> NAMES = List.of("jdk");

    static Peer named(String name) {
        return new JdkPeer();
    }

    private Peers() {
    }
}
