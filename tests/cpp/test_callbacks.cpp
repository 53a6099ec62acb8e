/* SPDX-License-Identifier: MIT */
/* test_callbacks.cpp - what a callable has captured is destroyed exactly once, however its timer
   ends; and what callables may be. */
#include "harness.hpp"

using test::token;

namespace {

/* Each way has a timer with a token, and says after what the token must be destroyed. */
struct fixture {
    std::atomic<int> destroyed { 0 };
    std::atomic<int> runs { 0 };

    /* A callable that can only be moved, and that complains if it runs without its token. */
    auto callable() {
        return [this, token = token(destroyed)] {
            CHECK(token.is_here());
            CHECK(destroyed == 0);
            runs++;
        };
    }
};

} // namespace

TEST(callable_is_destroyed_once_however_its_timer_ends) {
    using ending = void (*)(htw::scheduler &, htw::group &, htw::timer &);
    const ending endings[] = {
        [](htw::scheduler &, htw::group &, htw::timer &timer) { timer.reset(); },
        [](htw::scheduler &, htw::group &, htw::timer &timer) {
            CHECK(timer.cancel() == htw::outcome::cancelled);
            CHECK(timer.cancel_wait() == htw::outcome::gone);
        },
        [](htw::scheduler &scheduler, htw::group &group, htw::timer &timer) {
            CHECK(scheduler.find_key("key", &group) == timer.handle());
            CHECK(scheduler.cancel_key("key", &group) == htw::outcome::cancelled);
        },
        [](htw::scheduler &scheduler, htw::group &group, htw::timer &) {
            htw::timer_options options;
            options.key = "key";
            options.group = &group;
            htw::timer replacing = scheduler.schedule(1ms, options, [] {});
            CHECK(group.count() == 1);
        },
        [](htw::scheduler &, htw::group &group, htw::timer &) {
            CHECK(group.cancel() == 1 && group.cancel() == 0);
        },
        [](htw::scheduler &, htw::group &group, htw::timer &timer) {
            timer.detach();
            group = htw::group();
        },
        [](htw::scheduler &scheduler, htw::group &, htw::timer &) {
            CHECK(scheduler.stop() == 1 && scheduler.stop() == 0);
        },
        [](htw::scheduler &scheduler, htw::group &group, htw::timer &timer) {
            timer.detach();
            group.detach();
            scheduler = htw::scheduler(test::manual());
        },
    };
    for (const ending end : endings) {
        fixture f;
        htw::scheduler scheduler(test::manual());
        htw::group group(scheduler);
        htw::timer_options options;
        options.group = &group;
        options.key = "key";
        options.period = 1ms;
        htw::timer timer = scheduler.schedule(1ms, options, f.callable());
        scheduler.advance(2ms);
        CHECK(f.runs == 2 && f.destroyed == 0);
        end(scheduler, group, timer);
        CHECK(f.destroyed == 1);
        const int late = htw_scheduler_advance(scheduler.native(), HTW_SECOND);
        CHECK(late == 0 || late == -ESHUTDOWN);
        CHECK(f.runs == 2 && f.destroyed == 1);
    }
}

TEST(callable_is_destroyed_once_when_scheduling_fails) {
    fixture kept, refused, late, full;
    htw::scheduler_options limited = test::manual();
    limited.max_pending = 1;
    htw::scheduler scheduler(limited);
    htw::timer_options options;
    options.key = ""; // a key of no bytes, which is not none
    options.keep_existing = true;
    htw::timer timer = scheduler.schedule(1ms, options, kept.callable());
    CHECK_FAILS(scheduler.schedule(1ms, options, refused.callable()), std::errc::file_exists);
    CHECK(refused.destroyed == 1 && kept.destroyed == 0);
    CHECK_FAILS(scheduler.schedule(1ms, full.callable()),
                std::errc::resource_unavailable_try_again);
    CHECK(full.destroyed == 1);
    scheduler.stop();
    std::error_code error;
    htw::timer none = scheduler.schedule(1ms, late.callable(), error);
    CHECK(error.value() == ESHUTDOWN && error.category() == htw::error_category());
    CHECK(!none && late.destroyed == 1);
}

TEST(task_that_was_not_run_is_run_by_its_destructor) {
    fixture forgotten, run, cancelled;
    std::vector<htw::task> tasks;
    htw::scheduler_options options;
    options.embedded = true;
    options.shards = 1;
    options.executor = [&tasks](htw::task task) { tasks.push_back(std::move(task)); };
    htw::scheduler scheduler(options);
    scheduler.schedule(0s, forgotten.callable()).detach();
    scheduler.schedule(0s, run.callable()).detach();
    htw::timer timer = scheduler.schedule(0s, cancelled.callable());
    CHECK(scheduler.process().count == 3 && tasks.size() == 3);
    timer.reset();
    CHECK(cancelled.destroyed == 1);
    tasks[0].run();
    tasks[0].run(); // it has nothing more to do
    tasks.clear();
    CHECK(forgotten.destroyed == 1 && forgotten.runs == 1);
    CHECK(run.destroyed == 1 && run.runs == 1);
    CHECK(cancelled.destroyed == 1 && cancelled.runs == 0);
}

TEST(callable_that_cancels_or_reschedules_itself_is_destroyed_once) {
    std::atomic<int> destroyed { 0 };
    int runs = 0;
    htw::scheduler scheduler(test::manual());
    htw::timer timer = scheduler.schedule_every(
        1ms, [&runs, token = token(destroyed)](const htw::expiration &expiration) {
            if (++runs == 3)
                expiration.cancel();
        });
    scheduler.advance(10ms);
    CHECK(runs == 3 && destroyed == 1);

    runs = 0;
    destroyed = 0;
    timer = scheduler.schedule(
        1ms, [&runs, token = token(destroyed)](const htw::expiration &expiration) {
            if (++runs < 3)
                CHECK(expiration.reschedule(5ms) == htw::outcome::moved);
        });
    scheduler.advance(10ms);
    CHECK(runs == 2 && destroyed == 0);
    scheduler.advance(1ms);
    CHECK(runs == 3 && destroyed == 1);
}

