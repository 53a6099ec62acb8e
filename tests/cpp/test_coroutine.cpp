/* SPDX-License-Identifier: MIT */
/* test_coroutine.cpp - co_await of a scheduler: every way in which the wait can end. C++20. */
#include "harness.hpp"

#include <thread>

static_assert(HTW_CPP_COROUTINES == 1);
static_assert(!std::is_move_constructible_v<htw::sleep>);

using test::job;

namespace {

/* What became of a coroutine. */
struct trace {
    std::atomic<int> steps { 0 };
    std::atomic<int> errors { 0 }; // the value of the last std::system_error
    std::atomic<int> destroyed { 0 };
};

job sleeps(htw::scheduler &scheduler, trace &trace, int count = 1) {
    test::token token(trace.destroyed);
    try {
        for (int i = 0; i < count; i++) {
            co_await scheduler.after(1ms);
            trace.steps++;
        }
    } catch (const std::system_error &error) {
        trace.errors = error.code().value();
        if (error.code().category() != htw::error_category())
            trace.errors = -1;
    }
}

} // namespace

TEST(coroutine_continues_when_its_delay_is_over) {
    trace trace;
    htw::scheduler scheduler(test::manual());
    sleeps(scheduler, trace, 3);
    CHECK(trace.steps == 0);
    for (int i = 0; i <= 3; i++) {
        CHECK(trace.steps == i && trace.destroyed == (i == 3 ? 1 : 0));
        scheduler.advance(1ms);
    }
    CHECK(trace.steps == 3 && trace.errors == 0 && scheduler.pending() == 0);
}

static job sleeps_until(htw::scheduler &scheduler, trace &trace) {
    std::error_code error = std::make_error_code(std::errc::invalid_argument);
    co_await scheduler.at(htw::manual_clock::time_point(5ms), error);
    CHECK(!error && scheduler.now() == 5ms);
    trace.steps++;
    co_await scheduler.at(htw::manual_clock::time_point(2ms)); // over: now
    CHECK(scheduler.now() == 5ms);
    trace.steps++;
    co_await scheduler.at(std::chrono::steady_clock::time_point(8ms)); // of another clock
    CHECK(scheduler.now() == 8ms);
    trace.steps++;
    htw::scheduler monotonic;
    co_await monotonic.at(htw::manual_clock::time_point(5ms), error);
    CHECK(error == std::errc::invalid_argument);
    bool thrown = false;
    try {
        co_await monotonic.at(htw::manual_clock::time_point(5ms));
    } catch (const std::system_error &) {
        thrown = true;
    }
    CHECK(thrown);
    trace.steps++;
}

TEST(coroutine_continues_at_a_time_point) {
    trace trace;
    htw::scheduler scheduler(test::manual());
    sleeps_until(scheduler, trace);
    scheduler.advance(4ms);
    CHECK(trace.steps == 0);
    scheduler.advance(1ms);
    CHECK(trace.steps == 2);
    scheduler.advance(3ms);
    CHECK(trace.steps == 4);
}

TEST(suspended_coroutine_can_be_destroyed) {
    trace trace;
    htw::scheduler scheduler(test::manual());
    job job = sleeps(scheduler, trace);
    CHECK(scheduler.pending() == 1);
    job.handle.destroy();
    CHECK(scheduler.pending() == 0 && trace.destroyed == 1);
    scheduler.advance(1s);
    CHECK(trace.steps == 0 && trace.errors == 0);
}

TEST(coroutine_can_be_destroyed_in_a_callback_when_it_is_due_too) {
    for (int round = 0; round < 2; round++) { // whichever comes first
        trace trace;
        job job {};
        htw::scheduler scheduler(test::manual());
        htw::timer timer;
        auto kill = [&] {
            if (trace.destroyed == 0)
                job.handle.destroy();
        };
        if (round == 0)
            timer = scheduler.schedule(1ms, kill);
        job = sleeps(scheduler, trace);
        if (round == 1)
            timer = scheduler.schedule(1ms, kill);
        scheduler.advance(1ms);
        CHECK(trace.destroyed == 1);
    }
}

