// SPDX-License-Identifier: MIT

import java.lang.management.ManagementFactory;

/** What the kernel counts for this process. */
final class Machine {
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** The CPU time of all threads, also of the JVM and of ended ones, in steps of 10 ms. */
    static long cpuNs() {
        return SYSTEM.getProcessCpuTime();
    }

    /** The heap in use after several collections. */
    static long liveBytes() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(100);
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
