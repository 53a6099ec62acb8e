/* SPDX-License-Identifier: MIT */
/* test_calendar.cpp - calendars, zones, and timers that repeat by them. */
#include "harness.hpp"

#include <htw/calendar.hpp>

namespace {

/* 2024-03-28 00:00 UTC, a Thursday. On the Sunday after it Berlin's clocks are put forward. */
constexpr htw::instant start { 1711584000s };

htw::scheduler_options at_start() {
    htw::scheduler_options options = test::manual();
    options.manual_start = start.time_since_epoch();
    return options;
}

} // namespace

TEST(calendar_finds_instants_in_a_zone) {
    const htw::zone berlin("Europe/Berlin");
    const htw::calendar nightly = htw::calendar::daily(2, 30);
    CHECK(nightly.next(start) == start + 2h + 30min);
    CHECK(nightly.next(start, berlin) == start + 1h + 30min);
    CHECK(nightly.previous(start, berlin) == start - 24h + 1h + 30min);
    CHECK(nightly.previous(start) == start - 24h + 2h + 30min);
    CHECK(berlin.offset(start) == 1h && berlin.offset(start + 5 * 24h) == 2h);
    // Any time point of the wall clock will do.
    CHECK(nightly.next(std::chrono::time_point_cast<std::chrono::minutes>(start)) ==
          start + 150min);
    CHECK(nightly.next(std::chrono::system_clock::now(), berlin) >
          std::chrono::system_clock::now());
}

TEST(calendar_of_each_kind_is_that_of_its_expression) {
    CHECK(htw::calendar::daily(3).text() == "0 3 * * *");
    CHECK(htw::calendar::weekly(htw::weekday::weekdays, 3).text() == "0 3 * * 1-5");
    CHECK(htw::calendar::weekly(htw::weekday::monday | htw::weekday::friday, 3, 15).next(start) ==
          start + 24h + 3h + 15min);
    CHECK(htw::calendar::monthly(-1, 3, 4, 5).next(start) == start + 3 * 24h + 3h + 4min + 5s);
    CHECK(htw::calendar::cron("*/20 0 1 jan *").text() == "*/20 0 1 1 *");
    const htw::calendar copy = htw::calendar::cron("@hourly");
    CHECK(htw::calendar(copy.native()).next(start) == start + 1h);
    CHECK(!htw::calendar::cron("0 0 30 2 *").next(start));
    CHECK(!htw::calendar::cron("0 0 30 2 *").previous(start));
}

TEST(calendar_that_is_wrong_is_refused_with_its_position) {
    std::error_code error;
    std::size_t position = 0;
    CHECK(!htw::calendar::cron("0 24 * * *", position, error).next(start));
    CHECK(error == std::errc::invalid_argument && position == 2);
    CHECK(htw::calendar::cron("0 3 * * *", error).next(start) == start + 3h && !error);
    // A string may hold a zero byte, behind which C sees nothing.
    const std::string cut("0 3 * * *\0 x", 12);
    CHECK(!htw::calendar::cron(cut, position, error).next(start));
    CHECK(error == std::errc::invalid_argument && position == 9);
    try {
        htw::calendar::cron("0 3 * foo *");
        CHECK(false);
    } catch (const std::system_error &thrown) {
        CHECK(thrown.code() == std::errc::invalid_argument);
        CHECK(std::string(thrown.what()).find("position 6") != std::string::npos);
    }
    CHECK_FAILS(htw::calendar::daily(24), std::errc::invalid_argument);
    CHECK_FAILS(htw::calendar::weekly(htw::weekday(), 3), std::errc::invalid_argument);
    CHECK_FAILS(htw::calendar::monthly(0, 3), std::errc::invalid_argument);
    CHECK_FAILS(htw::calendar().text(), std::errc::invalid_argument);
    CHECK(!htw::calendar().next(start));
}

TEST(zone_that_is_unknown_is_refused_and_never_utc) {
    std::error_code error;
    htw::zone none("Europe/Nowhere", error);
    CHECK(!none && error == std::errc::no_such_file_or_directory);
    CHECK(!htw::calendar::daily(3).next(start, none));
    CHECK(!htw::calendar::daily(3).previous(start, none));
    CHECK_FAILS(htw::zone("/etc/passwd"), std::errc::invalid_argument);
    CHECK_FAILS(htw::zone(std::string("UTC\0x", 5)), std::errc::invalid_argument);
    htw::zone utc("UTC", error);
    CHECK(utc && !error && utc.offset(start) == 0s);
    none = std::move(utc);
    CHECK(none && !utc && none.native() != nullptr); // NOLINT(bugprone-use-after-move)
    htw::zone local = htw::zone::local();
    CHECK(local && htw::zone::local(error) && !error);
}

