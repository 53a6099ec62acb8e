/* SPDX-License-Identifier: MIT */
/* test_scheduler.cpp - the scheduler and its groups: options, errors, clocks, embedded mode. */
#include "harness.hpp"

#include <functional>
#include <poll.h>
#include <vector>

TEST(empty_scheduler_reports_errors) {
    htw::scheduler scheduler(test::manual());
    htw::scheduler other(std::move(scheduler));
    CHECK(!scheduler && other && scheduler.native() == nullptr);
    std::error_code error;
    htw::timer timer = scheduler.schedule(
        1s, [] {}, error);
    CHECK(error == std::errc::invalid_argument && !timer);
    CHECK_FAILS(scheduler.schedule(1s, [] {}), std::errc::invalid_argument);
    CHECK_FAILS(scheduler.stop(), std::errc::invalid_argument);
    CHECK_FAILS(scheduler.advance(1s), std::errc::invalid_argument);
    CHECK_FAILS(htw::group(scheduler), std::errc::invalid_argument);
    CHECK_FAILS(scheduler.stats(), std::errc::invalid_argument);
    CHECK(scheduler.pending() == 0 && scheduler.next() == htw::never && scheduler.now() == 0ns);
    CHECK(scheduler.find_key("key") == 0);
    CHECK(scheduler.cancel_key("key") == htw::outcome::gone);
}

TEST(moved_scheduler_keeps_its_timers_and_hooks) {
    int runs = 0, exceptions = 0;
    htw::scheduler_options options = test::manual();
    options.exception_handler = [&exceptions](std::exception_ptr) { exceptions++; };
    htw::scheduler first(options);
    htw::timer timer = first.schedule(1ms, [&runs] {
        runs++;
        throw 1;
    });
    htw::scheduler second(std::move(first));
    second.advance(1ms);
    CHECK(runs == 1 && exceptions == 1);
    timer.reset();
    second = htw::scheduler(test::manual()); // the old one is destroyed
    CHECK_FAILS(second.schedule_every(0s, [] {}), std::errc::invalid_argument);
    second.advance(1ms);
    CHECK(runs == 1 && second.now() == 1ms);
}

TEST(options_reach_the_library) {
    htw::scheduler_options options = test::manual();
    options.manual_start = 5s;
    options.tick = 10ms;
    options.max_pending = 1;
    options.observe = HTW_OBSERVE_SITES;
    htw::scheduler scheduler(options);
    CHECK(scheduler.now() == 5s);
    CHECK(htw_scheduler_observed(scheduler.native()) == HTW_OBSERVE_SITES);
    htw::timer_options late;
    late.slack = -1ns;
    CHECK_FAILS(scheduler.schedule(1s, late, [] {}), std::errc::invalid_argument);
    late.slack = htw::never;
    htw::timer timer = scheduler.schedule(-1s, late, [] {});
    CHECK(timer.is_pending());
    CHECK_FAILS(scheduler.schedule(1ms, [] {}), std::errc::resource_unavailable_try_again);
    CHECK(scheduler.pending() == 1 && scheduler.stats().refused == 1);

    std::error_code error;
    options.tick = -1ns;
    htw::scheduler none(options, error);
    CHECK(error == std::errc::invalid_argument && !none);
    CHECK(error.message() == htw_strerror(-EINVAL) &&
          std::string(error.category().name()) == "htw");
    try {
        htw::scheduler refused(options);
        CHECK(false);
    } catch (const std::system_error &thrown) { /* names the member */
        CHECK(std::string(thrown.what()).rfind("tick_ns: ", 0) == 0);
    }
    htw::scheduler good(test::manual(), error);
    CHECK(!error && good);
}

TEST(time_points_are_of_the_clock_of_their_timer) {
    auto check = [](htw::clock point_clock, auto deadline, bool accepted) {
        htw::scheduler scheduler;
        std::error_code error;
        htw::timer timer = scheduler.schedule_at(
            deadline, [] {}, error);
        CHECK(accepted ? !error : error == std::errc::invalid_argument);
        CHECK(accepted == static_cast<bool>(timer));
        const bool same = point_clock == htw::clock::monotonic;
        htw::timer delay = scheduler.schedule(1s, [] {});
        CHECK(same == (scheduler.reschedule_at(delay, deadline, error) == htw::outcome::moved));
        CHECK(same == !error);
        if (!accepted)
            return;
        CHECK(timer.deadline() == deadline.time_since_epoch());
        CHECK(scheduler.now(point_clock) <= deadline.time_since_epoch());
        htw::timer_options other;
        other.clock = point_clock;
        timer = scheduler.schedule(1s, other, [] {});
        CHECK(scheduler.reschedule_at(timer, deadline) == htw::outcome::moved);
        CHECK(timer.deadline() == deadline.time_since_epoch());
        other.clock = same ? htw::clock::realtime : htw::clock::monotonic;
        CHECK_FAILS(scheduler.schedule_at(deadline, other, [] {}), std::errc::invalid_argument);
    };
    check(htw::clock::monotonic, std::chrono::steady_clock::now() + 1h, true);
    check(htw::clock::realtime, std::chrono::system_clock::now() + 1h, true);
    check(htw::clock::boottime, htw::boottime_clock::now() + 1h, true);
    check(htw::clock::manual, htw::manual_clock::time_point(1h), false);
}

