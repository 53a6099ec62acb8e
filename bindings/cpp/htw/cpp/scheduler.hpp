/* SPDX-License-Identifier: MIT */
/* htw/cpp/scheduler.hpp - the scheduler of htw/scheduler.h. */
#ifndef HTW_CPP_SCHEDULER_HPP
#define HTW_CPP_SCHEDULER_HPP

#include <htw/cpp/callback.hpp>
#include <htw/cpp/group.hpp>
#include <htw/cpp/options.hpp>
#include <htw/cpp/place.hpp>
#include <htw/cpp/sleep.hpp>
#include <htw/cpp/timer.hpp>
#include <htw/loop.h>
#include <htw/observe.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace htw {

class calendar;
struct calendar_options;

/**
 * Runs callbacks at their time.
 *
 * A callback is any callable that takes nothing, or a `const htw::expiration &`. It is moved to the
 * timer, and destroyed exactly once: when the timer has ended, or when scheduling fails. A callable
 * that is trivially copyable, not larger than a pointer and callable when it is const (a lambda that
 * captures `this` or one reference, for example) takes no memory besides the timer; each run calls a
 * copy of it. With an exception handler this holds if it is noexcept. Others take a block of memory,
 * and a timer with a release hook: about 130 bytes and the block.
 *
 * The destructor stops the scheduler: it waits for callbacks that run, and destroys the callables of
 * the others. In a callback of the same scheduler it ends the program (std::terminate). All timers,
 * except detached ones, and all groups must be destroyed before.
 *
 * Timers know the place of the call that has armed them: htw_scheduler_dump().
 *
 * Threads: any, also in callbacks, except moves and the destructor.
 */
class scheduler {
  public:
    /** On failure this is empty, or the constructor throws. */
    explicit scheduler(scheduler_options options = scheduler_options(), failure_to error = {}) {
        error.report_refusal(create(std::move(options)));
    }

    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /* ---- once */

    /** Schedules a callback after a delay. [[nodiscard]]: a timer that is not kept is cancelled at
        once; to let it go, call detach(). */
    template <class Rep, class Period, class F>
    [[nodiscard]] timer schedule(std::chrono::duration<Rep, Period> delay, F &&callback,
                                 failure_to error = {}, place where = place::current()) {
        return start(relative(delay), timer_options(), std::forward<F>(callback), error, where);
    }

    /** Schedules a callback with further properties. */
    template <class Rep, class Period, class F>
    [[nodiscard]] timer schedule(std::chrono::duration<Rep, Period> delay,
                                 const timer_options &options, F &&callback, failure_to error = {},
                                 place where = place::current()) {
        return start(relative(delay), options, std::forward<F>(callback), error, where);
    }

    /** Schedules a callback at a time point, of any clock: that is the clock of the timer. Of a
        clock that timers of the scheduler cannot have: EINVAL; of one that no scheduler has: the
        compiler refuses it. */
    template <class Clock, class Duration, class F>
    [[nodiscard]] timer schedule_at(std::chrono::time_point<Clock, Duration> deadline, F &&callback,
                                    failure_to error = {}, place where = place::current()) {
        return start(absolute(deadline), timer_options(), std::forward<F>(callback), error, where);
    }

    template <class Clock, class Duration, class F>
    [[nodiscard]] timer schedule_at(std::chrono::time_point<Clock, Duration> deadline,
                                    const timer_options &options, F &&callback,
                                    failure_to error = {}, place where = place::current()) {
        return start(absolute(deadline), options, std::forward<F>(callback), error, where);
    }

    /* ---- repeating */

    /** Schedules a callback that repeats, at first after one period, until it is cancelled. For
        another first delay: schedule() with a period in its options. */
    template <class Rep, class Period, class F>
    [[nodiscard]] timer schedule_every(std::chrono::duration<Rep, Period> period, F &&callback,
                                       failure_to error = {}, place where = place::current()) {
        return schedule_every(period, repeat::skip, std::forward<F>(callback), error, where);
    }

