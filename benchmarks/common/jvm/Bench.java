// SPDX-License-Identifier: MIT

/**
 * Runs one workload with one peer in this JVM, and prints its figures. One of each, so that no peer is affected by what the
 * compiler and the collector know of another one. Suite is the class of a benchmark.
 */
final class Bench {
    public static void main(String[] words) throws Exception {
        Suite.run(words);
        Runtime.getRuntime().halt(0); // an orderly end of millions of timers takes long
    }

    static void fail(String why) {
        System.err.println("Bench: " + why);
        Runtime.getRuntime().halt(1);
    }
}
