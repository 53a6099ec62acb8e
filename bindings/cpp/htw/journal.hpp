/* SPDX-License-Identifier: MIT */
/*
 * htw/journal.hpp - htw/journal.h for C++17 and later: jobs that survive a crash, and queues whose jobs
 * are leased. Header-only; link with libhtw-journal. The conventions are those of htw/htw.hpp, which
 * does not include this header.
 *
 *     htw::journal journal(scheduler, "shop.journal");
 *     htw::job mail { "to ada" };
 *     mail.queue = "mail";
 *     journal.put(mail);
 *     while (htw::lease job = journal.lease("mail")) {
 *         send(job.payload());
 *         job.done();
 *     }
 */
#ifndef HTW_JOURNAL_HPP
#define HTW_JOURNAL_HPP

#include <htw/cpp/scheduler.hpp>
#include <htw/journal_job.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace htw {

/** When a change counts as durable; see enum htw_synchronous. */
enum class synchronous { full = HTW_SYNCHRONOUS_FULL, normal = HTW_SYNCHRONOUS_NORMAL };

/** The state of a job; see enum htw_job_state. */
enum class job_state {
    delayed = HTW_JOB_DELAYED,
    ready = HTW_JOB_READY,
    leased = HTW_JOB_LEASED, ///< or delivered and not done
    buried = HTW_JOB_BURIED
};

/** The options of a journal, as struct htw_journal_options; 0 means the default there. */
struct journal_options {
    /** Receives the jobs of the default queue, in threads of the scheduler. One that is dropped is
        given back and delivered again, so a job whose exception is caught by the handler is. Empty:
        they are leased, as those of the other queues. */
    std::function<void(htw::lease)> deliver {};
    /** Told that the journal has stopped by itself, and why. */
    std::function<void(const char *)> stopped {};
    htw::synchronous synchronous = htw::synchronous::full;
    std::uint32_t parallel = 0;
    std::chrono::nanoseconds near { 0 };
    std::uint64_t max_memory = 0;
    std::uint64_t max_jobs = 0;
    std::uint64_t max_in_flight = 0;
    std::chrono::nanoseconds gather { 0 };
    std::chrono::nanoseconds lease { 0 };
    bool is_guest = false; // transactions of a program put jobs: journal::put_in()
    std::chrono::nanoseconds inbox { 0 };
    const htw_allocator *allocator = nullptr;
    /** Receives the exceptions of `deliver`, `stopped` and notices, in their threads. Must not throw.
        Empty: they end the program (std::terminate). */
    htw::exception_handler exception_handler {};
};

/** How a job is leased, as struct htw_lease. */
struct lease_options {
    /** Until when to wait for one, as journal::now() + 5s; instant::min(): not at all; instant::max(): for
        ever. */
    instant wait_until = instant::min();
    /** How long the lease lasts; 0: as the job or the options of the journal say. */
    std::chrono::nanoseconds lasts { 0 };
    /** The lease survives a crash. */
    bool is_durable = false;
};

/** The names of queues: one, several in braces, or a container of `const char *` with data() and size().
    nullptr is the default queue. For arguments only: it refers to them. */
class queues {
  public:
    queues(const char *name) noexcept : one_(name), data_(&one_), size_(1) {
    }

    queues(std::initializer_list<const char *> names) noexcept
        : data_(std::data(names)), size_(names.size()) {
    }

    template <
        class Container,
        std::enable_if_t<std::is_convertible_v<decltype(std::declval<const Container &>().data()),
                                               const char *const *>,
                         int> = 0>
    queues(const Container &names) noexcept : data_(names.data()), size_(names.size()) {
    }

    queues(const queues &) = delete;
    queues &operator=(const queues &) = delete;

    const char *const *data() const noexcept {
        return data_;
    }

    std::size_t size() const noexcept {
        return size_;
    }

  private:
    const char *one_ = nullptr;
    const char *const *data_;
    std::size_t size_;
};

/** A job as it is, and a copy; see struct htw_job_info. */
struct job_info {
    std::uint64_t id = 0;
    job_state state = job_state::delayed;
    std::string payload {};
    std::optional<std::string> key {};
    std::optional<std::string> queue {}; ///< none: the default queue
    instant deadline {};                 ///< of a leased job: when the lease ends
    std::optional<instant> put {};       ///< none: not known
    std::chrono::nanoseconds lease { 0 };
    std::uint32_t priority = 0;
    std::uint32_t attempts = 0;
    std::uint32_t releases = 0;
    std::uint32_t timeouts = 0;
    std::uint32_t buries = 0;
    std::uint32_t kicks = 0;
};

