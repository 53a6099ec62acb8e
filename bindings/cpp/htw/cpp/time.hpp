/* SPDX-License-Identifier: MIT */
/* htw/cpp/time.hpp - std::chrono durations as nanoseconds, and the clocks of time points. */
#ifndef HTW_CPP_TIME_HPP
#define HTW_CPP_TIME_HPP

#include <htw/scheduler.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <time.h>
#include <type_traits>

namespace htw {

/** A delay that never ends, and a deadline that never comes. */
inline constexpr std::chrono::nanoseconds never { HTW_NEVER_NS };

/** A point in time of calendars and journals. Compares with those of std::chrono::system_clock. */
using instant = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

/** The clock of a scheduler, or of a timer; see enum htw_clock. */
enum class clock {
    by_default = HTW_CLOCK_DEFAULT,  ///< of a timer: that of its scheduler
    monotonic = HTW_CLOCK_MONOTONIC, ///< std::chrono::steady_clock
    boottime = HTW_CLOCK_BOOTTIME,   ///< htw::boottime_clock
    realtime = HTW_CLOCK_REALTIME,   ///< std::chrono::system_clock
    manual = HTW_CLOCK_MANUAL        ///< htw::manual_clock
};

#ifdef CLOCK_BOOTTIME
/** The clock of time points for clock::boottime. */
struct boottime_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boottime_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept {
        struct timespec time = {};
        clock_gettime(CLOCK_BOOTTIME, &time);
        return time_point(std::chrono::seconds(time.tv_sec) +
                          std::chrono::nanoseconds(time.tv_nsec));
    }
};
#endif

/** The clock of time points for a scheduler with clock::manual. Only a scheduler knows the time:
    scheduler::now(). */
struct manual_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<manual_clock>;
    static constexpr bool is_steady = false;
};

namespace detail {

/* The clock of a timer that is scheduled at a time point of `Clock`. */
template <class Clock> struct clock_of {
    static_assert(sizeof(Clock) == 0, "htw takes time points of std::chrono::steady_clock, "
                                      "std::chrono::system_clock, htw::boottime_clock and "
                                      "htw::manual_clock");
};
template <> struct clock_of<std::chrono::steady_clock> {
    static constexpr clock value = clock::monotonic;
};
template <> struct clock_of<std::chrono::system_clock> {
    static constexpr clock value = clock::realtime;
};
#ifdef CLOCK_BOOTTIME
template <> struct clock_of<boottime_clock> { static constexpr clock value = clock::boottime; };
#endif
template <> struct clock_of<manual_clock> { static constexpr clock value = clock::manual; };

inline constexpr std::int64_t max_ns = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t min_ns = std::numeric_limits<std::int64_t>::min();

constexpr std::int64_t add_ns(std::int64_t a, std::int64_t b) noexcept {
    if (b > 0 && a > max_ns - b)
        return max_ns;
    if (b < 0 && a < min_ns - b)
        return min_ns;
    return a + b;
}

/* A time that is not a number never comes, so it is not early. */
constexpr std::int64_t round_up_ns(long double ns) noexcept {
    if (!(ns < 9223372036854775807.0L))
        return max_ns;
    if (ns <= -9223372036854775807.0L)
        return min_ns;
    std::int64_t whole = static_cast<std::int64_t>(ns);
    return whole + (static_cast<long double>(whole) < ns ? 1 : 0);
}

/* A duration in nanoseconds, rounded up. A duration that does not fit becomes the longest that does;
   std::chrono::duration_cast would overflow. */
template <class Rep, class Period>
constexpr std::int64_t to_ns(std::chrono::duration<Rep, Period> duration) noexcept {
    using factor = std::ratio_divide<Period, std::nano>;
    static_assert(std::is_arithmetic_v<Rep> && (std::is_floating_point_v<Rep> || sizeof(Rep) <= 8),
                  "htw takes durations that count in an arithmetic type of at most 64 bits");
    if constexpr (std::is_floating_point_v<Rep>) {
        return round_up_ns(static_cast<long double>(duration.count()) * factor::num / factor::den);
    } else {
        constexpr std::int64_t num = factor::num;
        constexpr std::int64_t den = factor::den;
        if constexpr (!std::is_signed_v<Rep>) {
            if (duration.count() > static_cast<std::uint64_t>(max_ns))
                return max_ns;
        }
        std::int64_t count = static_cast<std::int64_t>(duration.count());
        std::int64_t whole = count / den;
        if (whole > max_ns / num)
            return max_ns;
        if (whole < min_ns / num)
            return min_ns;
        if constexpr (den == 1) {
            return whole * num;
        } else if constexpr (num <= max_ns / den) {
            std::int64_t part = count % den * num;
            return add_ns(whole * num, part / den + (part % den > 0 ? 1 : 0));
        } else {
            return round_up_ns(static_cast<long double>(count) * num / den);
        }
    }
}

template <class Duration>
std::int64_t
instant_ns(std::chrono::time_point<std::chrono::system_clock, Duration> when) noexcept {
    return to_ns(when.time_since_epoch());
}

} // namespace detail
} // namespace htw

#endif // HTW_CPP_TIME_HPP
