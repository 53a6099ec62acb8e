// SPDX-License-Identifier: MIT

import java.util.List;

/** The peers that this program was compiled with. */
final class Peers {
    static final List<String> NAMES = List.of("netty-1ms", "netty-100ms");

    static Peer named(String name) {
        return new NettyPeer(name.equals("netty-1ms") ? 1 : 100);
    }

    private Peers() {
    }
}