TEST(timer_repeats_by_a_calendar_and_outlives_its_zone) {
    htw::scheduler scheduler(at_start());
    std::vector<htw::instant> runs;
    htw::timer timer;
    {
        htw::zone berlin("Europe/Berlin");
        htw::calendar_options options;
        options.zone = &berlin;
        timer = scheduler.schedule_calendar(htw::calendar::daily(3), options,
                                            [&](const htw::expiration &expiration) {
                                                CHECK(expiration.clock() == htw::clock::realtime);
                                                runs.push_back(htw::instant(expiration.deadline()));
                                            });
    }
    scheduler.advance(5 * 24h);
    CHECK((runs == std::vector<htw::instant> { start + 2h, start + 26h, start + 50h, start + 73h,
                                               start + 97h }));
    CHECK(timer.is_pending() && timer.cancel() == htw::outcome::cancelled);
    scheduler.advance(48h);
    CHECK(runs.size() == 5);
}

TEST(options_of_timers_reach_the_library) {
    htw::scheduler scheduler(at_start());
    htw::group group(scheduler);
    std::uint64_t missed = 0;
    int runs = 0;
    std::error_code error;
    htw::calendar_options options;
    options.key = "backup";
    options.keep_existing = true;
    options.group = &group;
    options.after = start - 5h; // missed, and made good
    options.grace = 30min;
    options.catch_up = 2;
    const htw::calendar hourly = htw::calendar::cron("30 * * * *");
    htw::timer timer =
        scheduler.schedule_calendar(hourly, options, [&](const htw::expiration &expiration) {
            runs++;
            missed += expiration.missed();
        });
    CHECK(scheduler.find_key("backup", &group) == timer.handle());
    htw::timer again = scheduler.schedule_calendar(
        hourly, options, [] {}, error);
    CHECK(!again && error == std::errc::file_exists);
    scheduler.advance(0s);
    CHECK(runs == 2 && missed == 3);
    CHECK(group.cancel() == 1 && !timer.is_pending());
    group = htw::group();
    again = scheduler.schedule_calendar(
        hourly, options, [] {}, error);
    CHECK(!again && error == std::errc::invalid_argument); // the group is empty
    options = htw::calendar_options();
    options.jitter = 1h; // without a key
    CHECK_FAILS(scheduler.schedule_calendar(hourly, options, [] {}), std::errc::invalid_argument);
    options.jitter_key = "host 1";
    timer = scheduler.schedule_calendar(htw::calendar::daily(3), options, [] {});
    options.jitter_key = "host 2";
    again = scheduler.schedule_calendar(htw::calendar::daily(3), options, [] {});
    CHECK(*timer.deadline() >= (start + 3h).time_since_epoch());
    CHECK(timer.deadline() != again.deadline());
    htw::zone nowhere;
    options.zone = &nowhere;
    CHECK_FAILS(scheduler.schedule_calendar(hourly, options, [] {}), std::errc::invalid_argument);
    CHECK_FAILS(scheduler.schedule_calendar(htw::calendar(), [] {}), std::errc::invalid_argument);
}

TEST(callable_is_destroyed_once_however_its_timer_ends) {
    std::atomic<int> destroyed { 0 };
    const htw::calendar daily = htw::calendar::daily(3);
    auto callable = [&] { return [held = test::token(destroyed)] { CHECK(held.is_here()); }; };
    {
        htw::scheduler scheduler(at_start());
        htw::timer cancelled = scheduler.schedule_calendar(daily, callable());
        scheduler.advance(24h);
        CHECK(destroyed == 0);
        cancelled.reset();
        CHECK(destroyed == 1);
        std::error_code error;
        htw::timer refused = scheduler.schedule_calendar(htw::calendar(), callable(), error);
        CHECK(destroyed == 2 && error == std::errc::invalid_argument);
        scheduler.schedule_calendar(daily, callable()).detach();
        CHECK(destroyed == 2);
        CHECK(scheduler.stop() == 1 && destroyed == 3);
        refused = scheduler.schedule_calendar(daily, callable(), error);
        CHECK(destroyed == 4 && error.value() == ESHUTDOWN);
    }
    CHECK(destroyed == 4);
}

TEST(exception_goes_to_the_handler_and_the_timer_goes_on) {
    int handled = 0, runs = 0;
    htw::scheduler_options options = at_start();
    options.exception_handler = [&](std::exception_ptr) { handled++; };
    htw::scheduler scheduler(std::move(options));
    htw::timer timer = scheduler.schedule_calendar(htw::calendar::daily(3), [&] {
        runs++;
        throw 1;
    });
    scheduler.advance(48h);
    CHECK(runs == 2 && handled == 2);
}

TEST(calendar_timers_know_where_they_were_armed) {
    htw::scheduler scheduler(at_start());
    htw::calendar_options options;
    options.name = "backup";
    htw::timer named = scheduler.schedule_calendar(htw::calendar::daily(3), options, [] {});
    const std::string line = std::to_string(__LINE__ - 1);
    std::string text;
    test::visit_sites(scheduler, [&text](const htw_site_stats &stats) {
        const htw_site *site = stats.origin.site;
        if (site != nullptr)
            text = std::string(site->name) + " " + std::to_string(site->line);
    });
    CHECK(text == "backup " + line);
}
