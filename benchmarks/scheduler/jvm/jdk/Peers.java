// SPDX-License-Identifier: MIT

import java.util.List;

/** The peers that this program was compiled with. */
final class Peers {
    static final List<String> NAMES = List.of("jdk", "jdk-forkjoin");

    static Peer named(String name) {
        return name.equals("jdk") ? new JdkPeer() : new ForkJoinPeer();
    }

    private Peers() {
    }
}
