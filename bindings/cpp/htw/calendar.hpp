/* SPDX-License-Identifier: MIT */
/*
 * htw/calendar.hpp - htw/calendar.h for C++17 and later: calendars, time zones, and timers of a
 * htw::scheduler that repeat by them. Header-only; link with libhtw-calendar. The conventions are those
 * of htw/htw.hpp, which does not include this header.
 *
 *     htw::zone berlin("Europe/Berlin");
 *     htw::timer backup = scheduler.schedule_calendar(htw::calendar::cron("0 3 * * mon-fri"),
 *                                                     { .zone = &berlin }, [&] { back_up(); });
 */
#ifndef HTW_CALENDAR_HPP
#define HTW_CALENDAR_HPP

#include <htw/calendar.h>
#include <htw/cpp/scheduler.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace htw {

/**
 * The rules of a time zone; see htw_zone_create(). They do not change.
 *
 * Threads: any, also at the same time, except moves and the destructor.
 */
class zone {
  public:
    /** Empty, which is no zone, and not UTC. */
    zone() noexcept = default;

    /** Loads a zone by its name of tzdata, such as "Europe/Berlin" or "UTC". On failure this is empty, or the
        constructor throws: std::errc::no_such_file_or_directory if there is no such zone. */
    explicit zone(const std::string &name, failure_to error = {}) {
        const bool has_nul = name.find('\0') != std::string::npos;
        error.report(has_nul ? -EINVAL : htw_zone_create(detail::into(native_), name.c_str()));
    }

    /** Loads the local time zone of the process. */
    static zone local(failure_to error = {}) {
        zone zone;
        error.report(htw_zone_create(detail::into(zone.native_), nullptr));
        return zone;
    }

    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /** By how much local time is ahead of UTC; 0 if this is empty. */
    template <class Duration>
    std::chrono::seconds
    offset(std::chrono::time_point<std::chrono::system_clock, Duration> when) const noexcept {
        return std::chrono::seconds(htw_zone_offset(native(), detail::instant_ns(when)));
    }

    htw_zone *native() const noexcept {
        return native_.get();
    }

  private:
    /* Timers that were scheduled with the zone continue without it. */
    detail::owned<htw_zone, &htw_zone_destroy> native_;
};

/** The days of the week, to be combined with `|`. */
enum class weekday : unsigned {
    sunday = HTW_SUNDAY,
    monday = HTW_MONDAY,
    tuesday = HTW_TUESDAY,
    wednesday = HTW_WEDNESDAY,
    thursday = HTW_THURSDAY,
    friday = HTW_FRIDAY,
    saturday = HTW_SATURDAY,
    weekdays = HTW_WEEKDAYS, ///< Monday to Friday
    every_day = HTW_EVERY_DAY
};