/** What a queue does with jobs whose attempt has failed; see struct htw_queue_policy. */
struct queue_policy {
    std::uint32_t attempts_max = 0; ///< after so many a job is buried; 0: never
    std::chrono::nanoseconds initial { 0 };
    std::chrono::nanoseconds cap { 0 };
    double multiplier = 2.0;
    double jitter = 0.5;
};

/** The numbers of a queue; see struct htw_queue_stats. */
struct queue_stats {
    std::optional<std::string> name {}; ///< none: the default queue
    std::uint64_t delayed = 0;
    std::uint64_t ready = 0;
    std::uint64_t leased = 0;
    std::uint64_t buried = 0;
    std::uint64_t waiting = 0;              ///< requests that name it
    std::optional<instant> paused_until {}; ///< none: it is not paused
    queue_policy policy {};
};

namespace detail {

/* What the hooks of a journal refer to. */
struct journal_hooks {
    std::function<void(htw::lease)> deliver;
    std::function<void(const char *)> stopped;
    htw::exception_handler exception_handler;

    const htw::exception_handler *handler() const noexcept {
        return exception_handler ? &exception_handler : nullptr;
    }

    static void deliver_hook(void *context, const htw_delivery *delivery) noexcept {
        auto *self = static_cast<journal_hooks *>(context);
        guard(self->handler(), [&] { self->deliver(htw::lease::of(*delivery, self->handler())); });
    }

    static void stopped_hook(void *context, const char *why) noexcept {
        auto *self = static_cast<journal_hooks *>(context);
        guard(self->handler(), [&] { self->stopped(why); });
    }
};

/* The lease that a C function hands out; an error where there is no memory for it. */
inline int lease_of(const htw_delivery &delivery, const exception_handler *handler,
                    lease &ret_lease) noexcept {
#if HTW_CPP_EXCEPTIONS
    try {
        ret_lease = lease::of(delivery, handler);
    } catch (const std::bad_alloc &) {
        return -ENOMEM;
    }
#else
    ret_lease = lease::of(delivery, handler);
#endif
    return 0;
}

/* What journal::lease() waits for. */
struct lease_receiver {
    const exception_handler *handler;
    htw::lease lease;
    int result;