TEST(callable_that_throws_is_destroyed_once) {
    std::atomic<int> destroyed { 0 };
    std::string message;
    htw::scheduler_options options = test::manual();
    options.exception_handler = [&message](std::exception_ptr exception) {
        try {
            std::rethrow_exception(exception);
        } catch (const std::exception &error) {
            message = error.what();
        }
    };
    htw::scheduler handled(options);
    int marker = 0;
    htw::timer timer = handled.schedule(
        1ms, [token = token(destroyed)] { throw std::runtime_error("large callable"); });
    handled.advance(1ms);
    CHECK(destroyed == 1 && message == "large callable");
    timer = handled.schedule(1ms, [&marker] {
        marker++;
        throw std::runtime_error("small callable");
    });
    handled.advance(1ms);
    CHECK(marker == 1 && message == "small callable");

    destroyed = 0;
    timer = handled.schedule_every(1ms, [token = token(destroyed), &marker] {
        marker++;
        throw std::runtime_error("again");
    });
    handled.advance(3ms);
    CHECK(marker == 4 && destroyed == 0); // an exception does not end a repeating timer
    timer.reset();
    CHECK(destroyed == 1);
}

TEST(exception_without_a_handler_ends_the_program) {
    CHECK(test::signal_of([] {
              htw::scheduler scheduler(test::manual());
              int number = 0;
              scheduler.schedule(1ms, [&number, text = std::string("owned")] { throw number; })
                  .detach();
              try {
                  scheduler.advance(1ms);
              } catch (int) { // it does not come here
              }
          }) == SIGABRT);
}

/* The timer is captured by its own callback: whichever ends first, the other does not hang. */
TEST(callable_that_owns_its_timer_ends) {
    std::atomic<int> destroyed { 0 };
    for (bool runs : { true, false }) {
        destroyed = 0;
        htw::scheduler scheduler(test::manual());
        auto own = std::make_shared<htw::timer>();
        *own = scheduler.schedule(1ms, [own, token = token(destroyed)] {});
        CHECK(own.use_count() == 2);
        own.reset();
        if (runs)
            scheduler.advance(1ms);
        else
            scheduler.stop();
        CHECK(destroyed == 1);
    }
}

/* ---- what callables may be */

static int plain_runs = 0;

static void plain_function() {
    plain_runs++;
}

static int function_with_result(const htw::expiration &expiration) {
    CHECK(expiration.late() == 0ns && expiration.handle() != 0 && expiration.missed() == 0);
    return ++plain_runs;
}

namespace {

struct counter { // not callable when const: it has a state of its own, which is kept
    int runs = 0;
    int *seen;
    void operator()() {
        *seen = ++runs;
    }
};

struct alignas(64) aligned {
    int *runs;
    void operator()() const {
        if (reinterpret_cast<std::uintptr_t>(this) % 64 == 0)
            ++*runs;
    }
};

struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied &) {
        throw std::runtime_error("copied");
    }
    void operator()() const {
    }
};

} // namespace

TEST(callables_of_all_kinds_run) {
    htw::scheduler scheduler(test::manual());
    scheduler.schedule(1ms, plain_function).detach();
    scheduler.schedule(1ms, &plain_function).detach();
    scheduler.schedule(1ms, function_with_result).detach();
    scheduler.schedule(1ms, std::function<void()>(plain_function)).detach();
    scheduler.schedule(1ms, [](auto &&...args) { plain_runs += static_cast<int>(sizeof...(args)); })
        .detach(); // takes an expiration, as it can
    const auto constant = [] { plain_runs++; };
    scheduler.schedule(1ms, constant).detach();
    scheduler.advance(1ms);
    CHECK(plain_runs == 6);

    int seen = 0, aligned_runs = 0;
    auto in_place = [n = 0, &seen]() mutable { seen = ++n; };
    htw::timer timer = scheduler.schedule_every(1ms, in_place);
    htw::timer second = scheduler.schedule_every(1ms, aligned { &aligned_runs });
    scheduler.advance(3ms);
    CHECK(seen == 3 && aligned_runs == 3);
    timer = scheduler.schedule_every(1ms, counter { 0, &seen });
    scheduler.advance(2ms);
    CHECK(seen == 2);
}

TEST(callables_that_are_null_are_refused) {
    htw::scheduler scheduler(test::manual());
    void (*function)() = nullptr;
    void (*quiet_function)() noexcept = nullptr;
    CHECK_FAILS(scheduler.schedule(1ms, function), std::errc::invalid_argument);
    CHECK_FAILS(scheduler.schedule(1ms, quiet_function), std::errc::invalid_argument);
    CHECK_FAILS(scheduler.schedule(1ms, std::function<void()>()), std::errc::invalid_argument);
    std::error_code error;
    htw::timer timer = scheduler.schedule(1ms, std::function<void()>(), error);
    CHECK(error == std::errc::invalid_argument && !timer);
    CHECK(scheduler.pending() == 0);
}

TEST(callable_that_throws_when_it_is_copied_schedules_nothing) {
    htw::scheduler scheduler(test::manual());
    const throws_when_copied callable;
    bool thrown = false;
    try {
        scheduler.schedule(1ms, callable).detach();
    } catch (const std::runtime_error &) {
        thrown = true;
    }
    CHECK(thrown && scheduler.pending() == 0);
}
