// SPDX-License-Identifier: MIT

/** The memory of a million pending timers. */
final class Memory implements Workload {
    private static final int TIMERS = 1_000_000;
    private static final long HOUR_NS = 3_600_000_000_000L;
    /** By then even a tick of 100 ms has moved all of them from Netty's queue to its wheel. */
    private static final long SETTLE_MS = 3000;

    @Override
    public void run(Options options, Peer peer, Report report) throws InterruptedException {
        Delays delays = new Delays(1, HOUR_NS, 2 * HOUR_NS);
        Task shared = new NoTask();
        peer.schedule(shared, delays.nextNs()); // so that the thread of the peer does not count
        long before = Machine.liveBytes();
        for (int i = 0; i < TIMERS; i++)
            peer.schedule(new ArgumentTask(shared), delays.nextNs());
        Thread.sleep(SETTLE_MS);
        report.line("bytes_per_timer", (double) (Machine.liveBytes() - before) / TIMERS);
    }

    /** A callback with its own argument, as every timer in C has. */
    private static final class ArgumentTask extends Task {
        private final Object argument;

        ArgumentTask(Object argument) {
            this.argument = argument;
        }

        @Override
        public void run() {
            argument.hashCode();
        }
    }
}
