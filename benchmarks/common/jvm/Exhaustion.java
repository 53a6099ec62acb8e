// SPDX-License-Identifier: MIT

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryNotificationInfo;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import javax.management.NotificationEmitter;

/**
 * Ends a run whose heap is exhausted, with a line that says so. A JVM does not end by itself then:
 * it collects the whole heap again and again for minutes, or the timer's thread dies silently.
 */
final class Exhaustion {
    /** If so much of the old generation is alive after a collection, the rest is soon used, too. */
    private static final double FULL = 0.92;

    static void watch(Report report) {
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
            if (thrown instanceof OutOfMemoryError)
                end(report);
            thrown.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            // Only an old generation has both thresholds.
            if (pool.getType() == MemoryType.HEAP && pool.isUsageThresholdSupported()
                && pool.isCollectionUsageThresholdSupported() && pool.getUsage().getMax() > 0)
                pool.setCollectionUsageThreshold((long) (FULL * pool.getUsage().getMax()));
        }
        NotificationEmitter memory = (NotificationEmitter) ManagementFactory.getMemoryMXBean();
        memory.addNotificationListener((notification, unused) -> {
            if (notification.getType()
                .equals(MemoryNotificationInfo.MEMORY_COLLECTION_THRESHOLD_EXCEEDED))
                end(report);
        }, null, null);
    }

    private static void end(Report report) {
        report.line("out_of_memory", 1);
        Runtime.getRuntime().halt(0);
    }
}