    static void call(void *arg, int result, const htw_delivery *delivery) noexcept {
        auto *self = static_cast<lease_receiver *>(arg);
        self->result = result != 0 ? result : lease_of(*delivery, self->handler, self->lease);
    }
};

/* A callable as the notice of journal::lease_later(). */
template <class F> struct lease_notice {
    static_assert(std::is_invocable_v<F &, std::error_code, htw::lease>,
                  "a receiver takes a std::error_code and a htw::lease");
    const exception_handler *handler;
    F function;

    static void call(void *arg, int result, const htw_delivery *delivery) noexcept {
        const std::unique_ptr<lease_notice> self(static_cast<lease_notice *>(arg));
        htw::lease lease;
        if (result == 0)
            result = lease_of(*delivery, self->handler, lease);
        guard(self->handler, [&] { self->function(make_error(result), std::move(lease)); });
    }
};

/* Calls `look(visit, context)`, which visits each `Native`, and copies these by `copy`. The exceptions of a
   copy pass. */
template <class Native, class Copy, class Look> int visit_all(Copy &&copy, Look &&look) {
    struct context {
        Copy &copy;
        std::exception_ptr thrown;

        static bool visit(void *arg, const Native *native) noexcept {
            auto *self = static_cast<context *>(arg);
#if HTW_CPP_EXCEPTIONS
            try {
                self->copy(*native);
            } catch (...) {
                self->thrown = std::current_exception();
                return false;
            }
#else
            self->copy(*native);
#endif
            return true;
        }
    } context { copy, nullptr };
    const int result = look(&context::visit, static_cast<void *>(&context));
    if (context.thrown)
        std::rethrow_exception(context.thrown);
    return result;
}

inline std::optional<std::string> text_of(const void *data, std::size_t size) {
    if (data == nullptr)
        return std::nullopt;
    return std::string(static_cast<const char *>(data), size);
}

inline std::optional<std::string> name_of(const char *name) {
    return name == nullptr ? std::nullopt : std::optional<std::string>(name);
}

inline std::optional<instant> known_instant(std::int64_t ns) noexcept {
    return ns == min_ns ? std::nullopt
                        : std::optional<instant>(instant(std::chrono::nanoseconds(ns)));
}

inline job_info info_of(const htw_job_info &native) {
    job_info info;
    info.id = native.id;
    info.state = static_cast<job_state>(native.state);
    info.payload = text_of(native.payload, native.payload_size).value_or(std::string());
    info.key = text_of(native.key, native.key_size);
    info.queue = name_of(native.queue);
    info.deadline = instant(std::chrono::nanoseconds(native.deadline_ns));
    info.put = known_instant(native.put_ns);
    info.lease = std::chrono::nanoseconds(native.lease_ns);
    info.priority = native.priority;
    info.attempts = native.attempts;
    info.releases = native.releases;
    info.timeouts = native.timeouts;
    info.buries = native.buries;
    info.kicks = native.kicks;
    return info;
}

inline queue_stats stats_of(const htw_queue_stats &native) {
    queue_stats stats;
    stats.name = name_of(native.name);
    stats.delayed = native.delayed;
    stats.ready = native.ready;
    stats.leased = native.leased;
    stats.buried = native.buried;
    stats.waiting = native.waiting;
    stats.paused_until = known_instant(native.paused_until_ns);
    stats.policy.attempts_max = native.policy.attempts_max;
    stats.policy.initial = std::chrono::nanoseconds(native.policy.initial_ns);
    stats.policy.cap = std::chrono::nanoseconds(native.policy.cap_ns);
    stats.policy.multiplier = native.policy.multiplier;
    stats.policy.jitter = native.policy.jitter;
    return stats;
}

} // namespace detail

/**
 * Jobs in a file; see htw/journal.h, which says what is promised, and which functions wait for the disk.
 *
 * Declare it after its scheduler, and leases after it: they must be destroyed before. The destructor
 * closes the journal, and waits for `deliver` and for all changes. In `deliver` or a notice of the same
 * journal it ends the program (std::terminate).
 *
 * Instants are those of the wall clock; in a scheduler with clock::manual those of that clock, as
 * now() returns them.
 *
 * Threads: any, also in `deliver` and notices, except moves, close() and the destructor. In a notice
 * the functions that wait fail with std::errc::resource_deadlock_would_occur.
 */
class journal {
  public:
    /** Opens a journal, or creates its file. On failure this is empty, or the constructor throws; what()
        has a sentence with the file and the cause. */
    journal(scheduler &scheduler, const std::string &path,
            journal_options options = journal_options(), failure_to error = {}) {
        detail::report_journal(open(scheduler.native(), path, std::move(options)), error);
    }

    /** Opens a journal without a scheduler: jobs are put, cancelled and looked at, not handed out. */
    explicit journal(const std::string &path, journal_options options = journal_options(),
                     failure_to error = {}) {
        detail::report_journal(open(nullptr, path, std::move(options)), error);
    }

    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /** Closes the journal, which is empty then, and says what the destructor cannot: whether changes
        without a notice were lost. Throws on failure. */
    void close(failure_to error = {}) {
        const int result = htw_journal_close(native());
        if (result != -EDEADLK && result != -EOWNERDEAD) {
            static_cast<void>(native_.release());
            native_.get_deleter().kept.reset();
        }
        detail::report_journal(result, error);
    }

    /** The present time of deadlines. */
    instant now() const noexcept {
        const bool is_manual =
            native_ && scheduler_ != nullptr && htw_scheduler_clock(scheduler_) == HTW_CLOCK_MANUAL;
        return is_manual ? instant(std::chrono::nanoseconds(htw_scheduler_now(scheduler_)))
                         : instant(std::chrono::system_clock::now());
    }

    /* ---- changes that wait until they are durable */

    /** Puts a job, and returns its id; see htw_journal_put(). Throws on failure. */
    std::uint64_t put(const job &job, failure_to error = {}) {
        htw_job raw = detail::native_job(job);
        const htw_journal_change change = put_of(raw);
        detail::report_journal(htw_journal_apply(native(), &change), error);
        return raw.id;
    }

