/* SPDX-License-Identifier: MIT */
/* htw/cpp/purgatory.hpp - the purgatory and the thresholds of htw/purgatory.h, for requests of one
   class. */
#ifndef HTW_CPP_PURGATORY_HPP
#define HTW_CPP_PURGATORY_HPP

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
    /** Throws on failure. */
    explicit purgatory(scheduler &scheduler, purgatory_options options = purgatory_options()) {
        const char *invalid = nullptr;
        const int result = create(scheduler, std::move(options), &invalid);
        detail::check(result, invalid);
    }

    /** Empty on failure. */
    purgatory(scheduler &scheduler, purgatory_options options, std::error_code &error) noexcept {
        error = make_error(create(scheduler, std::move(options)));
    }

    purgatory(purgatory &&other) noexcept
        : native_(std::exchange(other.native_, nullptr)), handler_(std::move(other.handler_)) {
    }

    /** Destroys the purgatory that this object owned. */
    purgatory &operator=(purgatory &&other) noexcept {
        purgatory moved(std::move(other));
        std::swap(native_, moved.native_);
        std::swap(handler_, moved.handler_);
        return *this;
    }

    ~purgatory() {
        int result = htw_purgatory_destroy(native_);
        if (result == -EDEADLK || result == -EBUSY)
            std::terminate(); // hooks and thresholds would use what is destroyed next
        if (result == -EOWNERDEAD)
            static_cast<void>(handler_.release()); // a hook below this call may need it
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
                                       std::chrono::duration<Rep, Period> timeout) {
        return detail::to_submission(detail::check(watch(request, nullptr, keys, timeout)));
    }

    template <class Rep, class Period>
    submission try_complete_else_watch(T &request, const keys &keys,
                                       std::chrono::duration<Rep, Period> timeout,
                                       std::error_code &error) noexcept {
        int result = watch(request, nullptr, keys, timeout);
        error = make_error(result);
        return detail::to_submission(result);
    }

    /** The same; the purgatory keeps the request alive until it has ended. */
    template <class Rep, class Period>
    submission try_complete_else_watch(std::shared_ptr<T> request, const keys &keys,
                                       std::chrono::duration<Rep, Period> timeout) {
        return detail::to_submission(detail::check(watch(std::move(request), keys, timeout)));
    }

    template <class Rep, class Period>
    submission try_complete_else_watch(std::shared_ptr<T> request, const keys &keys,
                                       std::chrono::duration<Rep, Period> timeout,
                                       std::error_code &error) noexcept {
        int result = watch(std::move(request), keys, timeout);
        error = make_error(result);
        return detail::to_submission(result);
    }

    /** Ends a request with reason::completed, without try_complete(); see htw_request_complete().
        It must exist, and have been submitted to this purgatory. */
    bool complete(T &request) noexcept {
        return htw_request_complete(native_, detail::native_of(request));
    }

    /** Ends a request with reason::cancelled; see htw_request_cancel(). Otherwise as complete(). */
    bool cancel(T &request) noexcept {
        return htw_request_cancel(native_, detail::native_of(request));
    }

    /** Gives a request that waits another timeout, and returns whether it has it; see
        htw_request_set_timeout(). false: no timeout of the request is running. Throws on failure. */
    template <class Rep, class Period>
    bool set_timeout(T &request, std::chrono::duration<Rep, Period> timeout) {
        std::error_code error;
        bool changed = set_timeout(request, timeout, error);
        if (error)
            detail::raise(-error.value());
        return changed;
    }

    template <class Rep, class Period>
    bool set_timeout(T &request, std::chrono::duration<Rep, Period> timeout,
                     std::error_code &error) noexcept {
        int result =
            htw_request_set_timeout(native_, detail::native_of(request), detail::to_ns(timeout));
        error = make_error(result == -ENOENT ? 0 : result);
        return result == 0;
    }

    /* ---- events */

    /** Reports an event on a key: asks the requests that wait on it, and returns how many have ended;
        see htw_purgatory_check(). Throws on failure: this is empty, or of the parent process. */
    std::uint64_t check(const key &key) {
        return detail::check_count(htw_purgatory_check(native_, key.bytes, key.size));
    }

    std::uint64_t check(const key &key, std::error_code &error) noexcept {
        return detail::report_count(htw_purgatory_check(native_, key.bytes, key.size), error);
    }

    /** As check(), but stops when `max` requests have ended; see htw_purgatory_check_at_most(). */
    std::uint64_t check_at_most(const key &key, std::uint64_t max) {
        return detail::check_count(htw_purgatory_check_at_most(native_, key.bytes, key.size, max));
    }

    std::uint64_t check_at_most(const key &key, std::uint64_t max,
                                std::error_code &error) noexcept {
        return detail::report_count(htw_purgatory_check_at_most(native_, key.bytes, key.size, max),
                                    error);
    }

    /** Schedules a check in a callback of the scheduler, and runs no hook in this call; see
        htw_purgatory_check_later(). Throws on failure: no check will be made. */
    void check_later(const key &key) {
        detail::check(htw_purgatory_check_later(native_, key.bytes, key.size));
    }

    void check_later(const key &key, std::error_code &error) noexcept {
        error = make_error(htw_purgatory_check_later(native_, key.bytes, key.size));
    }

    /** Ends all requests on a key with reason::cancelled, and returns how many; see
        htw_purgatory_cancel_key(). Throws on failure. */
    std::uint64_t cancel_key(const key &key) {
        return detail::check_count(
            htw_purgatory_cancel_key(native_, key.bytes, key.size, nullptr, nullptr));
    }

    /** The same. `visitor(T &)` is called for each request that this call ends, before its
        on_complete(). */
    template <class Visitor> std::uint64_t cancel_key(const key &key, Visitor &&visitor) {
        detail::visit<T, std::remove_reference_t<Visitor>> visit { handler_.get(), visitor };
        return detail::check_count(
            htw_purgatory_cancel_key(native_, key.bytes, key.size, &visit.call, &visit));
    }

    /** How many requests wait on a key; 0 if this is empty. See htw_purgatory_count_key(). */
    std::uint64_t count_key(const key &key) const noexcept {
        std::int64_t count = htw_purgatory_count_key(native_, key.bytes, key.size);
        return count < 0 ? 0 : static_cast<std::uint64_t>(count);
    }

    /* ---- life */

    /** Ends all requests with reason::closed, refuses new ones, and returns how many; see
        htw_purgatory_close(). Does not wait. Throws on failure. */
    std::uint64_t close() {
        return detail::check_count(htw_purgatory_close(native_, nullptr, nullptr));
    }

    /** The same, with a visitor as that of cancel_key(). */
    template <class Visitor> std::uint64_t close(Visitor &&visitor) {
        detail::visit<T, std::remove_reference_t<Visitor>> visit { handler_.get(), visitor };
        return detail::check_count(htw_purgatory_close(native_, &visit.call, &visit));
    }

    /** The statistics; see htw_purgatory_get_stats(). Throws on failure. */
    htw_purgatory_stats stats() const {
        htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
        detail::check(htw_purgatory_get_stats(native_, &stats));
        return stats;
    }

    htw_purgatory *native() const noexcept {
        return native_;
    }

  private:
    friend class threshold<T>;
    using hooks = detail::hooks<T>;

    int create(scheduler &scheduler, purgatory_options &&options,
               const char **invalid = nullptr) noexcept {
        htw_purgatory_options native = HTW_PURGATORY_OPTIONS_INIT;
        if constexpr (hooks::has_try_complete)
            native.try_complete = &hooks::try_complete;
        native.on_complete = &hooks::on_complete;
        native.release = &hooks::release;
        native.shards = options.shards;
        native.allocator = options.allocator;
        native.name = options.name;
        if (options.exception_handler) {
            handler_.reset(new (std::nothrow)
                               exception_handler(std::move(options.exception_handler)));
            if (!handler_)
                return -ENOMEM;
            native.context = handler_.get();
        }
        const int result = htw_purgatory_create(&native_, scheduler.native(), &native);
        if (invalid != nullptr && result == -EINVAL)
            *invalid = htw_purgatory_options_invalid(&native);
        return result;
    }

    template <class Rep, class Period>
    int watch(T &request, std::shared_ptr<T> owner, const keys &keys,
              std::chrono::duration<Rep, Period> timeout) noexcept {
        return hooks::submit(request, std::move(owner), [&](htw_request *native) {
            return htw_purgatory_try_complete_else_watch(native_, native, keys.data(), keys.size(),
                                                         detail::to_ns(timeout));
        });
    }

    template <class Rep, class Period>
    int watch(std::shared_ptr<T> request, const keys &keys,
              std::chrono::duration<Rep, Period> timeout) noexcept {
        T *object = request.get();
        return object == nullptr ? -EINVAL : watch(*object, std::move(request), keys, timeout);
    }

    htw_purgatory *native_ = nullptr;
    /* What the hooks refer to. Does not move with the purgatory. */
    std::unique_ptr<exception_handler> handler_;
};

