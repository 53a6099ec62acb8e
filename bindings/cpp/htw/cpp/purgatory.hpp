/* SPDX-License-Identifier: MIT */
/* htw/cpp/purgatory.hpp - the purgatory of htw/purgatory.h, for requests of one class. */
#ifndef HTW_CPP_PURGATORY_HPP
#define HTW_CPP_PURGATORY_HPP

#include <htw/purgatory_inspect.h>
#include <htw/cpp/request.hpp>
#include <htw/cpp/scheduler.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace htw {

/** The options of a purgatory, as struct htw_purgatory_options. */
struct purgatory_options {
    std::uint32_t shards = 0;
    const htw_allocator *allocator = nullptr;
    const char *name = nullptr;
    /** Receives the exceptions of hooks and visitors, in their threads; a try_complete() that has
        thrown counts as false. Must not throw. Empty: they end the program (std::terminate). */
    htw::exception_handler exception_handler {};
};

template <class T> class threshold;

/**
 * Holds requests of class `T` until an event allows an answer, or until their timeout. `T` is derived
 * from htw::request, which says what it must have.
 *
 *     class fetch : public htw::request {
 *       public:
 *         bool try_complete();               // whether it can be completed now
 *         void on_complete(htw::reason reason);
 *     };
 *     htw::purgatory<fetch> purgatory(scheduler);
 *     purgatory.try_complete_else_watch(std::make_shared<fetch>(...), { "orders-3", "orders-4" },
 *                                       500ms);
 *     ...
 *     purgatory.check("orders-3");           // data has arrived for this key
 *
 * A request is submitted in one of two ways:
 *  - as a std::shared_ptr (or std::unique_ptr): the purgatory keeps it alive until it has ended. A
 *    program that wants to cancel it keeps a shared_ptr of its own.
 *  - by reference: the program keeps it alive until release() is called, or without that hook until
 *    is_pending() returns false. It may be a member of a longer-lived object, and takes no memory
 *    besides.
 *
 * Keys are bytes: anything that converts to std::string_view, or htw::key_bytes() of a number. Several
 * keys are written in braces, or come as any container of htw::key.
 *
 * The destructor ends all requests with reason::closed, and waits for hooks that run in threads of
 * the scheduler. In a hook of the same purgatory, or while it has thresholds, it ends the program
 * (std::terminate). Declare the purgatory after its scheduler, and its thresholds after it.
 *
 * Threads: any, also in hooks, except moves and the destructor. `T` may have virtual functions, for
 * several kinds of requests in one purgatory.
 */