    /** Puts a job in a transaction of a program, and returns its id; see htw_journal_put_in(). */
    static std::uint64_t put_in(::sqlite3 *connection, const job &job, failure_to error = {}) {
        htw_job raw = detail::native_job(job);
        detail::report_journal(htw_journal_put_in(connection, &raw), error);
        return raw.id;
    }

    /** A transaction with jobs was committed; see htw_journal_wake(). Throws on failure. */
    void wake() {
        detail::report_journal(htw_journal_wake(native()));
    }

    /** Cancels a job. Returns false if it was delivered or leased, or has ended; see
        htw_journal_cancel(). Throws on other failures. */
    bool cancel(std::uint64_t id) {
        return update(step::cancel(id));
    }

    /** Ends a job. Returns false if there is none; see htw_journal_done(). Throws on other failures. */
    bool done(std::uint64_t id) {
        return update(step::done(id));
    }

    /** Makes a step of a job. Returns false if there is none, or its state is another one than the step
        begins with; see htw_journal_update(). Throws on other failures. A std::error_code also says why a step was
        not made: std::errc::no_such_file_or_directory, std::errc::connection_already_in_progress or ESTALE. */
    bool update(const step &step, failure_to error = {}) {
        return detail::report_step(htw_journal_update(native(), &step.native()), error) == 0;
    }

    /** Makes several changes at once, and returns the ids of the jobs that were put; see
        htw_journal_apply(). The change is empty then. Throws on failure: then nothing has changed. */
    std::vector<std::uint64_t> apply(change &change) {
        return change.submit([&](const htw_journal_change &raw) noexcept {
            return htw_journal_apply(native(), &raw);
        });
    }

    std::vector<std::uint64_t> apply(change &&change) {
        return apply(change);
    }

    /** Kicks jobs of a queue, and returns how many; see htw_journal_kick(). Throws on failure. */
    std::uint32_t kick(const char *queue, std::uint32_t count) {
        return static_cast<std::uint32_t>(
            detail::report_journal(htw_journal_kick(native(), queue, count)));
    }

    /** Waits until all that was changed before is durable; see htw_journal_sync(). Throws on failure. */
    void sync(failure_to error = {}) {
        detail::report_journal(htw_journal_sync(native()), error);
    }

    /* ---- changes that are made later */

    /** As put(), without waiting. `notice(std::error_code)` is called in the thread that writes, when the
        job is durable or the put has failed; see htw_durable. Throws on what fails at once. */
    template <class F = no_notice> std::uint64_t put_later(const job &job, F &&notice = F()) {
        htw_job raw = detail::native_job(job);
        const htw_journal_change change = put_of(raw);
        later<F>(notice, [&](htw_durable *durable, void *arg) noexcept {
            return htw_journal_apply_later(native(), &change, durable, arg);
        });
        return raw.id;
    }

    /** As update(), without waiting. The error of the notice is that of update(). */
    template <class F = no_notice> void update_later(const step &step, F &&notice = F()) {
        later<F>(notice, [&](htw_durable *durable, void *arg) noexcept {
            return htw_journal_update_later(native(), &step.native(), durable, arg);
        });
    }

    /** As apply(), without waiting. */
    template <class F = no_notice>
    std::vector<std::uint64_t> apply_later(change &change, F &&notice = F()) {
        return change.submit([&](const htw_journal_change &raw) {
            return detail::with_notice(
                handler(), std::forward<F>(notice), [&](htw_durable *durable, void *arg) noexcept {
                    return htw_journal_apply_later(native(), &raw, durable, arg);
                });
        });
    }

    template <class F = no_notice>
    std::vector<std::uint64_t> apply_later(change &&change, F &&notice = F()) {
        return apply_later(change, std::forward<F>(notice));
    }

    /** As kick(), without waiting. `notice(std::error_code, std::uint32_t)` receives the number. */
    template <class F = no_notice>
    void kick_later(const char *queue, std::uint32_t count, F &&notice = F()) {
        later<F>(notice, [&](htw_durable *durable, void *arg) noexcept {
            return htw_journal_kick_later(native(), queue, count, durable, arg);
        });
    }