/**
 * A value that grows, and requests that wait until it has reached theirs; see htw_threshold_create().
 *
 *     htw::threshold watermark(purgatory, 0);
 *     watermark.await(produce, produce.offset, 30s);
 *     watermark.advance(offset);
 *
 * The destructor ends its requests with reason::closed, and waits as that of the purgatory. In a hook
 * of the purgatory it ends the program (std::terminate). A threshold must be destroyed before its
 * purgatory.
 *
 * Threads: any, also in hooks, except moves and the destructor.
 */
template <class T> class threshold {
  public:
    /** Empty. */
    threshold() noexcept = default;

    /** Throws on failure. */
    explicit threshold(purgatory<T> &purgatory, std::uint64_t initial = 0)
        : handler_(purgatory.handler_.get()) {
        detail::check(htw_threshold_create(purgatory.native(), initial, &native_));
    }

    /** Empty on failure. */
    threshold(purgatory<T> &purgatory, std::uint64_t initial, std::error_code &error) noexcept
        : handler_(purgatory.handler_.get()) {
        error = make_error(htw_threshold_create(purgatory.native(), initial, &native_));
    }

    threshold(threshold &&other) noexcept
        : native_(std::exchange(other.native_, nullptr)), handler_(other.handler_) {
    }

    /** Destroys the threshold that this object owned. */
    threshold &operator=(threshold &&other) noexcept {
        threshold moved(std::move(other));
        std::swap(native_, moved.native_);
        std::swap(handler_, moved.handler_);
        return *this;
    }

    ~threshold() {
        if (htw_threshold_destroy(native_) == -EDEADLK)
            std::terminate();
    }

    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /** Submits a request that is completed when the threshold has reached `value`; see
        htw_threshold_await(). Otherwise as purgatory::try_complete_else_watch(). */
    template <class Rep, class Period>
    submission await(T &request, std::uint64_t value, std::chrono::duration<Rep, Period> timeout) {
        return detail::to_submission(detail::check(submit(request, nullptr, value, timeout)));
    }

    template <class Rep, class Period>
    submission await(T &request, std::uint64_t value, std::chrono::duration<Rep, Period> timeout,
                     std::error_code &error) noexcept {
        int result = submit(request, nullptr, value, timeout);
        error = make_error(result);
        return detail::to_submission(result);
    }

    template <class Rep, class Period>
    submission await(std::shared_ptr<T> request, std::uint64_t value,
                     std::chrono::duration<Rep, Period> timeout) {
        return detail::to_submission(detail::check(submit(std::move(request), value, timeout)));
    }

    template <class Rep, class Period>
    submission await(std::shared_ptr<T> request, std::uint64_t value,
                     std::chrono::duration<Rep, Period> timeout, std::error_code &error) noexcept {
        int result = submit(std::move(request), value, timeout);
        error = make_error(result);
        return detail::to_submission(result);
    }

    /** Raises the value, completes the requests that it reaches, and returns how many; see
        htw_threshold_advance(). Throws on failure. */
    std::uint64_t advance(std::uint64_t value) {
        return detail::check_count(htw_threshold_advance(native_, value));
    }

    std::uint64_t advance(std::uint64_t value, std::error_code &error) noexcept {
        return detail::report_count(htw_threshold_advance(native_, value), error);
    }

    /** Lowers the value, and ends no request; see htw_threshold_lower(). Throws on failure. */
    void lower(std::uint64_t value) {
        detail::check(htw_threshold_lower(native_, value));
    }

    /** Ends all requests, and returns how many; see htw_threshold_end_all(). Throws on failure. */
    std::uint64_t end_all(reason reason) {
        return detail::check_count(
            htw_threshold_end_all(native_, static_cast<htw_reason>(reason), nullptr, nullptr));
    }

    /** The same, with a visitor as that of purgatory::cancel_key(). */
    template <class Visitor> std::uint64_t end_all(reason reason, Visitor &&visitor) {
        detail::visit<T, std::remove_reference_t<Visitor>> visit { handler_, visitor };
        return detail::check_count(
            htw_threshold_end_all(native_, static_cast<htw_reason>(reason), &visit.call, &visit));
    }

    std::uint64_t value() const noexcept {
        return htw_threshold_value(native_);
    }

    htw_threshold *native() const noexcept {
        return native_;
    }

  private:
    template <class Rep, class Period>
    int submit(T &request, std::shared_ptr<T> owner, std::uint64_t value,
               std::chrono::duration<Rep, Period> timeout) noexcept {
        return detail::hooks<T>::submit(request, std::move(owner), [&](htw_request *native) {
            return htw_threshold_await(native_, native, value, detail::to_ns(timeout));
        });
    }

    template <class Rep, class Period>
    int submit(std::shared_ptr<T> request, std::uint64_t value,
               std::chrono::duration<Rep, Period> timeout) noexcept {
        T *object = request.get();
        return object == nullptr ? -EINVAL : submit(*object, std::move(request), value, timeout);
    }

    htw_threshold *native_ = nullptr;
    const exception_handler *handler_ = nullptr;
};

} // namespace htw

#endif // HTW_CPP_PURGATORY_HPP
