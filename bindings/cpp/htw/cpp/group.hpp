/* SPDX-License-Identifier: MIT */
/* htw/cpp/group.hpp - timers that are cancelled, paused and resumed together. Complete only with
   scheduler.hpp. */
#ifndef HTW_CPP_GROUP_HPP
#define HTW_CPP_GROUP_HPP

#include <htw/cpp/error.hpp>
#include <htw/group.h>
#include <htw/scheduler.h>

#include <cstdint>

namespace htw {

class scheduler;

/**
 * A set of timers that are cancelled, paused and resumed together.
 *
 * The destructor cancels the timers of the group. It does not wait for callbacks that are running: a
 * callback of a group must own what it refers to, or count() must be 0. To destroy the group alone,
 * and let its timers continue, call detach(). A group must be destroyed before its scheduler.
 */
class group {
  public:
    /** Empty. */
    group() noexcept = default;

    /** On failure this is empty, or the constructor throws. */
    explicit group(scheduler &scheduler, failure_to error = {});

    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /** Destroys the group; its timers continue without one. This is empty then. */
    void detach() noexcept {
        htw_group_destroy(native_.release());
    }

    /** Cancels all timers of the group, and returns how many; see htw_group_cancel(). Destroys their
        callables inside the call. */
    std::uint64_t cancel() noexcept {
        std::int64_t count = htw_group_cancel(native(), nullptr, nullptr);
        return count < 0 ? 0 : static_cast<std::uint64_t>(count);
    }

    /** Afterwards no callback of the group starts until resume(). */
    void pause(failure_to error = {}) {
        error.report(htw_group_pause(native()));
    }

    void resume(failure_to error = {}) {
        error.report(htw_group_resume(native()));
    }

    /** Gives the group a name, for tools; see htw_group_set_name(). */
    void set_name(const char *name, failure_to error = {}) {
        error.report(htw_group_set_name(native(), name));
    }

    /** How many timers are pending, paused or running. */
    std::uint64_t count() const noexcept {
        return htw_group_count(native());
    }

    htw_group *native() const noexcept {
        return native_.get();
    }

  private:
    static void cancel_and_destroy(htw_group *native) noexcept {
        htw_group_cancel(native, nullptr, nullptr);
        htw_group_destroy(native);
    }

    detail::owned<htw_group, &group::cancel_and_destroy> native_;
};

} // namespace htw

#endif // HTW_CPP_GROUP_HPP
