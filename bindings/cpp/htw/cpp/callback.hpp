/* SPDX-License-Identifier: MIT */
/*
 * htw/cpp/callback.hpp - C++ callables as callbacks of the C functions.
 *
 * A callable is moved to a block of its own, which is the argument of the timer. The release hook of
 * the timer deletes the block: exactly once, in whichever way the timer ends. A small callable needs
 * no block: its bytes are the argument.
 */
#ifndef HTW_CPP_CALLBACK_HPP
#define HTW_CPP_CALLBACK_HPP

#include <htw/cpp/error.hpp>
#include <htw/cpp/time.hpp>

#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace htw {

/** What has become of a timer; see enum htw_outcome. */
enum class outcome {
    gone = HTW_GONE,           ///< it has ended, or the object is empty
    cancelled = HTW_CANCELLED, ///< its callback does not run (again)
    running = HTW_RUNNING,     ///< its callback is running; after a cancel, for the last time
    moved = HTW_MOVED          ///< it has its new deadline or period
};

namespace detail {

inline outcome report_outcome(int result, const failure_to &error) {
    return error.report(result) < 0 ? outcome::gone : static_cast<outcome>(result);
}

} // namespace detail

/** Receives the exceptions of callbacks, in the threads of the callbacks. Must not throw. */
using exception_handler = std::function<void(std::exception_ptr)>;

/** What a callback learns about its run, as struct htw_expiration. Valid until it returns. */
class expiration {
  public:
    explicit expiration(const htw_expiration &native) noexcept : native_(&native) {
    }

    /** The time from the deadline to the start of the callback; at least 0. */
    std::chrono::nanoseconds late() const noexcept {
        return std::chrono::nanoseconds(native_->late_ns);
    }

    /** The deadline of this run, since the epoch of the timer's clock. */
    std::chrono::nanoseconds deadline() const noexcept {
        return std::chrono::nanoseconds(native_->deadline_ns);
    }

    /** The clock of the timer; not clock::by_default. */
    htw::clock clock() const noexcept {
        return static_cast<htw::clock>(native_->clock);
    }

    /** Periods skipped since the previous run (repeat::skip). */
    std::uint64_t missed() const noexcept {
        return native_->missed;
    }

    htw_handle handle() const noexcept {
        return native_->handle;
    }

    /** Makes this timer run again after a delay, with the same callable. */
    template <class Rep, class Period>
    outcome reschedule(std::chrono::duration<Rep, Period> delay, failure_to error = {}) const {
        return detail::report_outcome(
            htw_reschedule(native_->scheduler, native_->handle, detail::to_ns(delay)), error);
    }

    /** Makes this run of a repeating timer the last one, and undoes reschedule(). */
    void cancel() const noexcept {
        int outcome = htw_cancel(native_->scheduler, native_->handle);
        static_cast<void>(outcome);
    }

    const htw_expiration *native() const noexcept {
        return native_;
    }

  private:
    const htw_expiration *native_;
};

namespace detail {

/* Whether a callable takes an expiration; otherwise it takes nothing. */
template <class F>
inline constexpr bool takes_expiration = std::is_invocable_v<F &, const expiration &>;

template <class F>
inline constexpr bool is_callback = takes_expiration<F> || std::is_invocable_v<F &>;

template <class F> constexpr bool never_throws() noexcept {
    if constexpr (takes_expiration<F>)
        return std::is_nothrow_invocable_v<F &, const expiration &>;
    else
        return std::is_nothrow_invocable_v<F &>;
}

/* Whether the bytes of a callable can be the argument of a timer. Each run calls a copy, so the
   callable must not change itself: it must be callable when it is const. */
template <class F>
inline constexpr bool
    is_small = std::is_trivially_copyable_v<F> &&std::is_trivially_destructible_v<F> &&
               sizeof(F) <= sizeof(void *) && alignof(F) <= alignof(void *) &&
               is_callback<const F> &&takes_expiration<const F> == takes_expiration<F>;

/* A callable that cannot be called is refused when it is scheduled. */
template <class F> bool is_null(const F &) noexcept {
    return false;
}
template <class R, class... Args> bool is_null(R (*const &function)(Args...)) noexcept {
    return function == nullptr;
}
template <class R, class... Args> bool is_null(R (*const &function)(Args...) noexcept) noexcept {
    return function == nullptr;
}
template <class S> bool is_null(const std::function<S> &function) noexcept {
    return !function;
}

template <class F> void invoke(F &callable, const htw_expiration *native) {
    if constexpr (takes_expiration<F>)
        static_cast<void>(std::invoke(callable, expiration(*native)));
    else
        static_cast<void>(std::invoke(callable));
}

/* Calls `call()`. Its exceptions go to the handler; without one, they end the program. */
template <class Call> void guard(const exception_handler *handler, Call &&call) noexcept {
#if HTW_CPP_EXCEPTIONS
    if (handler != nullptr) {
        try {
            call();
        } catch (...) {
            (*handler)(std::current_exception());
        }
        return;
    }
#else
    static_cast<void>(handler);
#endif
    call();
}

/* The block of a callable. */
template <class F> struct block {
    template <class G>
    block(const exception_handler *exception_handler, G &&callable)
        : handler(exception_handler), function(std::forward<G>(callable)) {
    }

    static void run(void *arg, const htw_expiration *native) noexcept {
        block *self = static_cast<block *>(arg);
        guard(self->handler, [&] { invoke(self->function, native); });
    }

    static void release(void *arg) noexcept {
        delete static_cast<block *>(arg);
    }

    const exception_handler *handler;
    F function;
};

template <class F> void *to_arg(const F &callable) noexcept {
    void *arg = nullptr;
    if constexpr (!std::is_empty_v<F>)
        std::memcpy(&arg, std::addressof(callable), sizeof(F));
    return arg;
}

template <class F> void run_small(void *arg, const htw_expiration *native) noexcept {
    alignas(F) unsigned char bytes[sizeof(F)] = {};
    std::memcpy(bytes, &arg, sizeof(F));
    invoke(*std::launder(reinterpret_cast<const F *>(bytes)), native);
}

/* Schedules a callable: sets callback, argument and release hook of `spec`, a htw_spec or
   htw_calendar_spec, and calls `submit()`, which passes it to the C function. Throws what the
   constructor of the callable throws; has no effect then, or if the result is an error, but that the
   callable may have been moved from. */
template <class Spec, class G, class Submit>
int schedule(const exception_handler *handler, Spec &spec, G &&callable, Submit &&submit) {
    using F = std::decay_t<G>;
    static_assert(is_callback<F>, "a callback takes nothing, or a const htw::expiration &");
    const F *pointer = nullptr;
    if constexpr (std::is_same_v<std::remove_cv_t<std::remove_reference_t<G>>, F>)
        pointer = std::addressof(callable);
    if (pointer != nullptr && is_null(*pointer))
        return -EINVAL;
    if constexpr (is_small<F>) {
        if (never_throws<const F>() || handler == nullptr) {
            spec.callback = &run_small<F>;
            const F copy(std::forward<G>(callable));
            spec.arg = to_arg(copy);
            return submit();
        }
    }
    block<F> *arg = new (std::nothrow) block<F>(handler, std::forward<G>(callable));
    if (arg == nullptr)
        return -ENOMEM;
    spec.callback = &block<F>::run;
    spec.release = &block<F>::release;
    spec.arg = arg;
    int result = submit();
    if (result != 0)
        block<F>::release(arg);
    return result;
}

} // namespace detail
} // namespace htw

#endif // HTW_CPP_CALLBACK_HPP
