// SPDX-License-Identifier: MIT

/** The workloads of htw-bench-scheduler. */
final class Suite {
    static void run(String[] words) throws Exception {
        Options options = new Options(words);
        Report report = new Report("\"workload\":\"%s\",\"peer\":\"%s\",\"producers\":%d",
            options.workload, options.peer, options.producers);
        Exhaustion.watch(report);
        workload(options.workload).run(options, peer(options.peer), report);
    }

    /** That of netty-1ms is NettyPeer. By its name, so that no other subclass of Peer is loaded. */
    private static Peer peer(String name) throws ReflectiveOperationException {
        String word = name.split("-")[0];
        String type = Character.toUpperCase(word.charAt(0)) + word.substring(1) + "Peer";
        return (Peer) Class.forName(type).getDeclaredConstructor(String.class).newInstance(name);
    }

    private static Workload workload(String name) {
        switch (name) {
        case "threads":
            return new Threads();
        case "foreign":
            return new Foreign();
        case "headline":
            return new Headline();
        case "lateness":
            return new Lateness();
        case "stall":
            return new Stall();
        case "memory":
            return new Memory();
        default:
            throw new IllegalArgumentException("no such workload: " + name);
        }
    }
}
