/* SPDX-License-Identifier: MIT */
/* htw/cpp/timer.hpp - a timer that is cancelled when its object is destroyed. */
#ifndef HTW_CPP_TIMER_HPP
#define HTW_CPP_TIMER_HPP

#include <htw/cpp/callback.hpp>
#include <htw/timer.h>

#include <optional>
#include <utility>

namespace htw {

/**
 * Owns a scheduled callback, as std::jthread owns a thread: the destructor cancels the timer, and
 * waits until its callback is not running. Objects that the callback refers to may be destroyed afterwards.
 *
 * The destructor does not wait inside the callback itself, nor in a ring of callbacks that wait for
 * each other (see htw_cancel_wait()). So it never deadlocks with itself, but it does with a callback
 * that waits for a lock which the destroying thread holds.
 *
 * The callable, and what it owns, is destroyed before the destructor returns; but if another thread
 * ended the timer without a run (by a group, key or stop), then in that thread, perhaps later.
 *
 * A timer must not outlive its scheduler: declare it after the scheduler. After scheduler::stop()
 * it may be destroyed in any order, as long as the scheduler exists.
 *
 * Threads: one thread at a time may use a timer object.
 */
class [[nodiscard]] timer {
  public:
    /** Empty. */
    timer() noexcept = default;

    /** Owns the timer of a handle, for example of one that was detached. */
    timer(htw_scheduler *scheduler, htw_handle handle) noexcept
        : scheduler_(scheduler), handle_(handle) {
    }

    timer(timer &&other) noexcept
        : scheduler_(std::exchange(other.scheduler_, nullptr)),
          handle_(std::exchange(other.handle_, 0)) {
    }

    /** Cancels the timer that this object owned, and waits, as the destructor. */
    timer &operator=(timer &&other) noexcept {
        timer taken(std::move(other));
        swap(taken);
        return *this;
    }

    ~timer() {
        reset();
    }

    void swap(timer &other) noexcept {
        std::swap(scheduler_, other.scheduler_);
        std::swap(handle_, other.handle_);
    }

    /** Whether this object owns a timer, which may have ended. */
    explicit operator bool() const noexcept {
        return handle_ != 0;
    }

    /** Cancels the timer and waits, as the destructor. The object is empty then. */
    void reset() noexcept {
        htw_handle handle = std::exchange(handle_, 0);
        int outcome = handle == 0 ? HTW_GONE : htw_cancel_wait(scheduler_, handle);
        static_cast<void>(outcome);
    }

    /** Gives the timer up: it continues without this object, which is empty then. Returns its
        handle. */
    htw_handle detach() noexcept {
        return std::exchange(handle_, 0);
    }

    /** Cancels the timer without waiting; see htw_cancel(). outcome::running: the callback may still
        use what it refers to. */
    outcome cancel() noexcept {
        int result = handle_ != 0 ? htw_cancel(scheduler_, handle_) : 0;
        return result < 0 ? outcome::gone : static_cast<outcome>(result);
    }

    /** The same; with outcome::cancelled, `left` receives what was left of the delay. See
        htw_cancel_remaining(). */
    outcome cancel(std::chrono::nanoseconds &left) noexcept {
        std::int64_t left_ns = 0;
        int result = handle_ != 0 ? htw_cancel_remaining(scheduler_, handle_, &left_ns) : 0;
        if (result == HTW_CANCELLED)
            left = std::chrono::nanoseconds(left_ns);
        return result < 0 ? outcome::gone : static_cast<outcome>(result);
    }

    /** Cancels the timer and waits until its callback is not running; see htw_cancel_wait(). Fails
        with std::errc::resource_deadlock_would_occur where it would wait for itself; the timer is
        cancelled then. */
    outcome cancel_wait(failure_to error = {}) {
        int result = error.report(handle_ != 0 ? htw_cancel_wait(scheduler_, handle_) : HTW_GONE);
        return result < 0 ? outcome::running : static_cast<outcome>(result);
    }

    /** Gives the timer a new delay; see htw_reschedule(). */
    template <class Rep, class Period>
    outcome reschedule(std::chrono::duration<Rep, Period> delay, failure_to error = {}) {
        int result = HTW_GONE;
        if (handle_ != 0)
            result = htw_reschedule(scheduler_, handle_, detail::to_ns(delay));
        return detail::report_outcome(result, error);
    }

    /** Gives a repeating timer another period; see htw_set_period(). */
    template <class Rep, class Period>
    outcome set_period(std::chrono::duration<Rep, Period> period, failure_to error = {}) {
        int result = HTW_GONE;
        if (handle_ != 0)
            result = htw_set_period(scheduler_, handle_, detail::to_ns(period));
        return detail::report_outcome(result, error);
    }

    /** Whether the timer waits for a run. */
    bool is_pending() const noexcept {
        return handle_ != 0 && htw_is_pending(scheduler_, handle_);
    }

    /** The deadline, since the epoch of the scheduler's clock; none if the timer has ended. */
    std::optional<std::chrono::nanoseconds> deadline() const noexcept {
        htw_timer_info info;
        if (handle_ == 0 || htw_scheduler_timer_info(scheduler_, handle_, &info) != 0)
            return std::nullopt;
        return std::chrono::nanoseconds(info.deadline_ns);
    }

    htw_handle handle() const noexcept {
        return handle_;
    }

  private:
    htw_scheduler *scheduler_ = nullptr;
    htw_handle handle_ = 0;
};

} // namespace htw

#endif // HTW_CPP_TIMER_HPP