/* The epochs of the clocks are those of the library. */
TEST(time_points_mean_the_same_in_both) {
    auto check = [](htw::clock clock, auto now) {
        htw::scheduler_options options;
        options.clock = clock;
        htw::scheduler scheduler(options);
        auto before = now().time_since_epoch();
        auto between = scheduler.now();
        auto after = now().time_since_epoch();
        CHECK(before <= between && between <= after);
        test::gate ran;
        htw::timer timer = scheduler.schedule_at(now() + 5ms, [&ran] { ran.open(); });
        ran.wait();
        CHECK(now().time_since_epoch() - before >= 5ms);
    };
    check(htw::clock::monotonic, std::chrono::steady_clock::now);
    check(htw::clock::boottime, htw::boottime_clock::now);
    check(htw::clock::realtime, std::chrono::system_clock::now);
}

TEST(coarse_time_points_and_long_delays_do_not_overflow) {
    htw::scheduler scheduler(test::manual());
    int runs = 0;
    auto day = std::chrono::time_point<htw::manual_clock, std::chrono::hours>(24h);
    htw::timer timer = scheduler.schedule_at(day, [&runs] { runs++; });
    htw::timer last = scheduler.schedule(std::chrono::hours::max(), [&runs] { runs++; });
    CHECK(last.deadline() == htw::never);
    htw::timer first = scheduler.schedule(std::chrono::hours::min(), [&runs] { runs += 10; });
    htw::timer never = scheduler.schedule_at(htw::manual_clock::time_point::max(), [] {});
    CHECK(never.deadline() == htw::never);
    scheduler.advance(0s);
    CHECK(runs == 10);
    scheduler.advance(std::chrono::duration<double, std::ratio<86400>>(1.0));
    CHECK(runs == 11);
    CHECK_FAILS(scheduler.advance(-1s), std::errc::invalid_argument);
    scheduler.set_clock(htw::manual_clock::time_point(10s));
    CHECK(scheduler.now() == 10s);
}

TEST(timers_repeat_as_told) {
    htw::scheduler scheduler(test::manual());
    int first = 0, burst = 0;
    std::uint64_t missed = 0;
    htw::timer fixed = scheduler.schedule_every(
        10ms, [&](const htw::expiration &expiration) { missed += expiration.missed(); });
    htw::timer_options options;
    options.period = 10ms;
    options.repeat = htw::repeat::after;
    htw::timer early = scheduler.schedule(0s, options, [&first] { first++; });
    htw::timer all = scheduler.schedule_every(10ms, htw::repeat::burst, [&burst] { burst++; });
    scheduler.set_clock(htw::manual_clock::time_point(45ms));
    CHECK(first == 1 && burst == 4);
    scheduler.advance(5ms);
    CHECK(missed == 3 && burst == 5);
    std::error_code error;
    htw::timer none = scheduler.schedule_every(
        0ms, [] {}, error);
    CHECK(error == std::errc::invalid_argument && !none);
    CHECK_FAILS(scheduler.schedule_every(-5ms, htw::repeat::burst, [] {}),
                std::errc::invalid_argument);
}

TEST(keys_find_their_timers) {
    htw::scheduler scheduler(test::manual());
    htw::group group(scheduler);
    std::uint64_t session = 42;
    htw::timer_options options;
    options.key = htw::key_bytes(session);
    CHECK(options.key.size() == sizeof(session));
    htw::timer timer = scheduler.schedule(1s, options, [] {});
    options.group = &group;
    htw::timer inside = scheduler.schedule(1s, options, [] {});
    CHECK(scheduler.find_key(options.key) == timer.handle());
    CHECK(scheduler.find_key(options.key, &group) == inside.handle());
    CHECK(scheduler.cancel_key(options.key, &group) == htw::outcome::cancelled);
    CHECK(!inside.is_pending() && timer.is_pending());
    group.detach();
    CHECK(scheduler.find_key(options.key, &group) == 0);
    CHECK(scheduler.cancel_key(options.key, &group) == htw::outcome::gone);
    CHECK(timer.is_pending());
    CHECK(scheduler.find_key(std::string_view()) == 0); // none
    CHECK(scheduler.cancel_key(std::string_view()) == htw::outcome::gone);
}

TEST(groups_pause_and_move) {
    htw::scheduler scheduler(test::manual());
    htw::group first(scheduler);
    htw::timer_options options;
    int runs = 0;
    options.group = &first;
    htw::timer timer = scheduler.schedule(10ms, options, [&runs] { runs++; });
    first.pause();
    scheduler.advance(1h);
    CHECK(runs == 0);
    htw::group second(std::move(first));
    CHECK(!first && second.count() == 1 && first.count() == 0 && first.cancel() == 0);
    CHECK_FAILS(first.pause(), std::errc::invalid_argument);
    std::error_code error;
    first.resume(error);
    CHECK(error == std::errc::invalid_argument);
    second.resume(error);
    CHECK(!error);
    scheduler.advance(10ms);
    CHECK(runs == 1);
    options.group = &second;
    timer = scheduler.schedule(10ms, options, [&runs] { runs++; });
    second = htw::group(scheduler); // cancels those of the old group
    CHECK(!timer.is_pending());
    htw::scheduler other(test::manual());
    CHECK_FAILS(other.schedule(1s, options, [] {}), std::errc::invalid_argument);
}

