// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;

/** The memory of a pending request, and what is left when all are completed. */
final class PurgatoryMemory {
    private static final long TIMEOUT_MS = 3_600_000;

    static void run(PurgatoryOptions options, Report report) throws InterruptedException {
        DelayedOperationPurgatory<Operation> purgatory = new DelayedOperationPurgatory<>("bench", 0);
        Key[] keys = Key.create(options.keys);
        for (Key key : keys)
            key.hashCode();
        Operation[] pending = new Operation[options.requests]; // the user's own
        long before = Machine.liveBytes();
        SplittableRandom random = new SplittableRandom(1);
        int next = 0;
        for (int i = 0; i < options.requests; i++) {
            List<Key> on = new ArrayList<>(options.perRequest);
            for (int j = 0; j < options.perRequest; j++)
                on.add(keys[options.distinct ? next++ : random.nextInt(keys.length)]);
            pending[i] = new Operation(TIMEOUT_MS);
            purgatory.tryCompleteElseWatch(pending[i], on);
        }
        long full = Machine.liveBytes();
        report.line("bytes_per_request", (double) (full - before) / options.requests);
        for (int i = 0; i < options.requests; i++) {
            pending[i].ready = true;
            pending[i] = null;
        }
        // By an event on each key: the first key of a request completes it.
        for (Key key : keys)
            purgatory.checkAndComplete(key);
        report.line("retained_watches", purgatory.watched());
        if (purgatory.numDelayed() != 0)
            Bench.fail("requests are left that were completed");
    }
}
