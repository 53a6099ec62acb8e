/* SPDX-License-Identifier: MIT */
/* htw/cpp/group.hpp - timers that are cancelled, paused and resumed together. Complete only with
   scheduler.hpp. */
#ifndef HTW_CPP_GROUP_HPP
#define HTW_CPP_GROUP_HPP

#include <htw/cpp/error.hpp>
#include <htw/scheduler.h>

#include <cstdint>
#include <utility>

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

    /** Throws on failure. */
    explicit group(scheduler &scheduler);

    /** Empty on failure. */
    group(scheduler &scheduler, std::error_code &error) noexcept;

    group(group &&other) noexcept : native_(std::exchange(other.native_, nullptr)) {
    }

    /** Destroys the group that this object owned. */
    group &operator=(group &&other) noexcept {
        group moved(std::move(other));
        std::swap(native_, moved.native_);
        return *this;
    }

    ~group() {
        if (native_ == nullptr)
            return;
        htw_group_cancel(native_, nullptr, nullptr);
        htw_group_destroy(native_);
    }

    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /** Destroys the group; its timers continue without one. This is empty then. */
    void detach() noexcept {
        htw_group_destroy(std::exchange(native_, nullptr));
    }

    /** Cancels all timers of the group, and returns how many; see htw_group_cancel(). Destroys their
        callables inside the call. */
    std::uint64_t cancel() noexcept {
        std::int64_t count = htw_group_cancel(native_, nullptr, nullptr);
        return count < 0 ? 0 : static_cast<std::uint64_t>(count);
    }

    /** Afterwards no callback of the group starts until resume(). */
    void pause() {
        detail::check(htw_group_pause(native_));
    }

    void pause(std::error_code &error) noexcept {
        error = make_error(htw_group_pause(native_));
    }

    void resume() {
        detail::check(htw_group_resume(native_));
    }

    void resume(std::error_code &error) noexcept {
        error = make_error(htw_group_resume(native_));
    }

    /** Sets how much of its span each timer waits beyond its least delay: from 0 (nothing) to 1 (all of
        it, as in a new group). See htw_group_set_scale(). */
    void set_scale(double scale) {
        detail::check(htw_group_set_scale(native_, scale));
    }

    void set_scale(double scale, std::error_code &error) noexcept {
        error = make_error(htw_group_set_scale(native_, scale));
    }

    /** The scale; 0 if this is empty. */
    double scale() const noexcept {
        return htw_group_scale(native_);
    }

    /** Gives the group a name, for tools; see htw_group_set_name(). */
    void set_name(const char *name) {
        detail::check(htw_group_set_name(native_, name));
    }

    void set_name(const char *name, std::error_code &error) noexcept {
        error = make_error(htw_group_set_name(native_, name));
    }

    /** How many timers are pending, paused or running. */
    std::uint64_t count() const noexcept {
        return htw_group_count(native_);
    }

    htw_group *native() const noexcept {
        return native_;
    }

  private:
    htw_group *native_ = nullptr;
};

} // namespace htw

#endif // HTW_CPP_GROUP_HPP