TEST(stop_continues_suspended_coroutines_with_an_error) {
    trace trace, late;
    htw::scheduler scheduler(test::manual());
    sleeps(scheduler, trace);
    CHECK(scheduler.stop() == 1);
    CHECK(trace.steps == 0 && trace.errors == ECANCELED && trace.destroyed == 1);
    sleeps(scheduler, late);
    CHECK(late.steps == 0 && late.errors == ESHUTDOWN && late.destroyed == 1);
}

static job insists(htw::scheduler &scheduler, trace &trace) {
    std::error_code error;
    co_await scheduler.after(1h, error);
    trace.errors = error.value();
    co_await scheduler.after(1h, error); // does not suspend
    trace.steps = error.value();
}

TEST(coroutine_learns_of_a_stop_in_a_code) {
    trace trace;
    htw::scheduler scheduler(test::manual());
    insists(scheduler, trace);
    scheduler.stop();
    CHECK(trace.errors == ECANCELED && trace.steps == ESHUTDOWN);
}

static job throws(htw::scheduler &scheduler, trace &trace) {
    test::token token(trace.destroyed);
    co_await scheduler.after(1ms); // throws when the scheduler is stopped
    trace.steps++;
    throw std::string("thrown");
}

TEST(exception_that_leaves_a_coroutine_goes_to_the_handler) {
    int exceptions = 0;
    trace first, second;
    htw::scheduler_options options = test::manual();
    options.exception_handler = [&exceptions](std::exception_ptr) { exceptions++; };
    htw::scheduler scheduler(options);
    job expired = throws(scheduler, first);
    scheduler.advance(1ms);
    CHECK(first.steps == 1 && first.destroyed == 1 && exceptions == 1);
    job stopped = throws(scheduler, second);
    scheduler.stop();
    CHECK(second.steps == 0 && second.destroyed == 1 && exceptions == 2);
    CHECK(expired.handle.done() && stopped.handle.done()); // at their ends, but not destroyed
    expired.handle.destroy();
    stopped.handle.destroy();
}

TEST(exception_that_leaves_a_coroutine_ends_the_program_without_a_handler) {
    CHECK(test::signal_of([] {
              trace trace;
              htw::scheduler scheduler(test::manual());
              [[maybe_unused]] job job = throws(scheduler, trace);
              try {
                  scheduler.advance(1ms);
              } catch (const std::string &) { // it does not come here
              }
          }) == SIGABRT);
}

/* The handle is not used again once the timer has fired, even if that is before await_suspend() has
   returned: a delay of 0, and many threads. */
TEST(coroutines_move_between_threads) {
    constexpr int count = 2000;
    std::vector<trace> traces(4);
    {
        htw::scheduler_options options;
        options.workers = 4;
        options.tick = 1us;
        htw::scheduler scheduler(options);
        auto hop = [](htw::scheduler &own, trace &trace) -> test::job {
            test::token token(trace.destroyed);
            for (int i = 0; i < count; i++) {
                co_await own.after(std::chrono::microseconds(i % 3));
                trace.steps++;
            }
        };
        for (trace &trace : traces)
            hop(scheduler, trace);
        for (trace &trace : traces)
            while (trace.destroyed == 0)
                std::this_thread::sleep_for(1ms);
    }
    for (trace &trace : traces)
        CHECK(trace.steps == count && trace.destroyed == 1);
}

TEST(coroutine_destroyed_while_it_runs_ends_the_program) {
    struct slow : htw::sleep { // resumed, but not yet past await_resume()
        using htw::sleep::sleep;
        test::gate *gate = nullptr;
        void await_resume() {
            gate->open();
            std::this_thread::sleep_for(5s);
            htw::sleep::await_resume();
        }
    };
    CHECK(test::signal_of([] {
              htw::scheduler scheduler;
              test::gate running;
              auto body = [](htw::scheduler &own, test::gate &gate) -> test::job {
                  slow slow(own.native(), nullptr, 0, false, HTW_CLOCK_DEFAULT, nullptr);
                  slow.gate = &gate;
                  co_await slow;
              };
              std::coroutine_handle<> handle = body(scheduler, running).handle;
              running.wait();
              handle.destroy();
          }) == SIGABRT);
}
