/* SPDX-License-Identifier: MIT */
/* test_journal.cpp - journals, and leases that are ended once. */
#include "harness.hpp"

#include "../support/failing_new.h"

#include <htw/journal.hpp>

#include <sqlite3.h>

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace {

class test_folder {
  public:
    test_folder() {
        char name[] = "/tmp/htw-journal-XXXXXX";
        name_ = mkdtemp(name);
    }

    ~test_folder() {
        const std::string command = "rm -r " + name_;
        CHECK(std::system(command.c_str()) == 0);
    }

    std::string path() const {
        return name_ + "/jobs";
    }

  private:
    std::string name_;
};

/* A scheduler whose time stands still, and a journal. */
struct fixture {
    explicit fixture(htw::journal_options options = htw::journal_options())
        : journal(scheduler, folder.path(), std::move(options)) {
    }

    test_folder folder {};
    htw::scheduler scheduler { test::manual() };
    htw::journal journal;
};

htw::job of_queue(const char *payload, const char *queue = "mail") {
    htw::job job { payload };
    job.queue = queue;
    return job;
}

std::uint64_t count(const htw::journal &journal, std::uint64_t htw::queue_stats::*state) {
    const auto stats = journal.queue("mail");
    return stats ? (*stats).*state : 0;
}

} // namespace

TEST(journal_delivers_a_job_at_its_deadline_and_its_lease_ends_it) {
    std::vector<std::string> delivered;
    htw::journal_options options;
    options.deliver = [&](htw::lease job) {
        delivered.push_back(job.payload());
        CHECK(job.end() == htw::instant::max() && !job.extend(htw::instant(1h)) && job);
        job.done_later();
        CHECK(!job);
    };
    fixture fixture(options);
    htw::job job { "later" };
    job.deadline = fixture.journal.now() + 1s;
    CHECK(fixture.journal.put(job) > 0);
    fixture.scheduler.advance(999ms);
    CHECK(delivered.empty());
    fixture.scheduler.advance(1ms);
    fixture.journal.sync();
    CHECK(delivered == std::vector<std::string> { "later" } && fixture.journal.stats().jobs == 0);
}

TEST(journal_job_whose_deliver_throws_comes_again) {
    int calls = 0, caught = 0;
    htw::journal_options options;
    options.deliver = [&](htw::lease job) {
        if (++calls == 1)
            throw std::runtime_error("no network");
        job.done_later();
    };
    options.exception_handler = [&](std::exception_ptr) { caught++; };
    fixture fixture(options);
    fixture.journal.put(htw::job { "mail" });
    fixture.scheduler.advance(1s);
    fixture.journal.sync();
    fixture.scheduler.advance(1s);
    fixture.journal.sync();
    CHECK(calls == 2 && caught == 1 && fixture.journal.stats().jobs == 0);
}

TEST(journal_lease_ends_once) {
    fixture fixture;
    htw::journal &journal = fixture.journal;
    journal.put(of_queue("first"));
    htw::job slow = of_queue("slow");
    slow.priority = 7;
    slow.key = "key";
    journal.put(slow);
    slow.if_absent = true;
    CHECK_FAILS(journal.put(slow), std::errc::file_exists);

    htw::lease first = journal.lease("mail");
    CHECK(first.payload() == "first" && first.queue() == "mail" && !first.key());
    CHECK(first.attempt() == 1 && first.done() && !first);
    CHECK_FAILS(first.done(), std::errc::invalid_argument);
    std::error_code error;
    htw::lease second = journal.lease({ "none", "mail" });
    CHECK(second.key() == "key" && second.priority() == 7 && second.extend(journal.now() + 1h));
    fixture.scheduler.advance(61min);
    journal.sync();
    CHECK(!second.done(error) && error.value() == ESTALE && !second);
    second = journal.lease("mail");
    CHECK(journal.update(htw::step::done(second.id())));
    CHECK(!second.done() && !second); // another one has ended it
    CHECK(!journal.lease("empty") && !journal.update(htw::step::cancel_key("key")));
}

