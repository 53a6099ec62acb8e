/* SPDX-License-Identifier: MIT */
/* test_scope.cpp - scopes as objects, and co_await in one. C++20. */
#include "harness.hpp"

#include <stdexcept>

static_assert(!std::is_move_constructible_v<htw::scope>);

using test::job;

TEST(scope_ends_with_its_parent_and_calls_once) {
    htw::scheduler scheduler(test::manual());
    std::vector<htw::scope_end> seen;
    auto note = [&](htw::scope_end why) { seen.push_back(why); };
    htw::scope rpc(scheduler, 20ms, note);
    htw::scope query(rpc, 1h, note);
    htw::scope free(rpc, htw::never);
    CHECK(rpc && query && query.left() == 20ms && scheduler.pending() == 1);
    CHECK(query.shorten(10ms) && query.left() == 10ms && rpc.left() == 20ms);
    scheduler.advance(10ms);
    CHECK(!query && query.why() == htw::scope_end::deadline && !query.shorten(1ms));
    CHECK(rpc.cancel() && !rpc.cancel());
    CHECK(free.why() == htw::scope_end::parent && free.cause() == htw::scope_end::cancelled);
    CHECK(seen.size() == 2 && seen[1] == htw::scope_end::cancelled);
    htw::scope late(rpc, 1h, note);
    CHECK(!late && late.why() == htw::scope_end::parent && late.left() == 0ms && seen.size() == 2);
    CHECK(htw_scope_why(late.native()) == HTW_SCOPE_PARENT);
}

TEST(scope_may_be_destroyed_by_its_callback_whose_exceptions_are_handled) {
    int exceptions = 0;
    htw::scheduler_options options = test::manual();
    options.exception_handler = [&](std::exception_ptr) { exceptions++; };
    htw::scheduler scheduler(std::move(options));
    std::unique_ptr<htw::scope> rpc;
    auto end = [&](htw::scope_end) {
        rpc.reset();
        throw std::runtime_error("after its scope");
    };
    rpc = std::make_unique<htw::scope>(scheduler, 1ms, end);
    scheduler.advance(1ms);
    CHECK(rpc == nullptr && exceptions == 1);
}

/* Even before the constructor has returned, which ThreadSanitizer would see. */
TEST(scope_can_be_used_by_its_callback) {
    htw::scheduler scheduler;
    test::gate ended;
    htw::scope scope(scheduler, 1ms, [&](htw::scope_end why) {
        CHECK(!scope && scope.why() == why && why == htw::scope_end::deadline);
        ended.open();
    });
    ended.wait();
}

static job sleep_in(htw::scope &scope, std::vector<bool> &seen) {
    seen.push_back(co_await htw::scope_sleep(scope, 0ms));
    seen.push_back(co_await htw::scope_sleep(scope, 10ms));
    seen.push_back(co_await htw::scope_sleep(scope, 10ms));
    seen.push_back(co_await htw::scope_sleep(scope, 10ms));
}

TEST(coroutine_sleeps_in_a_scope_until_that_ends) {
    htw::scheduler scheduler(test::manual());
    std::vector<bool> seen;
    htw::scope rpc(scheduler, 15ms);
    sleep_in(rpc, seen);
    CHECK(seen == std::vector<bool> { true } && scheduler.pending() == 2);
    scheduler.advance(10ms);
    CHECK(seen.size() == 2 && seen[1] && scheduler.pending() == 1);
    scheduler.advance(5ms);
    CHECK(seen.size() == 4 && !seen[2] && !seen[3] && scheduler.pending() == 0);
}

TEST(coroutine_that_sleeps_in_a_scope_can_be_destroyed) {
    htw::scheduler scheduler(test::manual());
    std::vector<bool> seen;
    htw::scope rpc(scheduler, 50ms);
    job job = sleep_in(rpc, seen);
    job.handle.destroy();
    CHECK(scheduler.pending() == 1 && rpc.cancel() && seen.size() == 1);
}
