/* SPDX-License-Identifier: MIT */
/* htw/cpp/backoff.hpp - the delays of htw/backoff.h as std::chrono durations. */
#ifndef HTW_CPP_BACKOFF_HPP
#define HTW_CPP_BACKOFF_HPP

#include <htw/backoff.h>
#include <htw/cpp/error.hpp>
#include <htw/cpp/time.hpp>

namespace htw {

/** The options of a backoff, as struct htw_backoff_options, except that a jitter of 0 is none. */
struct backoff_options {
    std::chrono::nanoseconds initial = std::chrono::milliseconds(100);
    std::chrono::nanoseconds cap = std::chrono::seconds(30);
    double multiplier = 2.0;
    double jitter = 0.5;
    std::uint64_t seed = 0;
};

/** Calculates how long to wait before the next attempt. A value: it can be copied. */
class backoff {
  public:
    /** Throws std::system_error (EINVAL) if an option is out of its range. */
    explicit backoff(const backoff_options &options = backoff_options()) {
        htw_backoff_options native = HTW_BACKOFF_OPTIONS_INIT;
        native.initial_ns = options.initial.count();
        native.cap_ns = options.cap.count();
        native.multiplier = options.multiplier;
        native.jitter = options.jitter != 0 ? options.jitter : HTW_NO_JITTER;
        native.seed = options.seed;
        failure_to().report_refusal(htw_backoff_init(&native_, &native));
    }

    /** The delay before the next attempt. Counts the attempt. */
    [[nodiscard]] std::chrono::nanoseconds next() noexcept {
        return std::chrono::nanoseconds(htw_backoff_next(&native_));
    }

    /** Starts again from the initial delay. */
    void reset() noexcept {
        htw_backoff_reset(&native_);
    }

    [[nodiscard]] unsigned attempts() const noexcept {
        return htw_backoff_attempts(&native_);
    }

  private:
    htw_backoff native_;
};

} // namespace htw

#endif // HTW_CPP_BACKOFF_HPP