TEST(journal_lease_that_is_dropped_or_released_is_leased_again) {
    fixture fixture;
    htw::journal &journal = fixture.journal;
    const std::uint64_t id = journal.put(of_queue("mail"));
    { const htw::lease dropped = journal.lease("mail"); }
    journal.sync();
    htw::lease job = journal.lease("mail");
    CHECK(job.id() == id && job.attempt() == 2);
    CHECK(job.release_at(journal.now() + 1min) && !journal.lease("mail"));
    CHECK(journal.peek(id)->state == htw::job_state::delayed);
    fixture.scheduler.advance(1min);
    job = journal.lease("mail");
    CHECK(job.attempt() == 3 && job.bury());
    CHECK(journal.kick("mail", 10) == 1);
    job = journal.lease_id(id);
    CHECK(job.id() == id && !journal.lease_id(id) && !journal.lease_id(12345));
    const auto info = journal.peek(id);
    CHECK(info->attempts == 4 && info->releases == 2 && info->buries == 1 && info->kicks == 1);
    CHECK(info->payload == "mail" && info->queue == "mail" && !info->key);
    CHECK(job.detach() == id && !job);
    CHECK(journal.update(htw::step::release(id).of_attempt(4).with_priority(3)));
    CHECK(journal.peek(id)->priority == 3);
}

TEST(journal_change_is_made_wholly_and_ends_its_leases) {
    fixture fixture;
    htw::journal &journal = fixture.journal;
    journal.put(of_queue("first"));
    htw::change change;
    change.done(journal.lease("mail")).put(of_queue("next")).put(of_queue("last"));
    const std::vector<std::uint64_t> ids = journal.apply(change);
    CHECK(ids.size() == 2 && journal.peek(ids[1])->payload == "last");
    CHECK(journal.stats().jobs == 2);

    htw::change impossible;
    impossible.put(of_queue("never")).done(journal.lease("mail")).add(htw::step::cancel(12345));
    CHECK_FAILS(journal.apply(impossible), std::errc::no_such_file_or_directory);
    CHECK(journal.stats().jobs == 2 && count(journal, &htw::queue_stats::leased) == 1);
    impossible = htw::change();
    journal.sync();
    CHECK(count(journal, &htw::queue_stats::leased) == 0);
    CHECK(journal.apply(htw::change()).empty());
}

TEST(journal_notices_come_once_with_the_result) {
    std::atomic<int> destroyed { 0 }, durable { 0 };
    std::uint32_t kicked = 0;
    std::error_code refused;
    fixture fixture;
    htw::journal &journal = fixture.journal;
    const std::uint64_t id = journal.put_later(
        of_queue("mail"), [&, token = test::token(destroyed)](std::error_code error) {
            CHECK(!error && token.is_here());
            durable++;
            CHECK_FAILS(journal.sync(), std::errc::resource_deadlock_would_occur);
        });
    journal.update_later(htw::step::bury(id));
    journal.kick_later("mail", 5, [&](std::error_code, std::uint32_t count) { kicked = count; });
    journal.update_later(htw::step::cancel(12345), [&](std::error_code error) { refused = error; });
    journal.apply_later(htw::change().put(of_queue("second")), [&](std::error_code error) {
        CHECK(!error);
        durable++;
    });
    journal.sync();
    CHECK(durable == 2);
    CHECK(destroyed == 1);
    CHECK(kicked == 1);
    CHECK(refused == std::errc::no_such_file_or_directory);
    journal.close();
    CHECK_FAILS(
        journal.put_later(of_queue("closed"), [token = test::token(destroyed)](std::error_code) {}),
        std::errc::invalid_argument);
    CHECK(destroyed == 2);
}

TEST(journal_receiver_gets_a_lease_or_why_there_is_none) {
    std::atomic<int> destroyed { 0 };
    std::string received;
    std::error_code timed_out, cancelled;
    fixture fixture;
    htw::journal &journal = fixture.journal;
    htw::lease_options options;
    options.wait_until = journal.now() + 1min;
    journal.lease_later("mail", options,
                        [&, token = test::token(destroyed)](std::error_code error, htw::lease job) {
                            CHECK(!error);
                            received = job.payload();
                            job.done_later();
                        });
    journal.put(of_queue("mail"));
    journal.sync();
    CHECK(received == "mail" && destroyed == 1);
    const std::uint64_t request =
        journal.lease_later("mail", options, [&](std::error_code error, htw::lease job) {
            cancelled = error;
            CHECK(!job);
        });
    CHECK(count(journal, &htw::queue_stats::waiting) == 1);
    CHECK(journal.cancel_lease(request) && !journal.cancel_lease(request));
    journal.lease_later("mail", options,
                        [&](std::error_code error, htw::lease) { timed_out = error; });
    fixture.scheduler.advance(1min);
    journal.sync();
    CHECK(cancelled == std::errc::operation_canceled && timed_out == std::errc::timed_out);
}

