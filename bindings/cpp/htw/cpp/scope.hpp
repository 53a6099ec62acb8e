/* SPDX-License-Identifier: MIT */
/* htw/cpp/scope.hpp - scopes, whose deadlines propagate from an operation to all that it starts, and co_await in one. */
#ifndef HTW_CPP_SCOPE_HPP
#define HTW_CPP_SCOPE_HPP

#include <htw/cpp/scheduler.hpp>
#include <htw/scope.h>

#include <functional>
#include <utility>

namespace htw {

/** Whether, and why, a scope has ended; see enum htw_scope_end. */
enum class scope_end {
    open = HTW_SCOPE_OPEN,           ///< it has not ended
    deadline = HTW_SCOPE_DEADLINE,   ///< its own deadline has passed
    cancelled = HTW_SCOPE_CANCELLED, ///< cancel(), or it was destroyed before its end
    parent = HTW_SCOPE_PARENT        ///< its parent has ended
};

class scope_sleep;

/**
 * A scope that the constructor enters and the destructor exits; see htw/scope.h. It may have ended at once: an `if`
 * of it tells whether it is open.
 *
 *     htw::scope rpc(scheduler, 200ms);
 *     htw::scope query(rpc, 50ms, [&](htw::scope_end) { connection.abort(); });
 *     connection.send(question, query.left());
 *
 * The callback runs once, if the scope ends before it is destroyed, and not if it has ended at once. It may destroy
 * the scope. Its exceptions go to the exception handler of the scheduler. The destructor waits for a callback in
 * another thread, as that of a timer; in a cycle of such waits it ends the program (std::terminate). A scope cannot be
 * moved, and must be destroyed before its scheduler.
 */
class scope : private htw_scope {
  public:
    using callback = std::function<void(scope_end)>;

    /** On failure it was not entered, or the constructor throws. htw::never: it has no deadline of its own. */
    template <class Rep, class Period>
    scope(scheduler &scheduler, std::chrono::duration<Rep, Period> delay, callback ended = {},
          failure_to error = {})
        : scope(scheduler.native(), scheduler.handler(), nullptr, detail::to_ns(delay),
                std::move(ended), error) {
    }

    template <class Rep, class Period>
    scope(scope &parent, std::chrono::duration<Rep, Period> delay, callback ended = {},
          failure_to error = {})
        : scope(parent.scheduler_, parent.handler_, &parent, detail::to_ns(delay), std::move(ended),
                error) {
    }

    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

    ~scope() {
        if (htw_scope_exit(this) == -EDEADLK)
            std::terminate(); // a callback that uses this is running
    }

    /** Whether it was entered and has not ended. */
    explicit operator bool() const noexcept {
        return entered_ && why() == scope_end::open;
    }

    /** Ends the scope and all in it; false: it had ended. */
    bool cancel() noexcept {
        return htw_scope_cancel(this) == HTW_SCOPE_OPEN;
    }

    /** Gives the scope, and all in it, an earlier deadline; see htw_scope_shorten(). False: it had ended. */
    template <class Rep, class Period>
    bool shorten(std::chrono::duration<Rep, Period> delay, failure_to error = {}) {
        return error.report(htw_scope_shorten(this, detail::to_ns(delay))) == HTW_SCOPE_OPEN;
    }

    /** How much time is left; 0: none, or it has ended. */
    std::chrono::nanoseconds left() const noexcept {
        return std::chrono::nanoseconds(htw_scope_left_ns(this));
    }

    scope_end why() const noexcept {
        return static_cast<scope_end>(htw_scope_why(this));
    }

    /** Why the first scope has ended of those that have ended this one. */
    scope_end cause() const noexcept {
        return static_cast<scope_end>(htw_scope_cause(this));
    }

    htw_scope *native() noexcept {
        return this;
    }

#if HTW_CPP_COROUTINES
    /** `co_await scope.sleep(delay)`; see class scope_sleep. */
    template <class Rep, class Period>
    scope_sleep sleep(std::chrono::duration<Rep, Period> delay) noexcept;
#endif

  private:
    friend class scope_sleep;

    scope(htw_scheduler *scheduler, const exception_handler *handler, htw_scope *parent,
          std::int64_t delay_ns, callback &&ended, const failure_to &error)
        : htw_scope {}, scheduler_(scheduler), handler_(handler), callback_(std::move(ended)) {
        entered_ = error.report(htw_scope_enter(this, scheduler, parent, delay_ns,
                                                callback_ ? &scope::run : nullptr)) >= 0;
    }

    /* The callback may destroy the scope, and with it what is called. */
    static void run(htw_scope *native, htw_scope_end why) noexcept {
        scope *self = static_cast<scope *>(native);
        callback ended = std::move(self->callback_);
        detail::guard(self->handler_, [&] { ended(static_cast<scope_end>(why)); });
    }

    htw_scheduler *scheduler_;
    const exception_handler *handler_;
    callback callback_;
    bool entered_ = false;
};

#if HTW_CPP_COROUTINES
/**
 * What `co_await scope.sleep(delay)` waits for: a scope in that scope, whose end continues the coroutine. The value is
 * true if the delay is over, and false if the scope has ended first, or had ended.
 *
 * The coroutine continues in the thread that ends the scope. It does not suspend if the delay is 0 or the scope has
 * ended. Otherwise as class sleep, except that a scheduler that is stopped continues it no more: end the scope.
 */
class [[nodiscard]] scope_sleep : private htw_scope {
  public:
    scope_sleep(scope &parent, std::int64_t delay_ns) noexcept
        : htw_scope {}, parent_(parent), handler_(parent.handler_), delay_ns_(delay_ns) {
    }

    scope_sleep(const scope_sleep &) = delete;
    scope_sleep &operator=(const scope_sleep &) = delete;

    ~scope_sleep() {
        if (suspended_ && htw_scope_exit(this) != HTW_SCOPE_OPEN)
            std::terminate(); // the coroutine is running in another thread
    }

    bool await_ready() const noexcept {
        return false;
    }

    /* If the scope is open, another thread may have resumed the coroutine and destroyed this. */
    bool await_suspend(std::coroutine_handle<> coroutine) noexcept {
        coroutine_ = coroutine;
        suspended_ = true;
        int result = htw_scope_enter(this, parent_.scheduler_, parent_.native(), delay_ns_,
                                     &scope_sleep::resume);
        if (result == HTW_SCOPE_OPEN)
            return true;
        result_ = result;
        return false;
    }

    bool await_resume() {
        suspended_ = false;
        detail::check(result_);
        return htw_scope_exit(this) == HTW_SCOPE_DEADLINE;
    }

  private:
    static void resume(htw_scope *native, htw_scope_end) noexcept {
        scope_sleep *self = static_cast<scope_sleep *>(native);
        detail::guard(self->handler_,
                      [coroutine = self->coroutine_]() mutable { coroutine.resume(); });
    }

    scope &parent_;
    const exception_handler *handler_; // the parent may not exist any more
    std::int64_t delay_ns_;
    int result_ = 0;
    bool suspended_ = false;
    std::coroutine_handle<> coroutine_;
};

template <class Rep, class Period>
scope_sleep scope::sleep(std::chrono::duration<Rep, Period> delay) noexcept {
    return scope_sleep(*this, detail::to_ns(delay));
}
#endif

} // namespace htw

#endif // HTW_CPP_SCOPE_HPP
