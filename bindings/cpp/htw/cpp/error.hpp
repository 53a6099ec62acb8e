/* SPDX-License-Identifier: MIT */
/* htw/cpp/error.hpp - results of the C functions as std::error_code and std::system_error. */
#ifndef HTW_CPP_ERROR_HPP
#define HTW_CPP_ERROR_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "htw/htw.hpp needs C++17 or later. The C headers need C++11."
#endif

#include <htw/base.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#if defined(__cpp_exceptions)
#define HTW_CPP_EXCEPTIONS 1
#else
#define HTW_CPP_EXCEPTIONS 0
#endif

namespace htw {

namespace detail {

class error_category final : public std::error_category {
  public:
    const char *name() const noexcept override {
        return "htw";
    }

    std::string message(int value) const override {
        return htw_strerror(-value);
    }

    std::error_condition default_error_condition(int value) const noexcept override {
        return std::error_condition(value, std::generic_category());
    }
};

} // namespace detail

/**
 * The category of the errors of htw. A value is that of errno, so a code compares equal to a
 * std::errc; its message is htw_strerror(), which says what the value means in htw.
 */
inline const std::error_category &error_category() noexcept {
    // Never destroyed: threads may still report errors while the program exits.
    alignas(detail::error_category) static unsigned char memory[sizeof(detail::error_category)];
    static const std::error_category *const category = ::new (memory) detail::error_category;
    return *category;
}

/** The error code of a result of a C function: none if it is 0 or more. */
inline std::error_code make_error(int result) noexcept {
    return result < 0 ? std::error_code(-result, error_category()) : std::error_code();
}

namespace detail {

/* `invalid` is the member of the options that was refused, and begins what(); nullptr: none was. */
[[noreturn]] inline void raise(int result, const char *invalid = nullptr) {
#if HTW_CPP_EXCEPTIONS
    if (invalid != nullptr)
        throw std::system_error(make_error(result), invalid);
    throw std::system_error(make_error(result));
#else
    static_cast<void>(result);
    static_cast<void>(invalid);
    std::terminate();
#endif
}

/* Returns a result that is no error, and throws one that is. */
inline int check(int result, const char *invalid = nullptr) {
    if (result < 0)
        raise(result, invalid);
    return result;
}

/* Owns a native object, which a function of C destroys. */
template <auto Destroy> struct destroy_by {
    template <class Native> void operator()(Native *native) const noexcept {
        static_cast<void>(Destroy(native));
    }
};

template <class Native, auto Destroy> using owned = std::unique_ptr<Native, destroy_by<Destroy>>;

/* The output of a function of C that creates a native object for an owner. */
template <class Owner> class into {
  public:
    explicit into(Owner &owner) noexcept : owner_(owner) {
    }

    into(const into &) = delete;
    into &operator=(const into &) = delete;

    ~into() {
        owner_.reset(native_);
    }

    operator typename Owner::pointer *() noexcept {
        return &native_;
    }

  private:
    Owner &owner_;
    typename Owner::pointer native_ = nullptr;
};

} // namespace detail

/**
 * Where the failure of a method goes, as its last argument: to the std::error_code that is passed, which is cleared
 * when the method succeeds; without one it is thrown.
 */
class failure_to {
  public:
    failure_to() noexcept = default;

    failure_to(std::error_code &code) noexcept : code_(&code) {
    }

    /** Reports a result of a C function, and returns it. `what` begins what() of the exception. */
    int report(int result, const char *what = nullptr) const {
        if (code_ == nullptr)
            return detail::check(result, what);
        *code_ = make_error(result);
        return result;
    }

    /** The same of a function that takes a struct: what() begins with the member that was refused. */
    int report_refusal(int result) const {
        return report(result, result == -EINVAL ? htw_invalid_member() : nullptr);
    }

    std::error_code *code() const noexcept {
        return code_;
    }

  private:
    std::error_code *code_ = nullptr;
};

} // namespace htw

#endif // HTW_CPP_ERROR_HPP