TEST(journal_without_memory_for_a_lease_or_notice_loses_no_job) {
    fixture fixture;
    htw::journal &journal = fixture.journal;
    const std::string text(100, 'x');
    journal.put(of_queue(text.c_str()));
    int failures = 0;
    for (bool is_done = false; !is_done; failures++) {
        failing_new_after(failures);
        try {
            htw::lease job = journal.lease("mail");
            job.done_later([text](std::error_code error) { CHECK(!error); });
            is_done = true;
        } catch (const std::bad_alloc &) {
        } catch (const std::system_error &error) {
            CHECK(error.code() == std::errc::not_enough_memory);
        }
        failing_new_after(-1);
        journal.sync();
        CHECK(journal.stats().jobs == (is_done ? 0 : 1));
    }
    CHECK(failures > 2);
}

TEST(journal_shows_jobs_and_queues_and_obeys_policy_and_pause) {
    fixture fixture;
    htw::journal &journal = fixture.journal;
    htw::queue_policy policy;
    policy.attempts_max = 1;
    policy.initial = 1min;
    policy.cap = 1h;
    journal.set_policy("mail", policy);
    journal.put(of_queue("one"));
    journal.put(of_queue("two"));
    CHECK(journal.lease("mail").release());
    htw_list_place place {};
    auto jobs = journal.list("mail", htw::job_state::buried, place, 5);
    CHECK(jobs.size() == 1 && jobs[0].payload == "one" && jobs[0].attempts == 1);
    CHECK(journal.list("mail", htw::job_state::buried, place, 5).empty());
    journal.pause("mail", journal.now() + 1min);
    CHECK(journal.queue("mail")->paused_until == journal.now() + 1min && !journal.lease("mail"));
    journal.resume("mail");
    fixture.scheduler.advance(0s);
    CHECK(journal.lease("mail").done());

    const auto all = journal.list_queues();
    CHECK(all.size() == 2 && !all[0].name && all[1].name == "mail");
    CHECK(all[1].policy.attempts_max == 1 && all[1].policy.initial == 1min && !all[1].paused_until);
    CHECK(!journal.queue("none"));
}

TEST(journal_that_cannot_be_opened_says_why) {
    fixture fixture;
    std::string why;
    try {
        const htw::journal second(fixture.folder.path());
    } catch (const std::system_error &error) {
        CHECK(error.code() == std::errc::device_or_resource_busy);
        why = error.what();
    }
    CHECK(why.find(fixture.folder.path()) != std::string::npos);
    std::error_code error;
    const htw::journal none(fixture.scheduler, "/nowhere/jobs", htw::journal_options(), error);
    CHECK(!none && error == std::errc::no_such_file_or_directory);
    htw::journal moved(std::move(fixture.journal));
    CHECK(!fixture.journal && moved.put(of_queue("mail")) > 0);
    fixture.journal = std::move(moved);
    fixture.journal.close();
    htw::journal without(fixture.folder.path());
    CHECK(without.stats().found == 1);
    CHECK_FAILS(static_cast<void>(without.lease("mail")), std::errc::invalid_argument);
}

TEST(transaction_of_a_program_puts_a_job_into_its_guest) {
    htw::journal_options options;
    options.is_guest = true;
    options.inbox = std::chrono::nanoseconds::max();
    fixture fixture(std::move(options));
    ::sqlite3 *program = nullptr;
    CHECK(sqlite3_open(fixture.folder.path().c_str(), &program) == SQLITE_OK);
    CHECK(sqlite3_busy_timeout(program, 60000) == SQLITE_OK);
    htw::job mail = of_queue("mail");
    mail.key = "k";
    const std::uint64_t id = htw::journal::put_in(program, mail);
    mail.if_absent = true;
    CHECK_FAILS(htw::journal::put_in(program, mail), std::errc::file_exists);
    fixture.journal.wake();
    fixture.journal.sync();
    CHECK(fixture.journal.lease("mail").id() == id);
    CHECK(sqlite3_close(program) == SQLITE_OK);
}
