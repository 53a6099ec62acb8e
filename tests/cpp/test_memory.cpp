/* SPDX-License-Identifier: MIT */
/* test_memory.cpp - what allocates, and what happens when there is no memory: operator new and the
   allocator of the library fail, one call after the other. */
#include "harness.hpp"

#include "../support/failing_new.h"

#include <new>

namespace {

std::atomic<long> outstanding { 0 }; // blocks of the library

/* Refused as those of operator new are, and counted with them. */
void *allocate(void *, std::size_t size, std::size_t alignment) {
    void *memory = ::operator new(size, std::align_val_t(alignment), std::nothrow);
    outstanding += memory != nullptr;
    return memory;
}

void release(void *, void *memory, std::size_t, std::size_t alignment) {
    outstanding--;
    ::operator delete(memory, std::align_val_t(alignment));
}

const htw_allocator allocator = { allocate, release, nullptr };

struct alignas(64) aligned {
    test::token token;
    void operator()() {
        CHECK(token.is_here());
    }
};

} // namespace

TEST(small_callables_take_no_memory) {
    struct object {
        int runs = 0;
        void timeout() {
            runs++;
        }
        htw::timer start(htw::scheduler &scheduler) {
            return scheduler.schedule(1ms, [this] { timeout(); });
        }
    };
    object object;
    int runs = 0;
    htw::scheduler_options options = test::manual();
    htw::scheduler scheduler(options);
    long before = failing_new_calls();
    std::uint64_t bytes = scheduler.stats().memory_bytes;
    htw::timer first = object.start(scheduler);
    htw::timer second = scheduler.schedule(1ms, [&runs] { runs++; });
    htw::timer third = scheduler.schedule(1ms, [] {});
    htw::timer fourth = scheduler.schedule(
        1ms, +[] {});
    CHECK(failing_new_calls() == before);
    CHECK(scheduler.stats().memory_bytes - bytes <= 1024 * 1024); // a slab, and no second records
    scheduler.advance(1ms);
    CHECK(object.runs == 1 && runs == 1 && failing_new_calls() == before);
    std::unique_ptr<int> large = nullptr;
    first = scheduler.schedule(1ms, [large = std::move(large)] {});
    CHECK(failing_new_calls() == before + 1);

    options.exception_handler = [](std::exception_ptr) {};
    htw::scheduler handled(options);
    before = failing_new_calls();
    htw::timer quiet = handled.schedule(1ms, [&runs]() noexcept { runs++; });
    CHECK(failing_new_calls() == before);
    htw::timer loud = handled.schedule(1ms, [&runs] { runs++; });
    CHECK(failing_new_calls() == before + 1);
    handled.advance(1ms);
    CHECK(runs == 3);
}

/* Each call of an allocator fails once. What was scheduled before is as it was. */
TEST(each_failure_is_reported_and_loses_nothing) {
    int failures = 0;
    bool complete = false;
    for (int limit = 0; !complete; limit++) {
        std::atomic<int> destroyed { 0 };
        int made = 0;
        {
            std::error_code error;
            htw::scheduler_options options = test::manual();
            options.allocator = &allocator;
            options.exception_handler = [](std::exception_ptr) {};
            failing_new_after(limit);
            htw::scheduler scheduler(options, error);
            CHECK(error ? error == std::errc::not_enough_memory && !scheduler : !!scheduler);
            htw::timer timers[4];
            htw::group group;
            bool ok = !error;
            if (ok) {
                group = htw::group(scheduler, error);
                ok = !error;
            }
            htw::timer_options keyed;
            keyed.key = "a key";
            keyed.group = &group;
            for (int i = 0; ok && i < 4; i++) {
                made++;
                auto large = [token = test::token(destroyed)] { CHECK(token.is_here()); };
                if (i == 0)
                    timers[i] = scheduler.schedule(1ms, std::move(large), error);
                else if (i == 1)
                    timers[i] = scheduler.schedule(1ms, keyed, std::move(large), error);
                else if (i == 2)
                    timers[i] = scheduler.schedule(24h * 365, std::move(large), error);
                else
                    timers[i] = scheduler.schedule(1ms, aligned { test::token(destroyed) }, error);
                if (i == 3)
                    made++; // `large` was not moved
                ok = !error;
                CHECK(ok == timers[i].is_pending());
                CHECK(ok || error == std::errc::not_enough_memory);
                CHECK(!ok || scheduler.pending() == static_cast<unsigned>(i + 1));
            }
            complete = ok;
            failures += !ok;
            failing_new_after(-1);
            if (scheduler)
                scheduler.advance(1ms);
        }
        CHECK(destroyed == made);
        CHECK(outstanding == 0);
    }
    CHECK(failures >= 10);
}

namespace {

struct waiting : htw::request {
    void on_complete(htw::reason) {
        ends++;
    }
    int ends = 0;
};

} // namespace

TEST(purgatory_without_memory_reports_it) {
    htw::scheduler scheduler(test::manual());
    int failures = 0;
    for (bool complete = false; !complete; failures += !complete) {
        htw::purgatory_options options;
        options.shards = 1;
        options.allocator = &allocator;
        options.exception_handler = [](std::exception_ptr) {};
        std::error_code error;
        waiting request;
        {
            failing_new_after(failures);
            htw::purgatory<waiting> purgatory(scheduler, options, error);
            if (!error)
                purgatory.try_complete_else_watch(request, "key", 1s, error);
            failing_new_after(-1);
            complete = !error;
            CHECK(complete || error == std::errc::not_enough_memory);
            CHECK(request.is_pending() == complete);
        }
        CHECK(request.ends == (complete ? 1 : 0) && outstanding == 0);
    }
    CHECK(failures >= 3);
}

TEST(requests_take_no_memory_of_operator_new) {
    htw::scheduler scheduler(test::manual());
    htw::purgatory<waiting> purgatory(scheduler);
    waiting request;
    long before = failing_new_calls();
    purgatory.try_complete_else_watch(request, { "one", "two" }, 1s);
    CHECK(failing_new_calls() == before && request.is_pending());
    auto shared = std::make_shared<waiting>();
    before = failing_new_calls();
    purgatory.try_complete_else_watch(shared, "one", 1s);
    CHECK(purgatory.cancel_key("one", [](waiting &) {}) == 2 && failing_new_calls() == before);
}

#if HTW_CPP_COROUTINES

namespace {

test::job sleeps(htw::scheduler &scheduler, int limit, std::error_code &error, bool &ended) {
    failing_new_after(limit);
    co_await scheduler.after(1ms, error);
    ended = true;
}

} // namespace

TEST(coroutine_without_memory_continues_with_an_error) {
    bool complete = false;
    int failures = 0;
    for (int limit = 0; !complete; limit++) {
        htw::scheduler_options options = test::manual();
        options.allocator = &allocator;
        {
            htw::scheduler scheduler(options);
            std::error_code error;
            bool ended = false;
            sleeps(scheduler, limit, error, ended);
            failing_new_after(-1);
            complete = !ended;
            failures += ended;
            CHECK(complete ? !error : error == std::errc::not_enough_memory);
            CHECK(scheduler.pending() == (complete ? 1 : 0));
            scheduler.advance(1ms);
            CHECK(ended);
        }
        CHECK(outstanding == 0);
    }
    CHECK(failures >= 3);
}

#endif
