/* SPDX-License-Identifier: MIT */
/* htw/cpp/options.hpp - the options of schedulers and timers, and the tasks of executors. */
#ifndef HTW_CPP_OPTIONS_HPP
#define HTW_CPP_OPTIONS_HPP

#include <htw/cpp/callback.hpp>
#include <htw/executor.h>

#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace htw {

/** How a timer repeats; see enum htw_repeat. */
enum class repeat {
    skip = HTW_REPEAT_SKIP,
    burst = HTW_REPEAT_BURST,
    delay = HTW_REPEAT_DELAY,
    after = HTW_REPEAT_AFTER
};

/** A callback that is due, for an executor to run, in any thread. The destructor runs a task that
    was not run. */
class task {
  public:
    explicit task(htw_task *native) noexcept : native_(native) {
    }

    /** Runs the callback, unless its timer was cancelled or the scheduler is being stopped. */
    void run() {
        htw_task_run(release());
    }

    /** The task, for htw_task_run(); this is empty then. */
    htw_task *release() noexcept {
        return native_.release();
    }

  private:
    detail::owned<htw_task, &htw_task_run> native_;
};

/** The options of a scheduler, as struct htw_scheduler_options. 0 means the default, except that 0 workers are none. */
struct scheduler_options {
    std::chrono::nanoseconds tick { 0 };
    std::uint32_t wheel_size = 0;
    std::uint32_t shards = 0;
    std::uint32_t expirers = 0;
    std::uint32_t workers = 2;
    htw::clock clock = htw::clock::monotonic;
    bool embedded = false;
    bool start_threads = false;
    std::uint64_t max_pending = 0;
    std::chrono::nanoseconds timer_slack { 0 };
    std::chrono::nanoseconds late_threshold { 0 };
    std::chrono::nanoseconds manual_start { 0 };
    const char *thread_name = nullptr;
    /** Memory of the library. Callables are in memory of operator new. */
    const htw_allocator *allocator = nullptr;
    /** A set of HTW_OBSERVE_SITES and the like; see htw_scheduler_observe(). */
    std::uint32_t observe = 0;
    std::uint32_t event_count = 0;
    /** Runs the callbacks in threads of the program, which call task::run(). Called by threads of
        the library; must not throw. Empty: the workers run them. */
    std::function<void(task)> executor {};
    /**
     * Receives the exceptions of callbacks, in their threads. Must not throw. Empty: an exception ends
     * the program (std::terminate), in any thread.
     */
    htw::exception_handler exception_handler {};
};

class group;

/** The properties of a timer, as struct htw_spec. */
struct timer_options {
    /** The timer may run this much later, so that timers run together; at least 0. */
    std::chrono::nanoseconds slack { 0 };
    /** More than 0: the timer repeats. */
    std::chrono::nanoseconds period { 0 };
    htw::repeat repeat = htw::repeat::skip;
    /** Any bytes, which are copied; see key_bytes(). At most one timer of a group is pending under a
        key. None if data() is nullptr, as by default; "" is a key. */
    std::string_view key {};
    /** If a timer has the key: fail with std::errc::file_exists. Otherwise it is replaced. */
    bool keep_existing = false;
    htw::group *group = nullptr;
    /** The clock of delays and periods. With a time point: the clock of that, or by_default. */
    htw::clock clock = htw::clock::by_default;
    /** What the timers of this place are for, for tools: a constant text, such as "idle". */
    const char *name = nullptr;
};

/** The bytes of an object, as a key: of a number or a pointer, or of a struct without padding. */
template <class T> std::string_view key_bytes(const T &object) noexcept {
    static_assert(std::has_unique_object_representations_v<T>,
                  "equal objects of this type may have different bytes");
    return std::string_view(
        static_cast<const char *>(static_cast<const void *>(std::addressof(object))), sizeof(T));
}
template <class T> std::string_view key_bytes(const T &&) = delete;

} // namespace htw

#endif // HTW_CPP_OPTIONS_HPP
