/* SPDX-License-Identifier: MIT */
/*
 * htw/cpp/sleep.hpp - what scheduler::after() and at() return: co_await suspends a coroutine until a
 * deadline. C++20, where the compiler has coroutines (HTW_CPP_COROUTINES is 1).
 *
 * How a wait ends: a sleeper, a small block of memory, belongs to the timer and refers to the
 * coroutine. Three may race for the coroutine: the callback, which resumes it; the release hook,
 * which resumes it if the timer ended without a run; and the destructor of a suspended coroutine. The
 * first to change the state of the sleeper wins. The others do not touch the coroutine, whose frame
 * may be gone. The hook comes last, exactly once, and deletes the sleeper.
 */
#ifndef HTW_CPP_SLEEP_HPP
#define HTW_CPP_SLEEP_HPP

#include <htw/cpp/callback.hpp>
#include <htw/cpp/place.hpp>

#if defined(__cpp_impl_coroutine) && defined(__has_include)
#if __has_include(<coroutine>)
#include <coroutine>
#endif
#endif

#if defined(__cpp_impl_coroutine) && defined(__cpp_lib_coroutine)
#define HTW_CPP_COROUTINES 1
#else
#define HTW_CPP_COROUTINES 0
#endif

#if HTW_CPP_COROUTINES
#include <atomic>

namespace htw {

namespace detail {

struct sleeper {
    enum class state { suspended, resumed, destroyed };

    std::atomic<state> now { state::suspended };
    std::coroutine_handle<> coroutine;
    int *result; /* in the coroutine: set before it is resumed */
    const exception_handler *handler;

    bool claim(state next) noexcept {
        state expected = state::suspended;
        return now.compare_exchange_strong(expected, next);
    }

    static void run(void *arg, const htw_expiration *) {
        sleeper *self = static_cast<sleeper *>(arg);
        if (!self->claim(state::resumed))
            return;
        *self->result = 0;
        guard(self->handler, [self] { self->coroutine.resume(); });
    }

    static void release(void *arg) noexcept {
        sleeper *self = static_cast<sleeper *>(arg);
        if (self->claim(state::resumed)) {
            *self->result = -ECANCELED;
            guard(self->handler, [self] { self->coroutine.resume(); });
        }
        delete self;
    }
};

} // namespace detail

/**
 * What `co_await scheduler.after(delay)` and `at(time_point)` wait for.
 *
 * The coroutine continues in the thread that runs the callback: a thread of the scheduler, or one in
 * scheduler::process() or advance(). Even a delay of 0 suspends it.
 *
 * If the timer ends without a run, because the scheduler is stopped or destroyed,
 * the coroutine continues at once, in the thread that ended the timer, and co_await
 * fails with std::errc::operation_canceled. (Then, and if the scheduler refuses the timer, it throws
 * std::system_error, or sets the std::error_code that after() or at() were given.) A further
 * co_await fails with ESHUTDOWN, without suspending: the coroutine can end. Do not wait for another
 * thread there. Its exceptions must not leave it there, unless the scheduler has an exception
 * handler: they end the program.
 *
 * A suspended coroutine may be destroyed: that cancels its timer and does not block. As with every
 * coroutine, one that is running must not be destroyed. In a scheduler with threads it may be
 * resumed at any moment, so destroy it in one of its callbacks only if that cannot run at the same
 * time: with one worker, embedded or with manual time. A destruction that comes too late, and is
 * noticed, ends the program (std::terminate).
 *
 * Allocates a block of four words, besides the timer, which has a release hook.
 */
class [[nodiscard]] sleep {
  public:
    sleep(htw_scheduler *scheduler, const exception_handler *handler, std::int64_t when_ns,
          bool absolute, htw_clock clock, std::error_code *error,
          const place &where = place::current()) noexcept
        : scheduler_(scheduler), handler_(handler), when_ns_(when_ns), absolute_(absolute),
          clock_(clock), error_(error), where_(where) {
    }

    sleep(const sleep &) = delete;
    sleep &operator=(const sleep &) = delete;

    ~sleep() {
        if (sleeper_ == nullptr)
            return;
        if (!sleeper_->claim(detail::sleeper::state::destroyed))
            std::terminate(); // the coroutine is running in another thread
        int outcome = htw_cancel(scheduler_, handle_);
        static_cast<void>(outcome);
    }

    bool await_ready() const noexcept {
        return result_ != 0;
    }

    /* After the timer is scheduled, another thread may have resumed the coroutine and destroyed
       this. */
    bool await_suspend(std::coroutine_handle<> coroutine) noexcept {
        detail::sleeper *sleeper = new (std::nothrow) detail::sleeper;
        if (sleeper == nullptr) {
            result_ = -ENOMEM;
            return false;
        }
        sleeper->coroutine = coroutine;
        sleeper->result = &result_;
        sleeper->handler = handler_;
        sleeper_ = sleeper;
        htw_spec spec = HTW_SPEC_INIT;
        spec.callback = &detail::sleeper::run;
        spec.release = &detail::sleeper::release;
        spec.arg = sleeper;
        spec.when_ns = when_ns_;
        spec.absolute = absolute_;
        spec.clock = clock_;
        spec.site = detail::site_of<detail::sleeper>(spec.callback, nullptr, where_);
        int result = htw_schedule_spec(scheduler_, &spec, &handle_, nullptr);
        if (result == 0)
            return true;
        delete sleeper;
        result_ = result;
        return false;
    }

    void await_resume() {
        sleeper_ = nullptr;
        if (error_ != nullptr)
            *error_ = make_error(result_);
        else
            detail::check(result_);
    }

  private:
    htw_scheduler *scheduler_;
    const exception_handler *handler_;
    std::int64_t when_ns_;
    bool absolute_;
    htw_clock clock_;
    int result_ = 0;
    std::error_code *error_;
    place where_;
    detail::sleeper *sleeper_ = nullptr;
    htw_handle handle_ = 0;
};

} // namespace htw

#endif // HTW_CPP_COROUTINES
#endif // HTW_CPP_SLEEP_HPP