    template <class Rep, class Period, class F>
    [[nodiscard]] timer schedule_every(std::chrono::duration<Rep, Period> period,
                                       htw::repeat repeat, F &&callback, failure_to error = {},
                                       place where = place::current()) {
        timer_options options;
        options.period = std::chrono::nanoseconds(detail::to_ns(period));
        options.repeat = repeat;
        when first = relative(period);
        if (first.ns <= 0)
            first.refusal = -EINVAL; // in C a period of 0 means once
        return start(first, options, std::forward<F>(callback), error, where);
    }

    /* ---- by a calendar: with htw/calendar.hpp, where these are defined */

    /** Schedules a callback that repeats by a calendar until it is cancelled; see
        htw_schedule_calendar(). A calendar without a next instant: EINVAL. */
    template <class F>
    [[nodiscard]] timer schedule_calendar(const calendar &calendar, F &&callback,
                                          failure_to error = {}, place where = place::current());

    template <class F>
    [[nodiscard]] timer schedule_calendar(const calendar &calendar, const calendar_options &options,
                                          F &&callback, failure_to error = {},
                                          place where = place::current());

    /* ---- coroutines */

#if HTW_CPP_COROUTINES
    /** `co_await scheduler.after(delay)` suspends a coroutine; see class sleep. */
    template <class Rep, class Period>
    sleep after(std::chrono::duration<Rep, Period> delay, failure_to error = {},
                place where = place::current()) noexcept {
        return awaitable(relative(delay), error, where);
    }

    /** `co_await scheduler.at(time_point)`, of any clock, as schedule_at(). */
    template <class Clock, class Duration>
    sleep at(std::chrono::time_point<Clock, Duration> deadline, failure_to error = {},
             place where = place::current()) noexcept {
        return awaitable(absolute(deadline), error, where);
    }
#endif

    /* ---- timers of this scheduler */

    /** Gives a timer a new deadline, of the timer's clock (of another one: EINVAL); see
        htw_reschedule_at(). */
    template <class Clock, class Duration>
    outcome reschedule_at(const timer &timer, std::chrono::time_point<Clock, Duration> deadline,
                          failure_to error = {}) {
        return detail::report_outcome(move_to(timer, absolute(deadline)), error);
    }

    /** Cancels the timer that has a key, of `group` or of those without a group. */
    outcome cancel_key(std::string_view key, group *group = nullptr) noexcept {
        if (group != nullptr && !*group)
            return outcome::gone;
        int result = htw_cancel_key(native(), group != nullptr ? group->native() : nullptr,
                                    key.data(), key.size(), nullptr);
        return result < 0 ? outcome::gone : static_cast<outcome>(result);
    }

    /** The handle of the timer that has a key; 0: none. */
    htw_handle find_key(std::string_view key, group *group = nullptr) noexcept {
        if (group != nullptr && !*group)
            return 0;
        return htw_find_key(native(), group != nullptr ? group->native() : nullptr, key.data(),
                            key.size());
    }

    std::uint64_t pending() const noexcept {
        return htw_pending(native());
    }

    /* ---- life */

    /** Stops the scheduler, and returns how many timers had not run; see htw_scheduler_stop().
        Their callables are destroyed, and coroutines that wait continue (see class sleep). */
    std::uint64_t stop(failure_to error = {}) {
        std::uint64_t count = 0;
        error.report(htw_scheduler_stop(native(), &count_one, &count));
        return count;
    }

    /** The time of the scheduler's clock, or of another clock that its timers may have, since its
        epoch. */
    std::chrono::nanoseconds now(htw::clock clock = htw::clock::by_default) const noexcept {
        return std::chrono::nanoseconds(
            htw_scheduler_now_by(native(), static_cast<htw_clock>(clock)));
    }

    /** The statistics; see htw_scheduler_get_stats(). Throws on failure. */
    htw_scheduler_stats stats() const {
        htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
        detail::check(htw_scheduler_get_stats(native(), &stats));
        return stats;
    }

