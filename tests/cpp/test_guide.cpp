/* SPDX-License-Identifier: MIT */
/* test_guide.cpp - the code of docs/cpp.md, which tests/api/docs.py looks for here. C++20. */
#include "harness.hpp"

#include <memory>
#include <poll.h>
#include <string>

namespace {

struct connection {
    void start(htw::scheduler &scheduler);
    void on_data();
    void close() {
        closed = true;
    }
    bool closed = false;
    htw::timer idle; // the last member: it is destroyed, and has waited, before the others go
};

void connection::start(htw::scheduler &scheduler) {
    idle = scheduler.schedule(30s, [this] { close(); });
}

void connection::on_data() {
    idle.reschedule(30s);
}

struct job {
    explicit job(bool &flag) : done(flag) {
    }
    void run() {
        done = true;
    }
    bool &done;
};

} // namespace

TEST(timers_of_the_guide) {
    htw::scheduler scheduler(test::manual());
    connection connection;
    connection.start(scheduler);
    scheduler.advance(29s);
    connection.on_data();
    scheduler.advance(29s);
    CHECK(!connection.closed);
    scheduler.advance(1s);
    CHECK(connection.closed);

    bool done = false;
    auto work = std::make_unique<job>(done);
    scheduler.schedule(1s, [work = std::move(work)] { work->run(); }).detach();
    scheduler.advance(1s);
    CHECK(done);

    int beats = 0;
    htw::timer heartbeat = scheduler.schedule_every(5s, [&](const htw::expiration &expiration) {
        if (++beats == 3)
            expiration.cancel(); // this run is the last one
    });
    scheduler.advance(1min);
    CHECK(beats == 3);
}

TEST(options_of_the_guide) {
    int user = 7;
    bool sent = false;
    auto send_digest = [&] { sent = true; };
    htw::scheduler scheduler({
        .tick = 100us,
        .workers = 0,
        .clock = htw::clock::manual,
        .exception_handler = [](std::exception_ptr) { std::puts("a callback has thrown"); },
    });

    htw::group group(scheduler);
    std::error_code error;
    htw::timer digest = scheduler.schedule(
        1h, { .slack = 1min, .key = htw::key_bytes(user), .keep_existing = true, .group = &group },
        send_digest, error);
    if (error == std::errc::file_exists)
        std::puts("the digest of this user is scheduled already");

    CHECK(!error);
    scheduler.advance(2h);
    CHECK(sent);
}

TEST(time_points_of_the_guide) {
    htw::scheduler scheduler;
    auto callback = [] {};
    htw::timer soon = scheduler.schedule_at(std::chrono::steady_clock::now() + 1h, callback);
    htw::timer date = scheduler.schedule_at(std::chrono::system_clock::now() + 24h, callback);
    htw::timer_options wall { .clock = htw::clock::realtime };
    htw::timer later = scheduler.schedule(1h, wall, callback); // follows when the clock is set
    std::error_code error;
    htw::timer wrong = scheduler.schedule_at(htw::manual_clock::time_point(1h), callback, error);
    CHECK(error == std::errc::invalid_argument);
    CHECK(soon && date && later && !wrong);
}

namespace {

struct task {
    struct promise_type {
        task get_return_object() noexcept {
            return {};
        }
        std::suspend_never initial_suspend() noexcept {
            return {};
        }
        std::suspend_never final_suspend() noexcept {
            return {};
        }
        void return_void() noexcept {
        }
        void unhandled_exception() noexcept {
            std::terminate();
        }
    };
};

bool try_once(int &attempts) {
    return ++attempts == 3;
}

task retry(htw::scheduler &scheduler, int &attempts) {
    htw::backoff backoff;
    std::error_code error;
    while (!try_once(attempts)) {
        co_await scheduler.after(backoff.next(), error);
        if (error)
            co_return; // the scheduler was stopped
    }
}

} // namespace

TEST(coroutine_of_the_guide) {
    int attempts = 0;
    htw::scheduler scheduler(test::manual());
    retry(scheduler, attempts);
    scheduler.advance(1s);
    CHECK(attempts == 3);
}

namespace {

struct log {
    std::size_t end = 0;
};

struct client {
    void answer(const char *text) {
        answers += text;
    }
    std::string answers;
};

class fetch : public htw::request {
  public:
    fetch(const log &log, std::size_t offset, client &client)
        : log_(log), offset_(offset), client_(client) {
    }

    bool try_complete() { // called for each event; true is final
        return log_.end > offset_;
    }

    void on_complete(htw::reason reason) {
        client_.answer(reason == htw::reason::completed ? "records" : "nothing new");
    }

  private:
    const log &log_;
    std::size_t offset_;
    client &client_;
};

class produce : public htw::request {
  public:
    void on_complete(htw::reason reason) {
        safe = reason == htw::reason::completed;
    }
    bool safe = false;
};

} // namespace

TEST(purgatory_of_the_guide) {
    htw::scheduler scheduler(test::manual());
    log log;
    client client;
    htw::purgatory<fetch> purgatory(scheduler);
    purgatory.try_complete_else_watch(std::make_unique<fetch>(log, 0, client), "orders-3", 500ms);
    log.end++; // first make the change visible, then report it
    purgatory.check("orders-3");
    CHECK(client.answers == "records");
    purgatory.try_complete_else_watch(std::make_unique<fetch>(log, 1, client), "orders-3", 500ms);
    scheduler.advance(1s);
    CHECK(client.answers == "recordsnothing new");

    htw::purgatory<produce> produces(scheduler);
    htw::threshold high_watermark(produces, 0);
    produce record;
    high_watermark.await(record, 1, 30s);
    high_watermark.advance(1); // completes the requests for 1 or less
    CHECK(record.safe);
}

namespace {

void run_loop(htw::scheduler &scheduler, const bool &ended) {
    struct pollfd wait = { scheduler.fd(), POLLIN, 0 };
    while (!ended) {
        poll(&wait, 1, -1);
        scheduler.process(100);
    }
}

struct session {
    int id;
    htw_timer timer {};
};

} // namespace

TEST(loop_and_wheel_of_the_guide) {
    htw::scheduler scheduler({ .shards = 1, .embedded = true });
    bool ended = false;
    htw::timer timer = scheduler.schedule(1ms, [&] { ended = true; });
    run_loop(scheduler, ended);

    htw::wheel<session, &session::timer> wheel;
    session first { 1 };
    wheel.schedule(first, wheel.now() + 30);
    while (session *due = wheel.poll(wheel.now() + 30))
        std::printf("session %d is over\n", due->id);
    CHECK(wheel.count() == 0);
}