TEST(embedded_scheduler_serves_an_event_loop) {
    htw::scheduler_options options;
    options.embedded = true;
    options.shards = 1;
    htw::scheduler scheduler(options);
    int runs = 0;
    auto begin = scheduler.now();
    for (int i = 0; i < 3; i++)
        scheduler.schedule(2ms, [&runs] { runs++; }).detach();
    CHECK(scheduler.next() > begin && scheduler.next() != htw::never);
    struct pollfd readable = { scheduler.fd(), POLLIN, 0 };
    while (runs < 3) {
        CHECK(poll(&readable, 1, 10000) == 1);
        htw::scheduler::progress done = scheduler.process(2);
        CHECK(done.count <= 2 && done.more == (done.count == 2));
    }
    CHECK(scheduler.process().count == 0); /* after a full budget it asks for another call */
    CHECK(scheduler.next() == htw::never);
    std::error_code error;
    CHECK(!scheduler.process(0, error).more && !error);
    htw::scheduler threads;
    CHECK_FAILS(threads.fd(), std::errc::not_supported);
    CHECK_FAILS(threads.process(), std::errc::not_supported);
    CHECK(threads.fd(error) == -1 && error == std::errc::not_supported);
    CHECK_FAILS(threads.advance(1s), std::errc::not_supported);
}

/* The sites of a scheduler, each as "name function:line pending". */
static std::vector<std::string> sites_of(const htw::scheduler &scheduler) {
    std::vector<std::string> sites;
    test::visit_sites(scheduler, [&sites](const htw_site_stats &stats) {
        const htw_site *site = stats.origin.site;
        sites.push_back(site == nullptr
                            ? "none"
                            : std::string(site->name != nullptr ? site->name : "-") + " " +
                                  site->function + ":" + std::to_string(site->line) + " " +
                                  std::to_string(stats.pending));
    });
    return sites;
}

static htw::timer arm_by_reference(htw::scheduler &scheduler, const std::function<void()> &function,
                                   htw::place where = htw::place::current()) {
    return scheduler.schedule(1s, function, {}, where);
}

TEST(timers_know_where_they_were_armed) {
    htw::scheduler scheduler(test::manual());
    std::vector<htw::timer> timers;
    htw::timer_options options;
    options.name = "idle";
    for (int i = 0; i < 3; i++)
        timers.push_back(scheduler.schedule(1s, options, [] {}));
    const int line = __LINE__ - 1;
    std::vector<std::string> sites = sites_of(scheduler);
    CHECK(sites.size() == 1 &&
          sites[0].find(":" + std::to_string(line) + " 3") != std::string::npos &&
          sites[0].rfind("idle ", 0) == 0);
    timers.clear();
    CHECK(sites_of(scheduler).empty());
    std::function<void()> callback = [] {}; // one type, places of its callers
    timers.push_back(arm_by_reference(scheduler, callback));
    timers.push_back(arm_by_reference(scheduler, callback));
    timers.push_back(scheduler.schedule_every(1s, callback));
    timers.push_back(scheduler.schedule_at(htw::manual_clock::time_point(1s), callback));
    CHECK(sites_of(scheduler).size() == 4);
    scheduler.advance(1s);
    CHECK(sites_of(scheduler).size() == 1);
}

TEST(group_has_a_name) {
    htw::scheduler scheduler(test::manual());
    htw::group group(scheduler), empty;
    std::string name;
    std::error_code error;
    group.set_name("tenant");
    const int result = htw_scheduler_visit(
        scheduler.native(), HTW_VISIT_GROUPS, 0,
        [](void *context, const htw_visited *visited) {
            const htw_group_stats *stats = &visited->group;
            *static_cast<std::string *>(context) = stats->name;
        },
        &name);
    CHECK(result == 0 && name == "tenant");
    empty.set_name("none", error);
    CHECK(error == std::errc::invalid_argument);
    CHECK_FAILS(empty.set_name("none"), std::errc::invalid_argument);
}

TEST(places_without_end_have_no_site) {
    htw::scheduler scheduler(test::manual());
    std::vector<htw::timer> timers;
    const auto callback = [] {};
    for (std::uint32_t i = 0; i < htw::detail::places_max + 10u; i++)
        timers.push_back(
            scheduler.schedule(1s, callback, {}, htw::place::current("file", "at", i)));
    const std::vector<std::string> sites = sites_of(scheduler);
    CHECK(sites.size() == htw::detail::places_max + 1u && sites[0] == "none");
    scheduler.advance(1s);
    CHECK(scheduler.pending() == 0);
}