    htw_scheduler *native() const noexcept {
        return native_.get();
    }

    /* ---- embedded */

    /** The file descriptor that becomes readable when process() has work; see htw_scheduler_fd(). */
    int fd(failure_to error = {}) const {
        int result = error.report(htw_scheduler_fd(native()));
        return result < 0 ? -1 : result;
    }

    /** When process() has work, since the epoch of the clock; htw::never: not at all. */
    std::chrono::nanoseconds next() noexcept {
        return std::chrono::nanoseconds(htw_scheduler_next(native()));
    }

    /** What process() has done. */
    struct progress {
        bool more = false;     ///< the budget is used up
        std::size_t count = 0; ///< callbacks that were run or handed to the executor
    };

    /** Runs callbacks that are due, in this thread; see htw_scheduler_process(). */
    progress process(std::size_t budget = 0, failure_to error = {}) {
        progress done;
        int result = htw_scheduler_process(native(), budget, &done.count);
        done.more = error.report(result) == HTW_MORE;
        return done;
    }

    /* ---- manual time */

    /** Advances the clock, and runs all that becomes due; see htw_scheduler_advance(). */
    template <class Rep, class Period> void advance(std::chrono::duration<Rep, Period> duration) {
        detail::check(htw_scheduler_advance(native(), detail::to_ns(duration)));
    }

    /** Sets the clock of a time point in one step: the scheduler's own, or another one of its
        timers; see htw_scheduler_set_clock(). Throws as advance(). */
    template <class Clock, class Duration>
    void set_clock(std::chrono::time_point<Clock, Duration> time) {
        detail::check(htw_scheduler_set_clock(
            native(), static_cast<htw_clock>(detail::clock_of<Clock>::value),
            detail::to_ns(time.time_since_epoch())));
    }

  private:
    friend class scope; // which has the exception handler

    /* What the callbacks of the library refer to. Does not move with the scheduler. */
    struct hooks {
        exception_handler handler;
        std::function<void(task)> executor;

        static void execute(void *context, htw_task *const *tasks, std::size_t count) noexcept {
            for (std::size_t i = 0; i < count; i++)
                static_cast<hooks *>(context)->executor(task(tasks[i]));
        }
    };

    /* When a timer expires. */
    struct when {
        std::int64_t ns;
        bool absolute;
        htw::clock clock; /* of a time point; otherwise by_default */
        int refusal;      /* 0, or why there can be no such timer */
    };

    template <class Rep, class Period>
    static when relative(std::chrono::duration<Rep, Period> delay) noexcept {
        return when { detail::to_ns(delay), false, clock::by_default, 0 };
    }

    template <class Clock, class Duration>
    static when absolute(std::chrono::time_point<Clock, Duration> deadline) noexcept {
        return when { detail::to_ns(deadline.time_since_epoch()), true,
                      detail::clock_of<Clock>::value, 0 };
    }

    int create(scheduler_options &&options) noexcept {
        htw_scheduler_options native = HTW_SCHEDULER_OPTIONS_INIT;
        htw_executor executor = {};
        native.tick_ns = options.tick.count();
        native.wheel_size = options.wheel_size;
        native.shards = options.shards;
        native.expirers = options.expirers;
        native.workers = options.workers != 0 ? options.workers : HTW_NO_WORKERS;
        native.clock = static_cast<htw_clock>(options.clock);
        native.embedded = options.embedded;
        native.start_threads = options.start_threads;
        native.max_pending = options.max_pending;
        native.timer_slack_ns = options.timer_slack.count();
        native.late_threshold_ns = options.late_threshold.count();
        native.manual_start_ns = options.manual_start.count();
        native.thread_name = options.thread_name;
        native.allocator = options.allocator;
        native.observe = options.observe;
        native.event_count = options.event_count;
        if (options.executor || options.exception_handler) {
            std::unique_ptr<hooks> &made = native_.get_deleter().kept;
            made.reset(new (std::nothrow) hooks);
            if (!made)
                return -ENOMEM;
            made->handler = std::move(options.exception_handler);
            made->executor = std::move(options.executor);
            executor.execute = &hooks::execute;
            executor.context = made.get();
            if (made->executor)
                native.executor = &executor;
        }
        return htw_scheduler_create(detail::into(native_), &native);
    }

