// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.util.Map;

/** One timer that is an hour away: what waiting for it costs. */
final class Idle implements Workload {
    private static final long HOUR_NS = 3_600_000_000_000L;

    @Override
    public void run(Options options, Peer peer, Report report) throws IOException {
        peer.schedule(new NoTask(), HOUR_NS);
        Machine.threads(); // loads its classes before they count
        Clock.sleepUntil(System.nanoTime() + Clock.nanoseconds(options.warmup));
        Map<String, Machine.ThreadCounts> before = Machine.threads();
        Clock.sleepUntil(System.nanoTime() + Clock.nanoseconds(options.seconds));
        Map<String, Machine.ThreadCounts> after = Machine.threads();

        Machine.ThreadCounts timer = new Machine.ThreadCounts();
        Machine.ThreadCounts all = new Machine.ThreadCounts();
        boolean found = false;
        for (Map.Entry<String, Machine.ThreadCounts> entry : after.entrySet()) {
            Machine.ThreadCounts now = entry.getValue();
            Machine.ThreadCounts then =
                before.getOrDefault(entry.getKey(), new Machine.ThreadCounts());
            add(all, now, then);
            if (now.name.equals(peer.timerThread())) {
                add(timer, now, then);
                found = true;
            }
        }
        if (!found)
            throw new IllegalStateException("no thread is called " + peer.timerThread());
        report.line("measured_s", options.seconds);
        report.line("wakeups_timer_thread", timer.switches);
        report.line("wakeups_process", all.switches);
        report.line("cpu_ms_timer_thread", timer.cpuNs / 1e6);
        report.line("cpu_ms_process", all.cpuNs / 1e6);
    }

    private static void add(Machine.ThreadCounts sum, Machine.ThreadCounts now,
            Machine.ThreadCounts then) {
        sum.switches += now.switches - then.switches;
        sum.cpuNs += now.cpuNs - then.cpuNs;
    }
}
