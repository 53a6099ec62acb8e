/* SPDX-License-Identifier: MIT */
/* htw/cpp/request.hpp - the requests of a purgatory, their keys, and how the library calls them. */
#ifndef HTW_CPP_REQUEST_HPP
#define HTW_CPP_REQUEST_HPP

#include <htw/purgatory.h>
#include <htw/purgatory_inspect.h>
#include <htw/cpp/callback.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace htw {

/** Why a request has ended; see enum htw_reason. */
enum class reason {
    completed = HTW_REASON_COMPLETED,
    expired = HTW_REASON_EXPIRED,
    cancelled = HTW_REASON_CANCELLED,
    closed = HTW_REASON_CLOSED
};

/** The outcome of a submission; see enum htw_submission. */
enum class submission {
    refused = -1,           ///< it failed, and the std::error_code says why
    watched = HTW_WATCHED,  ///< the request waits; another thread may have ended it by now
    finished = HTW_FINISHED ///< the request has ended inside the call, in this thread
};

/** A key: bytes that live until the call returns. From anything that converts to std::string_view; for
    numbers see key_bytes(). */
struct key : htw_key {
    template <class Text,
              std::enable_if_t<std::is_convertible_v<const Text &, std::string_view>, int> = 0>
    key(const Text &text) : key(std::string_view(text), nullptr) {
    }

  private:
    key(std::string_view text, std::nullptr_t) noexcept : htw_key { text.data(), text.size() } {
    }
};

/** The keys of a submission: one key, several in braces, or a container of htw::key with data() and
    size(). For arguments only: it refers to them. */
class keys {
  public:
    template <class Text,
              std::enable_if_t<std::is_convertible_v<const Text &, std::string_view>, int> = 0>
    /* The analyzer does not see that a key sets the members of its base. */
    /* NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject) */
    keys(const Text &text) : one_(text), data_(&one_), size_(1) {
    }

    keys(const key &key) noexcept : one_(key), data_(&one_), size_(1) {
    }

    keys(std::initializer_list<key> list) noexcept : keys(std::data(list), list.size()) {
    }

    template <class Container,
              std::enable_if_t<std::is_convertible_v<
                                   decltype(std::declval<const Container &>().data()), const key *>,
                               int> = 0>
    keys(const Container &container) noexcept : keys(container.data(), container.size()) {
    }

    keys(const keys &) = delete;
    keys &operator=(const keys &) = delete;

    const htw_key *data() const noexcept {
        return data_;
    }

    std::size_t size() const noexcept {
        return size_;
    }

  private:
    static_assert(sizeof(key) == sizeof(htw_key), "an array of the one is an array of the other");

    keys(const key *data, std::size_t size) noexcept : one_(""), data_(data), size_(size) {
    }

    key one_;
    const htw_key *data_;
    std::size_t size_;
};

namespace detail {

/* What the hooks of htw::request return. A derived class that has a hook hides it. */
struct no_hook {};

struct request_access;

} // namespace detail

/**
 * The base of the requests of a purgatory. A class is publicly derived from it, and has these
 * functions, its hooks, which must be public. They need not be virtual.
 *
 *   - `void on_complete(htw::reason reason)`: the request has ended.
 *   - `bool try_complete()`: whether it can be completed now. It may take what the request waits for:
 *     true is final. Without it no event completes requests, only complete() and thresholds.
 *   - `void release()`: the last call. From its start on the request may be destroyed or submitted
 *     again. Not needed for requests that a std::shared_ptr owns.
 *
 * htw/purgatory.h says in which threads they run, and that they may call all functions. An exception
 * of a hook goes to the handler of the purgatory; without one it ends the program (std::terminate).
 *
 * A request that waits must not be destroyed: its destructor ends the program then, as that of a
 * std::thread that was not joined. Cancel it, and wait for release(). (In a child process after fork
 * it does nothing. Requests of the parent stay pending there.)
 */
class request : private htw_request {
  public:
    request(const request &) = delete;
    request &operator=(const request &) = delete;

    /** Whether it was submitted, and the library still uses it. Without a hook release(), the request
        may be destroyed or submitted again when this is false. */
    bool is_pending() const noexcept {
        return pending_.load(std::memory_order_acquire);
    }

