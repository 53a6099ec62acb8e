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

/**
 * A scope that the constructor enters and the destructor exits; see htw/scope.h. It may have ended at once: an `if`
 * of it tells whether it has time left.
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
        : scope(scheduler.native(), scheduler.handler(), std::move(ended)) {
        error.report(enter(nullptr, detail::to_ns(delay)));
    }

    template <class Rep, class Period>
    scope(scope &parent, std::chrono::duration<Rep, Period> delay, callback ended = {},
          failure_to error = {})
        : scope(parent.scheduler_, parent.handler_, std::move(ended)) {
        error.report(enter(&parent, detail::to_ns(delay)));
    }

    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

    ~scope() {
        if (htw_scope_exit(this) == -EDEADLK)
            std::terminate(); // a callback that uses this is running
    }

    /** Whether it was entered, has not ended and has time left. */
    explicit operator bool() const noexcept {
        return htw_scope_left_ns(this) > 0;
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

  private:
    friend class scope_sleep;

    scope(htw_scheduler *scheduler, const exception_handler *handler, callback &&ended) noexcept
        : htw_scope {}, scheduler_(scheduler), handler_(handler), callback_(std::move(ended)) {
    }

    /* When it returns, the callback may have run in another thread, and have destroyed the scope. */
    int enter(htw_scope *parent, std::int64_t delay_ns) noexcept {
        return htw_scope_enter(this, scheduler_, parent, delay_ns,
                               callback_ ? &scope::run : nullptr);
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
};

#if HTW_CPP_COROUTINES
/**
 * Suspends a coroutine for a delay, or until a scope ends. It is a scope in that one, whose end continues the coroutine.
 *
 *     if (!co_await htw::scope_sleep(rpc, 50ms))
 *         co_return; // the rpc has ended, or had
 *
 * The coroutine continues in the thread that ends the scope. It does not suspend if the delay is 0 or the scope has
 * ended. Otherwise as class sleep, except that a scheduler that is stopped continues it no more: end the scope.
 */
class [[nodiscard]] scope_sleep : private scope {
  public:
    template <class Rep, class Period>
    scope_sleep(scope &parent, std::chrono::duration<Rep, Period> delay) noexcept
        : scope(parent.scheduler_, parent.handler_, {}), parent_(parent),
          delay_ns_(detail::to_ns(delay)) {
    }

    ~scope_sleep() {
        if (suspended_ && htw_scope_exit(native()) > HTW_SCOPE_OPEN)
            std::terminate(); // the coroutine is running in another thread
    }

    bool await_ready() const noexcept {
        return false;
    }

    /* When enter() returns, another thread may have resumed the coroutine, which may have destroyed this. */
    bool await_suspend(std::coroutine_handle<> coroutine) {
        callback_ = [coroutine](scope_end) { coroutine.resume(); };
        suspended_ = true;
        return detail::check(enter(parent_.native(), delay_ns_)) == HTW_SCOPE_OPEN;
    }

    bool await_resume() noexcept {
        suspended_ = false;
        return why() == scope_end::deadline;
    }

  private:
    scope &parent_;
    std::int64_t delay_ns_;
    bool suspended_ = false;
};
#endif

} // namespace htw

#endif // HTW_CPP_SCOPE_HPP
