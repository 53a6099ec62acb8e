/* SPDX-License-Identifier: MIT */
/*
 * job_queue.cpp - a queue of mails that survives a crash: workers lease them by priority, one that fails is
 * tried again after a delay, and after three attempts it is put aside until someone looks at it.
 */
#include <htw/htw.hpp>
#include <htw/journal.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static std::atomic<int> sent { 0 };
static std::atomic<bool> server_is_up { false };

/* May be called twice for a mail if the process crashes: job.id() is the same then. */
static void send(const htw::lease &job) {
    if (job.payload() == "to eve" && !server_is_up)
        throw std::runtime_error("no such server");
    sent++;
}

/* Until no mail has come for a second. */
static void work(htw::journal &journal) {
    htw::lease_options options;
    for (;;) {
        options.wait_until = journal.now() + 1s;
        htw::lease job = journal.lease("mail", options);
        if (!job)
            return;
        try {
            send(job);
            job.done();
        } catch (const std::runtime_error &error) {
            std::printf("%s, attempt %u: %s\n", job.payload().c_str(), job.attempt(), error.what());
        } // a job that is not done is given back
    }
}

static void work_in_threads(htw::journal &journal) {
    std::vector<std::thread> workers(4);
    for (std::thread &worker : workers)
        worker = std::thread([&] { work(journal); });
    for (std::thread &worker : workers)
        worker.join();
}

int main() {
    char folder[] = "/tmp/job_queue-XXXXXX";
    if (mkdtemp(folder) == nullptr)
        return 1;
    htw::scheduler scheduler;
    {
        htw::journal journal(scheduler, std::string(folder) + "/queue");
        htw::queue_policy policy;
        policy.attempts_max = 3;
        policy.initial = 20ms;
        policy.cap = 1s;
        journal.set_policy("mail", policy);

        htw::change mails; // all or none
        for (const char *mail : { "to ada", "to eve", "to bob" }) {
            htw::job job { mail };
            job.queue = "mail";
            mails.put(job);
        }
        journal.apply(mails);
        work_in_threads(journal);

        htw_list_place place {};
        for (const htw::job_info &job : journal.list("mail", htw::job_state::buried, place, 10))
            std::printf("%s was put aside after %u attempts\n", job.payload.c_str(), job.attempts);
        server_is_up = true;
        journal.kick("mail", 10);
        work_in_threads(journal);
        std::printf("%d of 3 mails were sent\n", sent.load());
        if (journal.stats().jobs > 0)
            return 1;
    }
    const std::string command = std::string("rm -r ") + folder;
    return std::system(command.c_str()) == 0 && sent == 3 ? 0 : 1;
}