    detail::no_hook try_complete();
    detail::no_hook release();

  protected:
    request() noexcept : htw_request() {
    }

    ~request() {
        if (is_pending() && htw_purgatory_count_key(_purgatory, nullptr, 0) != -EOWNERDEAD)
            std::terminate();
    }

  private:
    friend struct detail::request_access;

    std::shared_ptr<void> owner_; /* while it is pending, if it was submitted so */
    std::atomic<bool> pending_ { false };
};

namespace detail {

struct request_access {
    static htw_request *native_of(request &object) noexcept {
        return &object;
    }

    static request &request_of(htw_request *native) noexcept {
        return *static_cast<request *>(native);
    }

    static bool begin(request &object, std::shared_ptr<void> owner) noexcept {
        if (object.pending_.exchange(true, std::memory_order_acquire))
            return false;
        object.owner_ = std::move(owner);
        return true;
    }

    /* After this call another thread may destroy the request, unless the result owns it. */
    [[nodiscard]] static std::shared_ptr<void> end(request &object) noexcept {
        std::shared_ptr<void> owner = std::move(object.owner_);
        object.pending_.store(false, std::memory_order_release);
        return owner;
    }
};

inline htw_request *native_of(request &object) noexcept {
    return request_access::native_of(object);
}

template <class T> T &object_of(htw_request *native) noexcept {
    return static_cast<T &>(request_access::request_of(native));
}

template <class T, class = void> inline constexpr bool has_on_complete = false;
template <class T>
inline constexpr bool
    has_on_complete<T, std::void_t<decltype(std::declval<T &>().on_complete(reason::completed))>> =
        true;

/* The hooks of the requests of class T as those of a C purgatory, whose context is the exception
   handler, or nullptr. */
template <class T> struct hooks {
    static_assert(std::is_base_of_v<request, T>, "requests are derived from htw::request");
    static_assert(has_on_complete<T>, "a request has a public void on_complete(htw::reason)");
    static constexpr bool has_try_complete =
        !std::is_same_v<decltype(std::declval<T &>().try_complete()), no_hook>;
    static constexpr bool has_release =
        !std::is_same_v<decltype(std::declval<T &>().release()), no_hook>;

    static bool try_complete(void *context, htw_request *native) noexcept {
        bool result = false;
        guard(static_cast<const exception_handler *>(context),
              [&] { result = object_of<T>(native).try_complete(); });
        return result;
    }

    static void on_complete(void *context, htw_request *native, htw_reason why) noexcept {
        guard(static_cast<const exception_handler *>(context),
              [&] { object_of<T>(native).on_complete(static_cast<reason>(why)); });
    }

    static void release(void *context, htw_request *native) noexcept {
        std::shared_ptr<void> owner = request_access::end(request_access::request_of(native));
        if constexpr (has_release)
            guard(static_cast<const exception_handler *>(context),
                  [&] { object_of<T>(native).release(); });
        else
            static_cast<void>(context);
    }

    /* Submits a request by `call`, which returns as the C function. */
    template <class Call>
    static int submit(T &object, std::shared_ptr<void> owner, Call &&call) noexcept {
        if (!request_access::begin(object, std::move(owner)))
            return -EBUSY;
        int result = call(native_of(object));
        if (result < 0)
            owner = request_access::end(object);
        return result;
    }
};

/* A visitor in C++, as the context of one in C. */
template <class T, class Visitor> struct visit {
    static_assert(std::is_invocable_v<Visitor &, T &>, "a visitor takes a request");
    const exception_handler *handler;
    Visitor &visitor;

    static void call(void *context, htw_request *native) noexcept {
        visit *self = static_cast<visit *>(context);
        guard(self->handler,
              [&] { static_cast<void>(std::invoke(self->visitor, object_of<T>(native))); });
    }
};

inline submission report_submission(int result, const failure_to &error) {
    return error.report(result) < 0 ? submission::refused : static_cast<submission>(result);
}

inline std::uint64_t report_count(std::int64_t count, const failure_to &error = {}) {
    error.report(count < 0 ? static_cast<int>(count) : 0);
    return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

} // namespace detail
} // namespace htw

#endif // HTW_CPP_REQUEST_HPP
