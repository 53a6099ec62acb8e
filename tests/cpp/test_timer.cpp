/* SPDX-License-Identifier: MIT */
/* test_timer.cpp - timer objects: what the destructor waits for, moves, races with callbacks. */
#include "harness.hpp"

#include <optional>
#include <thread>
#include <type_traits>

static_assert(!std::is_copy_constructible_v<htw::timer> && !std::is_copy_assignable_v<htw::timer>);
static_assert(std::is_nothrow_move_constructible_v<htw::timer>);
static_assert(std::is_nothrow_move_assignable_v<htw::timer>);
static_assert(std::is_nothrow_move_constructible_v<htw::scheduler>);
static_assert(std::is_nothrow_move_constructible_v<htw::group>);

/* The callback uses what dies right after the timer: without the wait, AddressSanitizer sees it. */
TEST(destructor_reset_and_assignment_wait_for_the_callback) {
    htw::scheduler scheduler;
    for (int i = 0; i < 30; i++) {
        auto shared = std::make_unique<std::atomic<int>>(0);
        test::gate started;
        std::atomic<bool> ended { false };
        {
            htw::timer timer = scheduler.schedule(0s, [&, counter = shared.get()] {
                started.open();
                for (int step = 0; step < 100; step++) {
                    ++*counter;
                    std::this_thread::yield();
                }
                ended = true;
            });
            started.wait();
            if (i % 3 == 1)
                timer.reset();
            else if (i % 3 == 2)
                timer = htw::timer();
            CHECK(i % 3 == 0 || ended);
        }
        CHECK(ended && *shared == 100);
    }
}

TEST(destructor_in_the_own_callback_does_not_wait) {
    htw::scheduler scheduler;
    test::gate assigned, destroyed;
    std::optional<htw::timer> timer;
    std::atomic<int> runs { 0 };
    timer = scheduler.schedule_every(1ms, [&] {
        assigned.wait();
        runs++;
        timer.reset();
        destroyed.open();
    });
    assigned.open();
    destroyed.wait();
    scheduler.stop();
    CHECK(runs == 1);
}

TEST(cancel_wait_in_the_own_callback_fails) {
    htw::scheduler scheduler(test::manual());
    htw::timer timer;
    std::error_code error;
    timer = scheduler.schedule_every(1ms, [&] {
        CHECK(timer.cancel_wait(error) == htw::outcome::running);
        CHECK_FAILS(timer.cancel_wait(), std::errc::resource_deadlock_would_occur);
    });
    scheduler.advance(5ms);
    CHECK(error == std::errc::resource_deadlock_would_occur);
    CHECK(scheduler.stats().runs == 1);
}

TEST(moved_timer_belongs_to_the_new_object) {
    htw::scheduler scheduler(test::manual());
    int runs = 0;
    htw::timer first = scheduler.schedule(1ms, [&runs] { runs++; });
    htw_handle handle = first.handle();
    htw::timer second(std::move(first));
    CHECK(!first && second && second.handle() == handle);
    CHECK(first.cancel() == htw::outcome::gone && !first.is_pending() && !first.deadline());
    CHECK(first.reschedule(1s) == htw::outcome::gone && first.detach() == 0);
    CHECK(first.set_period(1s) == htw::outcome::gone);
    first.reset();
    CHECK(second.is_pending());
    htw::timer &alias = second;
    second = std::move(alias); // to itself: as for every object, it stays valid
    second = scheduler.schedule(1ms, [&runs] { runs += 10; });
    scheduler.advance(1ms);
    CHECK(runs == 10); // the first one was cancelled by the assignment
}

TEST(detached_timer_runs) {
    htw::scheduler scheduler(test::manual());
    int runs = 0;
    htw::timer timer = scheduler.schedule(1ms, [&runs] { runs++; });
    htw_handle handle = timer.detach();
    CHECK(!timer && htw_is_pending(scheduler.native(), handle));
    timer = htw::timer(scheduler.native(), handle); // and is owned again
    CHECK(timer.deadline() == 1ms);
    timer.detach();
    scheduler.advance(1ms);
    CHECK(runs == 1);
}