template <class T> class purgatory {
  public:
    /** On failure this is empty, or the constructor throws. */
    explicit purgatory(scheduler &scheduler, purgatory_options options = purgatory_options(),
                       failure_to error = {}) {
        htw_purgatory_options native = HTW_PURGATORY_OPTIONS_INIT;
        if constexpr (hooks::has_try_complete)
            native.try_complete = &hooks::try_complete;
        native.on_complete = &hooks::on_complete;
        native.release = &hooks::release;
        native.shards = options.shards;
        native.allocator = options.allocator;
        native.name = options.name;
        int result = 0;
        if (options.exception_handler) {
            std::unique_ptr<exception_handler> &kept = native_.get_deleter().kept;
            kept.reset(new (std::nothrow) exception_handler(std::move(options.exception_handler)));
            native.context = kept.get();
            result = kept ? 0 : -ENOMEM;
        }
        if (result == 0)
            result = htw_purgatory_create(detail::into(native_), scheduler.native(), &native);
        error.report_refusal(result);
    }

    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /* ---- requests */

    /** Submits a request: completes it if that is possible now, otherwise lets it wait on keys with a
        timeout; see htw_purgatory_try_complete_else_watch(). After a failure it was not submitted,
        and no hook is called. std::errc::device_or_resource_busy: it is pending. */
    template <class Rep, class Period>
    submission try_complete_else_watch(T &request, const keys &keys,
                                       std::chrono::duration<Rep, Period> timeout,
                                       failure_to error = {}) {
        return detail::report_submission(watch(request, nullptr, keys, timeout), error);
    }

    /** The same; the purgatory keeps the request alive until it has ended. */
    template <class Rep, class Period>
    submission try_complete_else_watch(std::shared_ptr<T> request, const keys &keys,
                                       std::chrono::duration<Rep, Period> timeout,
                                       failure_to error = {}) {
        T *object = request.get();
        const int result =
            object == nullptr ? -EINVAL : watch(*object, std::move(request), keys, timeout);
        return detail::report_submission(result, error);
    }

    /** Ends a request with reason::completed, without try_complete(); see htw_request_complete().
        It must exist, and have been submitted to this purgatory. */
    bool complete(T &request) noexcept {
        return htw_request_complete(native(), detail::native_of(request));
    }

    /** Ends a request with reason::cancelled; see htw_request_cancel(). Otherwise as complete(). */
    bool cancel(T &request) noexcept {
        return htw_request_cancel(native(), detail::native_of(request));
    }

    /** Gives a request that waits another timeout, and returns whether it has it; see
        htw_request_set_timeout(). false: no timeout of the request is running. Throws on failure. */
    template <class Rep, class Period>
    bool set_timeout(T &request, std::chrono::duration<Rep, Period> timeout,
                     failure_to error = {}) {
        int result =
            htw_request_set_timeout(native(), detail::native_of(request), detail::to_ns(timeout));
        error.report(result == -ENOENT ? 0 : result);
        return result == 0;
    }

    /* ---- events */

    /** Reports an event on a key: asks the requests that wait on it, and returns how many have ended;
        see htw_purgatory_check(). Throws on failure: this is empty, or of the parent process. */
    std::uint64_t check(const key &key, failure_to error = {}) {
        return detail::report_count(htw_purgatory_check(native(), key.bytes, key.size), error);
    }

    /** As check(), but stops when `max` requests have ended; see htw_purgatory_check_at_most(). */
    std::uint64_t check_at_most(const key &key, std::uint64_t max, failure_to error = {}) {
        return detail::report_count(htw_purgatory_check_at_most(native(), key.bytes, key.size, max),
                                    error);
    }

    /** Schedules a check in a callback of the scheduler, and runs no hook in this call; see
        htw_purgatory_check_later(). After a failure no check will be made. */
    void check_later(const key &key, failure_to error = {}) {
        error.report(htw_purgatory_check_later(native(), key.bytes, key.size));
    }

    /** Ends all requests on a key with reason::cancelled, and returns how many; see
        htw_purgatory_cancel_key(). Throws on failure. */
    std::uint64_t cancel_key(const key &key) {
        return detail::report_count(
            htw_purgatory_cancel_key(native(), key.bytes, key.size, nullptr, nullptr));
    }

    /** The same. `visitor(T &)` is called for each request that this call ends, before its
        on_complete(). */
    template <class Visitor> std::uint64_t cancel_key(const key &key, Visitor &&visitor) {
        detail::visit<T, std::remove_reference_t<Visitor>> visit { handler(), visitor };
        return detail::report_count(
            htw_purgatory_cancel_key(native(), key.bytes, key.size, &visit.call, &visit));
    }

    /** How many requests wait on a key; 0 if this is empty. See htw_purgatory_count_key(). */
    std::uint64_t count_key(const key &key) const noexcept {
        std::int64_t count = htw_purgatory_count_key(native(), key.bytes, key.size);
        return count < 0 ? 0 : static_cast<std::uint64_t>(count);
    }

    /* ---- life */

    /** Ends all requests with reason::closed, refuses new ones, and returns how many; see
        htw_purgatory_close(). Does not wait. Throws on failure. */
    std::uint64_t close() {
        return detail::report_count(htw_purgatory_close(native(), nullptr, nullptr));
    }

    /** The same, with a visitor as that of cancel_key(). */
    template <class Visitor> std::uint64_t close(Visitor &&visitor) {
        detail::visit<T, std::remove_reference_t<Visitor>> visit { handler(), visitor };
        return detail::report_count(htw_purgatory_close(native(), &visit.call, &visit));
    }

    /** The statistics; see htw_purgatory_get_stats(). Throws on failure. */
    htw_purgatory_stats stats() const {
        htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
        detail::check(htw_purgatory_get_stats(native(), &stats));
        return stats;
    }

    htw_purgatory *native() const noexcept {
        return native_.get();
    }

  private:
    friend class threshold<T>;
    using hooks = detail::hooks<T>;

    template <class Rep, class Period>
    int watch(T &request, std::shared_ptr<T> owner, const keys &keys,
              std::chrono::duration<Rep, Period> timeout) noexcept {
        return hooks::submit(request, std::move(owner), [&](htw_request *raw) {
            return htw_purgatory_try_complete_else_watch(native(), raw, keys.data(), keys.size(),
                                                         detail::to_ns(timeout));
        });
    }

    /* Keeps what the hooks refer to until the purgatory is destroyed. */
    struct destroyer {
        std::unique_ptr<exception_handler> kept;

        void operator()(htw_purgatory *native) noexcept {
            int result = htw_purgatory_destroy(native);
            if (result == -EDEADLK || result == -EBUSY)
                std::terminate(); // hooks and thresholds would use what is destroyed next
            if (result == -EOWNERDEAD)
                static_cast<void>(kept.release()); // a hook below this call may need it
        }
    };

    const exception_handler *handler() const noexcept {
        return native_.get_deleter().kept.get();
    }

    std::unique_ptr<htw_purgatory, destroyer> native_;
};

} // namespace htw

#endif // HTW_CPP_PURGATORY_HPP