    /* ---- leases */

    /** Leases the first ready job of some queues; see htw_journal_lease(). Empty: there was none in time.
        Throws on failure. [[nodiscard]]: a lease that is not kept is given back. */
    [[nodiscard]] htw::lease lease(const queues &queues,
                                   const lease_options &options = lease_options()) {
        return wait_for(wanted(&queues, 0, options));
    }

    /** Leases the job with an id, unless it is leased: then the result is empty, as it is if there is no
        such job. */
    [[nodiscard]] htw::lease lease_id(std::uint64_t id,
                                      const lease_options &options = lease_options()) {
        return wait_for(wanted(nullptr, id, options));
    }

    /** As lease(), without waiting. `receiver(std::error_code, htw::lease)` is called once, in the thread
        that writes; the errors are those of htw_leased. Returns a number for cancel_lease(). */
    template <class F>
    std::uint64_t lease_later(const queues &queues, const lease_options &options, F &&receiver) {
        const htw_lease raw = wanted(&queues, 0, options);
        using notice = detail::lease_notice<std::decay_t<F>>;
        std::unique_ptr<notice> arg(new notice { handler(), std::forward<F>(receiver) });
        std::uint64_t request = 0;
        detail::report_journal(
            htw_journal_lease_later(native(), &raw, &notice::call, arg.get(), &request));
        static_cast<void>(arg.release()); // the notice deletes it
        return request;
    }

    /** Ends a request that waits: its receiver is called with std::errc::operation_canceled. Returns false
        if it was called, or is about to be. */
    bool cancel_lease(std::uint64_t request) noexcept {
        return htw_journal_lease_cancel(native(), request) == 0;
    }

    /* ---- looking at jobs and queues */

    /** The job with an id, if there is one; see htw_journal_peek(). Throws on failure. */
    std::optional<job_info> peek(std::uint64_t id) {
        std::optional<job_info> found;
        const int result = detail::visit_all<htw_job_info>(
            [&](const htw_job_info &raw) { found = detail::info_of(raw); },
            [&](htw_job_visit *visit, void *context) noexcept {
                return htw_journal_peek(native(), id, visit, context);
            });
        if (result != -ENOENT)
            detail::report_journal(result);
        return found;
    }

    /** At most `count` jobs of a queue in a state, from a place on, which is moved behind them; see
        htw_journal_list(). A place {} is the beginning. Throws on failure. */
    std::vector<job_info> list(const char *queue, job_state state, htw_list_place &place,
                               std::uint32_t count) {
        std::vector<job_info> jobs;
        detail::report_journal(detail::visit_all<htw_job_info>(
            [&](const htw_job_info &raw) { jobs.push_back(detail::info_of(raw)); },
            [&](htw_job_visit *visit, void *context) noexcept {
                return htw_journal_list(native(), queue, static_cast<htw_job_state>(state), &place,
                                        count, visit, context);
            }));
        return jobs;
    }

    /** The numbers of a queue, if it exists; see htw_journal_get_queue(). Throws on failure. */
    std::optional<queue_stats> queue(const char *name) const {
        htw_queue_stats raw = HTW_QUEUE_STATS_INIT;
        const int result = htw_journal_get_queue(native(), name, &raw);
        if (result == -ENOENT)
            return std::nullopt;
        detail::report_journal(result);
        raw.name = name;
        return detail::stats_of(raw);
    }

    /** The numbers of all queues, the default queue first. Throws on failure. */
    std::vector<queue_stats> list_queues() const {
        std::vector<queue_stats> all;
        detail::report_journal(detail::visit_all<htw_queue_stats>(
            [&](const htw_queue_stats &raw) { all.push_back(detail::stats_of(raw)); },
            [&](htw_queue_visit *visit, void *context) noexcept {
                return htw_journal_list_queues(native(), visit, context);
            }));
        return all;
    }

    /** Gives a queue a policy, and waits until that is durable; queue_policy() ends the effect of one.
        Throws on failure. */
    void set_policy(const char *queue, const queue_policy &policy) {
        htw_queue_policy raw = HTW_QUEUE_POLICY_INIT;
        raw.attempts_max = policy.attempts_max;
        raw.initial_ns = policy.initial.count();
        raw.cap_ns = policy.cap.count();
        raw.multiplier = policy.multiplier;
        raw.jitter = policy.jitter;
        detail::report_journal(htw_journal_set_policy(native(), queue, &raw));
    }