constexpr weekday operator|(weekday a, weekday b) noexcept {
    return static_cast<weekday>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/** A set of local times; see struct htw_calendar. A value, which can be copied. */
class calendar {
  public:
    /** Empty: without instants. */
    calendar() noexcept = default;

    explicit calendar(const htw_calendar &native) noexcept : native_(native) {
    }

    /** One local time every day. Throws if a number is out of its range. */
    static calendar daily(int hour, int minute = 0, int second = 0) {
        calendar made;
        detail::check(htw_calendar_daily(&made.native_, hour, minute, second));
        return made;
    }

    /** One local time on days of the week. */
    static calendar weekly(weekday weekdays, int hour, int minute = 0, int second = 0) {
        calendar made;
        detail::check(htw_calendar_weekly(&made.native_, static_cast<unsigned>(weekdays), hour,
                                          minute, second));
        return made;
    }

    /** One local time on a day of each month: 1 to 31; -1: the last day. */
    static calendar monthly(int day, int hour, int minute = 0, int second = 0) {
        calendar made;
        detail::check(htw_calendar_monthly(&made.native_, day, hour, minute, second));
        return made;
    }

    /** The local times of a cron expression; see htw_calendar_cron(). On failure the result is empty, or
        the exception says where in the expression the error is. */
    static calendar cron(const std::string &expression, failure_to error = {}) {
        std::size_t position = 0;
        return cron(expression, position, error);
    }

    /** The same; on failure `position` is where in the expression the error is. */
    static calendar cron(const std::string &expression, std::size_t &position,
                         failure_to error = {}) {
        calendar made;
        const int result = made.read(expression, position);
        if (result == 0 || error.code() != nullptr)
            error.report(result);
        else
            detail::raise(result,
                          ("cron expression, position " + std::to_string(position)).c_str());
        return made;
    }

    /** The cron expression of the calendar; see htw_calendar_format(). Fails if it is empty. */
    std::string text() const {
        char text[HTW_CALENDAR_TEXT_MAX];
        int length = detail::check(htw_calendar_format(&native_, text, sizeof(text)));
        return std::string(text, static_cast<std::size_t>(length));
    }

    /** The first instant after another, in UTC; none until the year 2262. */
    template <class Duration>
    std::optional<instant>
    next(std::chrono::time_point<std::chrono::system_clock, Duration> after) const noexcept {
        return instant_of(htw_calendar_next(&native_, nullptr, detail::instant_ns(after)));
    }

    /** The first instant after another, in a zone. None if that is empty. */
    template <class Duration>
    std::optional<instant> next(std::chrono::time_point<std::chrono::system_clock, Duration> after,
                                const zone &zone) const noexcept {
        if (!zone)
            return std::nullopt;
        return instant_of(htw_calendar_next(&native_, zone.native(), detail::instant_ns(after)));
    }

    /** The last instant before another, in UTC; none since the year 1677. */
    template <class Duration>
    std::optional<instant>
    previous(std::chrono::time_point<std::chrono::system_clock, Duration> before) const noexcept {
        return instant_of(htw_calendar_previous(&native_, nullptr, detail::instant_ns(before)));
    }

    template <class Duration>
    std::optional<instant>
    previous(std::chrono::time_point<std::chrono::system_clock, Duration> before,
             const zone &zone) const noexcept {
        if (!zone)
            return std::nullopt;
        return instant_of(
            htw_calendar_previous(&native_, zone.native(), detail::instant_ns(before)));
    }

    const htw_calendar &native() const noexcept {
        return native_;
    }

  private:
    static std::optional<instant> instant_of(std::int64_t ns) noexcept {
        if (ns == HTW_NEVER_NS || ns == detail::min_ns)
            return std::nullopt;
        return instant(std::chrono::nanoseconds(ns));
    }

    int read(const std::string &expression, std::size_t &position) noexcept {
        int result = htw_calendar_cron(&native_, expression.c_str(), &position);
        std::size_t end = expression.find('\0');
        if (result != 0 || end == std::string::npos)
            return result;
        native_ = {};
        position = end;
        return -EINVAL;
    }

    htw_calendar native_ = {};
};

/** The properties of a timer that repeats by a calendar, as struct htw_calendar_spec. */
struct calendar_options {
    /** nullptr: UTC. May be destroyed when the timer is scheduled. */
    const htw::zone *zone = nullptr;
    /** Instants after this one count: the last one for which the program knows that it ran. 1970, as
        by default: now. */
    instant after {};
    /** The time over which the runs of different machines are spread. */
    std::chrono::nanoseconds jitter { 0 };
    /** Selects the part of the jitter: bytes such as the names of host and job. */
    std::string_view jitter_key {};
    /** How late a run may be without its instant being missed; 0: a minute. */
    std::chrono::nanoseconds grace { 0 };
    /** How many missed instants run late: 0: none; 1: one run for all of them; N: the last N. */
    std::uint32_t catch_up = 1;
    /** As in timer_options. */
    std::string_view key {};
    bool keep_existing = false;
    htw::group *group = nullptr;
    /** Memory of the library for the timer. Callables are in memory of operator new. */
    const htw_allocator *allocator = nullptr;
    /** As in timer_options. */
    const char *name = nullptr;
};

template <class F>
int scheduler::arm_calendar(const calendar &calendar, const calendar_options &options, F &&callback,
                            const place &where, htw_handle &ret_handle) {
    // What was moved from is not the same as none.
    if ((options.zone != nullptr && !*options.zone) ||
        (options.group != nullptr && !*options.group))
        return -EINVAL;
    htw_calendar_spec spec = HTW_CALENDAR_SPEC_INIT;
    spec.calendar = calendar.native();
    spec.zone = options.zone != nullptr ? options.zone->native() : nullptr;
    spec.after_ns = detail::instant_ns(options.after);
    spec.jitter_ns = options.jitter.count();
    spec.jitter_key = options.jitter_key.data();
    spec.jitter_key_size = options.jitter_key.size();
    spec.grace_ns = options.grace.count();
    spec.catch_up = options.catch_up != 0 ? options.catch_up : HTW_CALENDAR_NO_CATCH_UP;
    spec.allocator = options.allocator;
    fill_common(spec, options);
    return detail::schedule(handler(), spec, std::forward<F>(callback), [&]() noexcept {
        spec.site = detail::site_of<std::decay_t<F>>(spec.callback, options.name, where);
        return htw_schedule_calendar(native(), &spec, &ret_handle, nullptr);
    });
}

template <class F>
timer scheduler::schedule_calendar(const calendar &calendar, F &&callback, failure_to error,
                                   place where) {
    return schedule_calendar(calendar, calendar_options(), std::forward<F>(callback), error, where);
}

template <class F>
timer scheduler::schedule_calendar(const calendar &calendar, const calendar_options &options,
                                   F &&callback, failure_to error, place where) {
    htw_handle handle = 0;
    error.report(arm_calendar(calendar, options, std::forward<F>(callback), where, handle));
    return timer(native(), handle);
}

} // namespace htw

#endif // HTW_CALENDAR_HPP