    const exception_handler *handler() const noexcept {
        const std::unique_ptr<hooks> &kept = native_.get_deleter().kept;
        return kept && kept->handler ? &kept->handler : nullptr;
    }

    template <class F>
    timer start(when time, const timer_options &options, F &&callback, const failure_to &error,
                const place &where) {
        htw_handle handle = 0;
        error.report(arm(time, options, std::forward<F>(callback), where, handle));
        return timer(native(), handle);
    }

    template <class F>
    int arm(when time, const timer_options &options, F &&callback, const place &where,
            htw_handle &ret_handle) {
        if (time.refusal != 0)
            return time.refusal;
        // A group that was moved from is not the same as none.
        if (options.slack.count() < 0 || (options.group != nullptr && !*options.group))
            return -EINVAL;
        if (time.absolute && options.clock != clock::by_default && options.clock != time.clock)
            return -EINVAL;
        htw_spec spec = HTW_SPEC_INIT;
        spec.when_ns = time.ns;
        spec.latest_ns = detail::add_ns(time.ns, options.slack.count());
        spec.absolute = time.absolute;
        spec.period_ns = options.period.count();
        spec.repeat = static_cast<htw_repeat>(options.repeat);
        spec.clock = static_cast<htw_clock>(time.absolute ? time.clock : options.clock);
        fill_common(spec, options);
        return detail::schedule(handler(), spec, std::forward<F>(callback), [&]() noexcept {
            spec.site = detail::site_of<std::decay_t<F>>(spec.callback, options.name, where);
            return htw_schedule_spec(native(), &spec, &ret_handle, nullptr);
        });
    }

    /* What the specs of all timers have. */
    template <class Spec, class Options>
    static void fill_common(Spec &spec, const Options &options) noexcept {
        spec.key = options.key.data();
        spec.key_size = options.key.size();
        spec.keep_existing = options.keep_existing;
        spec.group = options.group != nullptr ? options.group->native() : nullptr;
    }

    template <class F>
    int arm_calendar(const calendar &calendar, const calendar_options &options, F &&callback,
                     const place &where, htw_handle &ret_handle);

    int move_to(const timer &timer, when time) noexcept {
        htw_timer_info its;
        const int result =
            timer ? htw_scheduler_timer_info(native(), timer.handle(), &its) : -ENOENT;
        if (result == -ENOENT)
            return HTW_GONE;
        if (result == 0 && its.clock != static_cast<htw_clock>(time.clock))
            return -EINVAL;
        return htw_reschedule_at(native(), timer.handle(), time.ns);
    }

#if HTW_CPP_COROUTINES
    sleep awaitable(when time, const failure_to &error, const place &where) noexcept {
        return sleep(native(), handler(), time.ns, time.absolute,
                     static_cast<htw_clock>(time.clock), error.code(), where);
    }
#endif

    static void count_one(void *context, const htw_unexpired *) noexcept {
        ++*static_cast<std::uint64_t *>(context);
    }

    /* Keeps what the callbacks refer to until the scheduler is destroyed. */
    struct destroyer {
        std::unique_ptr<hooks> kept;

        void operator()(htw_scheduler *native) noexcept {
            int result = htw_scheduler_destroy(native);
            if (result == -EDEADLK)
                std::terminate(); // the threads of the scheduler would use what is destroyed next
            if (result == -EOWNERDEAD)
                static_cast<void>(kept.release()); // a callback below this call may need them
        }
    };

    std::unique_ptr<htw_scheduler, destroyer> native_;
};

inline group::group(scheduler &scheduler, failure_to error) {
    error.report(htw_group_create(scheduler.native(), detail::into(native_)));
}

} // namespace htw

#endif // HTW_CPP_SCHEDULER_HPP