    /** None of the jobs of a queue is leased before an instant; see htw_journal_pause(). Throws on
        failure. */
    void pause(const char *queue, instant until) {
        detail::report_journal(htw_journal_pause(native(), queue, detail::instant_ns(until)));
    }

    void resume(const char *queue) {
        pause(queue, instant::min());
    }

    /* ---- the rest */

    /** The statistics; see htw_journal_get_stats(). Throws on failure. */
    htw_journal_stats stats() const {
        htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
        detail::report_journal(htw_journal_get_stats(native(), &stats));
        return stats;
    }

    htw_journal *native() const noexcept {
        return native_.get();
    }

  private:
    int open(htw_scheduler *scheduler, const std::string &path,
             journal_options &&options) noexcept {
        auto &hooks = native_.get_deleter().kept;
        hooks.reset(new (std::nothrow) detail::journal_hooks {
            std::move(options.deliver), std::move(options.stopped),
            std::move(options.exception_handler) });
        if (!hooks)
            return -ENOMEM;
        htw_journal_options raw = HTW_JOURNAL_OPTIONS_INIT;
        raw.deliver = hooks->deliver ? &detail::journal_hooks::deliver_hook : nullptr;
        raw.stopped = hooks->stopped ? &detail::journal_hooks::stopped_hook : nullptr;
        raw.context = hooks.get();
        raw.synchronous = static_cast<htw_synchronous>(options.synchronous);
        raw.parallel = options.parallel;
        raw.near_ns = options.near.count();
        raw.max_memory = options.max_memory;
        raw.max_jobs = options.max_jobs;
        raw.max_in_flight = options.max_in_flight;
        raw.gather_ns = options.gather.count();
        raw.lease_ns = options.lease.count();
        raw.is_guest = options.is_guest;
        raw.inbox_ns = options.inbox.count();
        raw.allocator = options.allocator;
        scheduler_ = scheduler;
        return htw_journal_open(detail::into(native_), scheduler, path.c_str(), &raw);
    }

    static htw_journal_change put_of(htw_job &job) noexcept {
        htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
        change.jobs = &job;
        change.job_count = 1;
        return change;
    }

    const exception_handler *handler() const noexcept {
        const auto &hooks = native_.get_deleter().kept;
        return hooks ? hooks->handler() : nullptr;
    }

    template <class F, class Submit>
    void later(std::remove_reference_t<F> &notice, Submit &&submit) {
        detail::report_journal(
            detail::with_notice(handler(), std::forward<F>(notice), std::forward<Submit>(submit)));
    }

    static htw_lease wanted(const queues *queues, std::uint64_t id,
                            const lease_options &options) noexcept {
        htw_lease raw = HTW_LEASE_INIT;
        if (queues != nullptr) {
            raw.queues = queues->data();
            raw.queue_count = queues->size();
        }
        raw.id = id;
        raw.lease_ns = options.lasts.count();
        raw.wait_until_ns = detail::instant_ns(options.wait_until);
        raw.is_durable = options.is_durable;
        return raw;
    }

    htw::lease wait_for(const htw_lease &wanted) {
        detail::lease_receiver receiver { handler(), htw::lease(), 0 };
        int result = htw_journal_lease(native(), &wanted, &detail::lease_receiver::call, &receiver);
        if (result == 0)
            result = receiver.result;
        if (result != -ETIMEDOUT && !(wanted.id != 0 && detail::is_lost(result)))
            detail::report_journal(result);
        return std::move(receiver.lease);
    }

    /* Keeps what the hooks refer to until the journal is closed. */
    struct closer {
        std::unique_ptr<detail::journal_hooks> kept;

        void operator()(htw_journal *raw) noexcept {
            const int result = htw_journal_close(raw);
            if (result == -EDEADLK)
                std::terminate(); // the call below this one would use what is destroyed next
            if (result == -EOWNERDEAD)
                static_cast<void>(kept.release()); // a hook below this call may need it
        }
    };

    htw_scheduler *scheduler_ = nullptr;
    std::unique_ptr<htw_journal, closer> native_;
};

} // namespace htw

#endif // HTW_JOURNAL_HPP
