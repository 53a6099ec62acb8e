/* SPDX-License-Identifier: MIT */
/* htw/cpp/wheel.hpp - the wheel of htw/wheel.h for the objects of one class. */
#ifndef HTW_CPP_WHEEL_HPP
#define HTW_CPP_WHEEL_HPP

#include <htw/cpp/error.hpp>
#include <htw/wheel.h>
#include <htw/wheel_inspect.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace htw {

/** The options of a wheel, as struct htw_wheel_options. */
struct wheel_options {
    std::uint32_t size = 0;
    bool strict_fifo = false;
    std::uint64_t start = 0;
    const htw_allocator *allocator = nullptr;
};

/**
 * A timing wheel for objects of class `T`, which have a member `htw_timer` each:
 *
 *     struct session { int id; htw_timer timer{}; };
 *     htw::wheel<session, &session::timer> wheel;
 *     wheel.schedule(session, wheel.now() + 30000);
 *     while (session *due = wheel.poll(now)) ...
 *
 * Time is in ticks. The wheel owns no object. An object must not move, and must not be destroyed,
 * while its timer is pending; the wheel must be destroyed before objects that are pending in it.
 * Costs as much as the C functions.
 */
template <class T, htw_timer T::*Timer> class wheel {
  public:
    /** On failure this is empty, or the constructor throws. */
    explicit wheel(const wheel_options &options = wheel_options(), failure_to error = {}) {
        htw_wheel_options native = HTW_WHEEL_OPTIONS_INIT;
        native.size = options.size;
        native.strict_fifo = options.strict_fifo;
        native.start = options.start;
        native.allocator = options.allocator;
        error.report_refusal(htw_wheel_create(detail::into(native_), &native));
    }

    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /** Arms or moves the timer of an object; see htw_wheel_schedule(). */
    void schedule(T &object, std::uint64_t deadline, failure_to error = {}) {
        error.report(htw_wheel_schedule(native(), timer_of(object), deadline));
    }

    /** See htw_wheel_schedule_within(). */
    void schedule_within(T &object, std::uint64_t earliest, std::uint64_t latest,
                         failure_to error = {}) {
        error.report(htw_wheel_schedule_within(native(), timer_of(object), earliest, latest));
    }

    /** Cancels the timer of an object, and returns whether it was pending here. */
    bool cancel(T &object) noexcept {
        return htw_wheel_cancel(native(), timer_of(object));
    }

    /** The next object that is due at `now`; nullptr: no more are due. */
    [[nodiscard]] T *poll(std::uint64_t now) noexcept {
        return object_of(htw_wheel_poll(native(), now));
    }

    /** What poll_batch() hands out; iterate over it. */
    template <std::size_t Max> class batch {
      public:
        T *const *begin() const noexcept {
            return objects_;
        }

        T *const *end() const noexcept {
            return objects_ + count_;
        }

        std::size_t size() const noexcept {
            return count_;
        }

        /** Whether the batch is full, or the budget is used up: call poll_batch() again. */
        bool more() const noexcept {
            return more_;
        }

      private:
        friend class wheel;
        T *objects_[Max];
        std::size_t count_ = 0;
        bool more_ = false;
    };

    /** The next objects that are due at `now`, `Max` at most, with at most `budget` steps (0: no
        limit); see htw_wheel_poll_batch(). None of them is pending any more. */
    template <std::size_t Max = 64>
    [[nodiscard]] batch<Max> poll_batch(std::uint64_t now, std::size_t budget = 0) noexcept {
        batch<Max> result;
        htw_timer *timers[Max];
        result.more_ =
            htw_wheel_poll_batch(native(), now, timers, Max, budget, &result.count_) == HTW_MORE;
        for (std::size_t i = 0; i < result.count_; i++)
            result.objects_[i] = object_of(timers[i]);
        return result;
    }

    /** Removes and returns any pending object; nullptr: there is none. */
    [[nodiscard]] T *drain() noexcept {
        return object_of(htw_wheel_drain(native()));
    }

    /** The tick at which to poll next; HTW_NEVER_TICK: none. */
    [[nodiscard]] std::uint64_t next() noexcept {
        return htw_wheel_next(native());
    }

    [[nodiscard]] std::uint64_t now() const noexcept {
        return htw_wheel_now(native());
    }

    [[nodiscard]] std::size_t count() const noexcept {
        return htw_wheel_count(native());
    }

    /** See htw_wheel_reserve(). */
    void reserve(std::uint64_t horizon, failure_to error = {}) {
        error.report(htw_wheel_reserve(native(), horizon));
    }

    htw_wheel_stats stats() const noexcept {
        htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
        htw_wheel_get_stats(native(), &stats);
        return stats;
    }

    [[nodiscard]] static bool is_pending(const T &object) noexcept {
        return htw_timer_is_pending(std::addressof(object.*Timer));
    }

    /** The deadline with which the timer of an object was last armed. */
    [[nodiscard]] static std::uint64_t deadline(const T &object) noexcept {
        return htw_timer_deadline(std::addressof(object.*Timer));
    }

    htw_wheel *native() const noexcept {
        return native_.get();
    }

  private:
    static htw_timer *timer_of(T &object) noexcept {
        return std::addressof(object.*Timer);
    }

    /* A pointer to a data member is the offset of the member, in the ABI that gcc and clang share.
       (offsetof() takes a name and not a pointer.) */
    static T *object_of(htw_timer *timer) noexcept {
        if (timer == nullptr)
            return nullptr;
        htw_timer T::*member = Timer;
        std::ptrdiff_t offset;
        static_assert(sizeof(offset) == sizeof(member));
        std::memcpy(&offset, &member, sizeof(offset));
        return static_cast<T *>(
            static_cast<void *>(reinterpret_cast<unsigned char *>(timer) - offset));
    }

    detail::owned<htw_wheel, &htw_wheel_destroy> native_;
};

} // namespace htw

#endif // HTW_CPP_WHEEL_HPP
