// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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

    /** One thread, as /proc shows it. */
    static final class ThreadCounts {
        String name;
        long switches;
        long cpuNs;
    }

    /** All live threads, by number. */
    static Map<String, ThreadCounts> threads() throws IOException {
        List<Path> folders;
        try (Stream<Path> list = Files.list(Path.of("/proc/self/task"))) {
            folders = list.collect(Collectors.toList());
        }
        Map<String, ThreadCounts> threads = new HashMap<>();
        for (Path folder : folders) {
            ThreadCounts counts = new ThreadCounts();
            try {
                counts.name = Files.readString(folder.resolve("comm")).trim();
                for (String line : Files.readAllLines(folder.resolve("status"))) {
                    if (line.contains("voluntary_ctxt_switches:")) // nonvoluntary_..., too
                        counts.switches += Long.parseLong(line.split(":")[1].trim());
                }
                String ran = Files.readString(folder.resolve("schedstat")).split(" ")[0];
                counts.cpuNs = Long.parseLong(ran);
            } catch (IOException ended) {
                continue;
            }
            threads.put(folder.getFileName().toString(), counts);
        }
        return threads;
    }

    private Machine() {
    }
}