TEST(cancelled_timer_tells_what_was_left) {
    htw::scheduler scheduler(test::manual());
    std::chrono::nanoseconds left = 77ns;
    htw::timer timer = scheduler.schedule(10ms, [] {});
    scheduler.advance(3ms);
    CHECK(timer.cancel(left) == htw::outcome::cancelled && left == 7ms);
    left = 77ns;
    CHECK(timer.cancel(left) == htw::outcome::gone && left == 77ns);
    CHECK(htw::timer().cancel(left) == htw::outcome::gone && left == 77ns);
}

TEST(rescheduled_timer_moves) {
    htw::scheduler scheduler(test::manual());
    htw::timer timer = scheduler.schedule_every(10ms, [] {});
    CHECK(timer.reschedule(1ms) == htw::outcome::moved && timer.deadline() == 1ms);
    CHECK(timer.set_period(2ms) == htw::outcome::moved);
    scheduler.advance(1ms);
    CHECK(timer.deadline() == 3ms);
    CHECK(scheduler.reschedule_at(timer, htw::manual_clock::time_point(20ms)) ==
          htw::outcome::moved);
    CHECK(timer.deadline() == 20ms);
    CHECK_FAILS(timer.set_period(0s), std::errc::invalid_argument);
    scheduler.stop();
    std::error_code error;
    CHECK(timer.reschedule(1ms, error) == htw::outcome::gone);
}

/* If a cancel and an expiration race, one of them takes effect; and the callable dies once. */
TEST(cancel_races_with_the_callback) {
    htw::scheduler_options options;
    options.tick = 1us;
    htw::scheduler scheduler(options);
    std::atomic<int> destroyed { 0 }, runs { 0 };
    int cancelled = 0, count = 0;
    auto end = std::chrono::steady_clock::now() + 300ms;
    while (std::chrono::steady_clock::now() < end) {
        count++;
        std::atomic<bool> alive { true }; // dies with the timer
        htw::timer timer = scheduler.schedule(std::chrono::microseconds(count % 60),
                                              [&runs, &alive, token = test::token(destroyed)] {
                                                  CHECK(alive && token.is_here());
                                                  runs++;
                                              });
        std::this_thread::sleep_for(std::chrono::microseconds(count % 7 * 10));
        if (count % 3 == 0)
            cancelled += timer.cancel_wait() == htw::outcome::cancelled;
        else
            timer.reset();
        alive = false;
    }
    CHECK(runs + static_cast<int>(scheduler.stats().cancelled) == count);
    CHECK(destroyed == count && runs > 0 && cancelled <= count - runs);
}

TEST(scheduler_destroyed_in_its_callback_ends_the_program) {
    CHECK(test::signal_of([] {
              auto scheduler = std::make_unique<htw::scheduler>(test::manual());
              scheduler->schedule(1ms, [&scheduler] { scheduler.reset(); }).detach();
              scheduler->advance(1ms);
          }) == SIGABRT);
}

TEST(exception_handler_that_throws_ends_the_program) {
    CHECK(test::signal_of([] {
              htw::scheduler_options options = test::manual();
              options.exception_handler = [](std::exception_ptr) { throw 2; };
              htw::scheduler scheduler(options);
              scheduler.schedule(1ms, [] { throw 1; }).detach();
              scheduler.advance(1ms);
          }) == SIGABRT);
}

/* The objects of the parent do nothing in the child, and can be destroyed there. */
TEST(objects_can_be_destroyed_after_a_fork) {
    std::atomic<int> destroyed { 0 };
    htw::scheduler_options options;
    options.exception_handler = [](std::exception_ptr) {};
    auto scheduler = std::make_unique<htw::scheduler>(options);
    auto group = std::make_unique<htw::group>(*scheduler);
    htw::timer timer = scheduler->schedule(1h, [token = test::token(destroyed)] {});
    CHECK(test::status_in_child([&] {
              CHECK(timer.cancel() == htw::outcome::gone);
              timer.reset();
              CHECK_FAILS(scheduler->schedule(1s, [] {}), std::errc::owner_dead);
              group.reset();
              scheduler.reset();
              CHECK(destroyed == 0);
          }) == 0);
}
