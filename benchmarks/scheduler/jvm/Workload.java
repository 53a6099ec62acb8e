// SPDX-License-Identifier: MIT

interface Workload {
    void run(Options options, Peer peer, Report report) throws Exception;
}
