/* SPDX-License-Identifier: MIT */
/* htw/cpp/threshold.hpp - the thresholds of htw/threshold.h, for requests of one class. */
#ifndef HTW_CPP_THRESHOLD_HPP
#define HTW_CPP_THRESHOLD_HPP

#include <htw/cpp/purgatory.hpp>
#include <htw/threshold.h>

namespace htw {

/**
 * A value that rises, and requests that wait until it has reached theirs; see htw_threshold_create().
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

    /** On failure this is empty, or the constructor throws. */
    explicit threshold(purgatory<T> &purgatory, std::uint64_t initial = 0, failure_to error = {})
        : handler_(purgatory.handler()) {
        error.report(htw_threshold_create(purgatory.native(), initial, detail::into(native_)));
    }

    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /** Submits a request that is completed when the threshold has reached `value`; see
        htw_threshold_await(). Otherwise as purgatory::try_complete_else_watch(). */
    template <class Rep, class Period>
    submission await(T &request, std::uint64_t value, std::chrono::duration<Rep, Period> timeout,
                     failure_to error = {}) {
        return detail::report_submission(submit(request, nullptr, value, timeout), error);
    }

    template <class Rep, class Period>
    submission await(std::shared_ptr<T> request, std::uint64_t value,
                     std::chrono::duration<Rep, Period> timeout, failure_to error = {}) {
        T *object = request.get();
        const int result =
            object == nullptr ? -EINVAL : submit(*object, std::move(request), value, timeout);
        return detail::report_submission(result, error);
    }

    /** Raises the value, completes the requests that it reaches, and returns how many; see
        htw_threshold_advance(). Throws on failure. */
    std::uint64_t advance(std::uint64_t value, failure_to error = {}) {
        return detail::report_count(htw_threshold_advance(native(), value), error);
    }

    /** Lowers the value, and ends no request; see htw_threshold_lower(). Throws on failure. */
    void lower(std::uint64_t value) {
        detail::check(htw_threshold_lower(native(), value));
    }

    /** Ends all requests, and returns how many; see htw_threshold_end_all(). Throws on failure. */
    std::uint64_t end_all(reason reason) {
        return detail::report_count(
            htw_threshold_end_all(native(), static_cast<htw_reason>(reason), nullptr, nullptr));
    }

    /** The same, with a visitor as that of purgatory::cancel_key(). */
    template <class Visitor> std::uint64_t end_all(reason reason, Visitor &&visitor) {
        detail::visit<T, std::remove_reference_t<Visitor>> visit { handler_, visitor };
        return detail::report_count(
            htw_threshold_end_all(native(), static_cast<htw_reason>(reason), &visit.call, &visit));
    }

    std::uint64_t value() const noexcept {
        return htw_threshold_value(native());
    }

    htw_threshold *native() const noexcept {
        return native_.get();
    }

  private:
    template <class Rep, class Period>
    int submit(T &request, std::shared_ptr<T> owner, std::uint64_t value,
               std::chrono::duration<Rep, Period> timeout) noexcept {
        return detail::hooks<T>::submit(request, std::move(owner), [&](htw_request *raw) {
            return htw_threshold_await(native(), raw, value, detail::to_ns(timeout));
        });
    }

    static void destroy(htw_threshold *native) noexcept {
        if (htw_threshold_destroy(native) == -EDEADLK)
            std::terminate();
    }

    detail::owned<htw_threshold, &threshold::destroy> native_;
    const exception_handler *handler_ = nullptr;
};

} // namespace htw

#endif // HTW_CPP_THRESHOLD_HPP
