/* SPDX-License-Identifier: MIT */
/* htw/journal_job.hpp - the jobs of htw/journal.hpp: putting them, steps, leases, and changes of several
   parts. */
#ifndef HTW_JOURNAL_JOB_HPP
#define HTW_JOURNAL_JOB_HPP

#include <htw/cpp/callback.hpp>
#include <htw/cpp/time.hpp>
#include <htw/journal_guest.h>
#include <htw/journal_inspect.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace htw {

/** The notice of a change that is made later, where none is wanted. */
struct no_notice {};

/** A job that is to be put, as struct htw_job. What it refers to must stay until the call returns. */
struct job {
    std::string_view payload {};
    /** When it is delivered or ready; in the past: at once. instant::max(): never. */
    instant deadline {};
    /** A view whose data() is nullptr: none. A job that has this key is replaced. */
    std::string_view key {};
    /** If a job has the key, that one stays, and the call fails with std::errc::file_exists. */
    bool if_absent = false;
    /** nullptr: the default queue. */
    const char *queue = nullptr;
    /** 0 comes first. */
    std::uint32_t priority = 0;
    /** How long its leases last; 0: as the options of the journal say. */
    std::chrono::nanoseconds lease { 0 };
};

/** What is done with a job that exists; see enum htw_job_step. */
class step {
  public:
    /** Ends the job in any state. */
    static step done(std::uint64_t id) noexcept {
        return step(id, HTW_JOB_END);
    }

    /** Ends the job, unless it is leased or was delivered. */
    static step cancel(std::uint64_t id) noexcept {
        return step(id, HTW_JOB_CANCEL);
    }

    /** The same for the job that has a key, whose bytes must stay until the step is submitted. */
    static step cancel_key(std::string_view key) noexcept {
        step made(0, HTW_JOB_CANCEL);
        made.native_.key = key.data() == nullptr ? "" : key.data();
        made.native_.key_size = key.size();
        return made;
    }

    /** Puts the job aside until it is kicked. */
    static step bury(std::uint64_t id) noexcept {
        return step(id, HTW_JOB_BURY);
    }

    /** Makes a job ready that is buried or delayed. */
    static step kick(std::uint64_t id) noexcept {
        return step(id, HTW_JOB_KICK);
    }

    /** Gives a job that is not leased another deadline. */
    static step move(std::uint64_t id, instant deadline) noexcept {
        return step(id, HTW_JOB_MOVE).until(deadline);
    }

    /** Gives a leased job back: at once or as the policy of its queue says; see lease::release(). */
    static step release(std::uint64_t id) noexcept {
        return step(id, HTW_JOB_RELEASE);
    }

    /** The same, with a deadline. */
    static step release_at(std::uint64_t id, instant deadline) noexcept {
        return release(id).until(deadline);
    }

    /** The lease of the job ends at that time. */
    static step extend(std::uint64_t id, instant end) noexcept {
        return step(id, HTW_JOB_EXTEND).until(end);
    }

    /** The same step, which also gives the job a priority. */
    step with_priority(std::uint32_t priority) const noexcept {
        step made(*this);
        made.native_.has_priority = true;
        made.native_.priority = priority;
        return made;
    }

    /** The same step, which fails with ESTALE if the lease of this attempt has ended. */
    step of_attempt(std::uint32_t attempt) const noexcept {
        step made(*this);
        made.native_.attempt = attempt;
        return made;
    }

    const htw_job_update &native() const noexcept {
        return native_;
    }

  private:
    step(std::uint64_t id, htw_job_step kind) noexcept : native_ HTW_JOB_UPDATE_INIT {
        native_.id = id;
        native_.step = kind;
    }

    step until(instant when) const noexcept {
        step made(*this);
        made.native_.deadline_ns = detail::instant_ns(when);
        return made;
    }

    htw_job_update native_;
};

namespace detail {

/* A step that does not apply to the job as it is: a race that was lost, not a failure. */
inline bool is_lost(int result) noexcept {
    return result == -ENOENT || result == -EALREADY || result == -ESTALE;
}

inline htw_job native_job(const job &job) noexcept {
    htw_job native = HTW_JOB_INIT;
    native.deadline_ns = instant_ns(job.deadline);
    native.payload = job.payload.data();
    native.payload_size = job.payload.size();
    native.key = job.key.data();
    native.key_size = job.key.size();
    native.queue = job.queue;
    native.priority = job.priority;
    native.flags = job.if_absent ? HTW_JOB_IF_ABSENT : 0;
    native.lease_ns = job.lease.count();
    return native;
}

/* As failure_to::report(); what() of the exception is a sentence with the file and the cause. */
inline int report_journal(int result, const failure_to &error = {}) {
    return error.report(result, result < 0 ? htw_journal_error() : nullptr);
}

/* The same of a step; a race that was lost, not a failure, is not thrown. */
inline int report_step(int result, const failure_to &error) {
    return error.code() == nullptr && is_lost(result) ? result : report_journal(result, error);
}

/* A callable as the notice of a change that is made later. */
template <class F> struct notice {
    const exception_handler *handler;
    F function;

    static void call(void *arg, int result) noexcept {
        const std::unique_ptr<notice> self(static_cast<notice *>(arg));
        guard(self->handler, [&] {
            if constexpr (std::is_invocable_v<F &, std::error_code, std::uint32_t>)
                self->function(make_error(result),
                               static_cast<std::uint32_t>(result < 0 ? 0 : result));
            else
                self->function(make_error(result));
        });
    }
};

/* Calls `submit(durable, arg)`, which returns as the C function. */
template <class G, class Submit>
int with_notice(const exception_handler *handler, G &&function, Submit &&submit) {
    using F = std::decay_t<G>;
    if constexpr (std::is_same_v<F, no_notice>) {
        static_cast<void>(handler);
        static_cast<void>(function);
        return submit(nullptr, nullptr);
    } else {
        static_assert(std::is_invocable_v<F &, std::error_code> ||
                          std::is_invocable_v<F &, std::error_code, std::uint32_t>,
                      "a notice takes a std::error_code");
        auto *arg = new (std::nothrow) notice<F> { handler, std::forward<G>(function) };
        if (arg == nullptr)
            return -ENOMEM;
        const int result = submit(&notice<F>::call, arg);
        if (result < 0)
            delete arg;
        return result;
    }
}

} // namespace detail

/**
 * A job that is handed out, and the right to say what becomes of it, once. An object whose job was not
 * ended gives it back when it is destroyed, as release() does: so does one that an exception passes.
 *
 * A lease has a copy of the job. It must be ended or destroyed before its journal. It may be moved to
 * another thread; one object is used by one thread at a time.
 *
 * The functions that end it leave it empty: they return false if the lease had ended before, by its
 * time or by another one who ended the job. If they fail otherwise, the lease goes on.
 */
class lease {
  public:
    /** Empty. */
    lease() noexcept = default;

    /** What a hook of C was given. The exceptions of notices go to the handler, if there is one. */
    static lease of(const htw_delivery &delivery, const exception_handler *handler = nullptr) {
        lease made;
        held &job = made.held_;
        job.handler = handler;
        job.id = delivery.id;
        job.attempt = delivery.attempt;
        job.priority = delivery.priority;
        job.deadline_ns = delivery.deadline_ns;
        job.late_ns = delivery.late_ns;
        job.end_ns = delivery.lease_end_ns;
        made.journal_ = delivery.journal;
        // If there is no memory for it, the job is given back.
        job.payload.assign(static_cast<const char *>(delivery.payload), delivery.payload_size);
        if (delivery.key != nullptr)
            job.key.emplace(static_cast<const char *>(delivery.key), delivery.key_size);
        if (delivery.queue != nullptr)
            job.queue.emplace(delivery.queue);
        return made;
    }

    lease(lease &&other) noexcept
        : journal_(std::exchange(other.journal_, nullptr)), held_(std::move(other.held_)) {
    }

    /** Gives back the job that this object had. */
    lease &operator=(lease &&other) noexcept {
        lease moved(std::move(other));
        std::swap(journal_, moved.journal_);
        std::swap(held_, moved.held_);
        return *this;
    }

    ~lease() {
        if (journal_ != nullptr) {
            const step back = own(step::release(id()));
            htw_journal_update_later(journal_, &back.native(), nullptr, nullptr);
        }
    }

    /** Whether there is a job, and it was not ended by this object. */
    explicit operator bool() const noexcept {
        return journal_ != nullptr;
    }

    std::uint64_t id() const noexcept {
        return held_.id;
    }

    const std::string &payload() const noexcept {
        return held_.payload;
    }

    /** None: the job has no key. */
    const std::optional<std::string> &key() const noexcept {
        return held_.key;
    }

    /** None: the default queue. */
    const std::optional<std::string> &queue() const noexcept {
        return held_.queue;
    }

    std::uint32_t priority() const noexcept {
        return held_.priority;
    }

    /** Which attempt this is: 1, 2, ... */
    std::uint32_t attempt() const noexcept {
        return held_.attempt;
    }

    instant deadline() const noexcept {
        return instant(std::chrono::nanoseconds(held_.deadline_ns));
    }

    std::chrono::nanoseconds late() const noexcept {
        return std::chrono::nanoseconds(held_.late_ns);
    }

    /** When the lease ends by itself; instant::max(): it does not, as the job was delivered. */
    instant end() const noexcept {
        return instant(std::chrono::nanoseconds(held_.end_ns));
    }

    /** Ends the job, and waits until that is durable. Throws on failure. */
    bool done(failure_to error = {}) {
        return finish(step::done(id()), error);
    }

    /** Ends the job, without waiting. `notice(std::error_code)` is called when it is durable or has
        failed; after a failure the lease ends by its time. */
    template <class F = no_notice> void done_later(F &&notice = F()) {
        finish_later(step::done(id()), std::forward<F>(notice));
    }

    /** Gives the job back: as the policy of its queue says, and without one at once. */
    bool release(failure_to error = {}) {
        return finish(step::release(id()), error);
    }

    template <class F = no_notice> void release_later(F &&notice = F()) {
        finish_later(step::release(id()), std::forward<F>(notice));
    }

    /** Gives the job back until an instant. */
    bool release_at(instant deadline, failure_to error = {}) {
        return finish(step::release_at(id(), deadline), error);
    }

    /** Puts the job aside until it is kicked. */
    bool bury(failure_to error = {}) {
        return finish(step::bury(id()), error);
    }

    template <class F = no_notice> void bury_later(F &&notice = F()) {
        finish_later(step::bury(id()), std::forward<F>(notice));
    }

    /** The lease ends at that time. Returns false if it has ended; then this is empty. */
    bool extend(instant end) {
        const step longer = own(step::extend(id(), end));
        const int result = htw_journal_update(journal_, &longer.native());
        if (result == 0)
            held_.end_ns = detail::instant_ns(end);
        else if (detail::is_lost(result) && result != -EALREADY) // which says that it has no end
            journal_ = nullptr;
        detail::report_step(result, {});
        return result == 0;
    }

    /** Leaves the job to itself, and returns its id: the lease ends by its time, or by a step that
        names id() and attempt(). */
    std::uint64_t detach() noexcept {
        journal_ = nullptr;
        return id();
    }

  private:
    /* A copy of the job, and what is known of the lease. */
    struct held {
        const exception_handler *handler = nullptr;
        std::uint64_t id = 0;
        std::uint32_t attempt = 0;
        std::uint32_t priority = 0;
        std::int64_t deadline_ns = 0;
        std::int64_t late_ns = 0;
        std::int64_t end_ns = 0;
        std::string payload {};
        std::optional<std::string> key {};
        std::optional<std::string> queue {};
    };

    step own(const step &step) const noexcept {
        return step.of_attempt(attempt());
    }

    bool finish(const step &step, const failure_to &error) {
        const htw::step made = own(step);
        const int result = htw_journal_update(journal_, &made.native());
        if (result == 0 || detail::is_lost(result))
            journal_ = nullptr;
        detail::report_step(result, error);
        return result == 0;
    }

    template <class F = no_notice> void finish_later(const step &step, F &&notice = F()) {
        const htw::step made = own(step);
        detail::report_journal(detail::with_notice(
            held_.handler, std::forward<F>(notice), [&](htw_durable *durable, void *arg) noexcept {
                return htw_journal_update_later(journal_, &made.native(), durable, arg);
            }));
        journal_ = nullptr;
    }

    htw_journal *journal_ = nullptr; /* nullptr: there is no job, or it was ended by this object */
    held held_;
};

/**
 * Changes that are made together or not at all, as struct htw_journal_change: first jobs end and steps
 * are made, then jobs are put. What jobs and keys refer to must stay until it is applied.
 */
class change {
  public:
    change &put(const job &job) {
        jobs_.push_back(detail::native_job(job));
        return *this;
    }

    /** Ends the job of a lease, which this object keeps until the change is applied. */
    change &done(lease &&lease) {
        add(step::done(lease.id()).of_attempt(lease.attempt()));
        leases_.push_back(std::move(lease));
        return *this;
    }

    change &add(const step &step) {
        steps_.push_back(step.native());
        return *this;
    }

  private:
    friend class journal;

    /* Calls `submit(const htw_journal_change &)`, which returns as the C function. Returns the ids of the
       jobs, and throws where that has failed. */
    template <class Submit> std::vector<std::uint64_t> submit(Submit &&submit) {
        std::vector<std::uint64_t> ids(jobs_.size());
        htw_journal_change native = HTW_JOURNAL_CHANGE_INIT;
        native.jobs = jobs_.data();
        native.job_count = jobs_.size();
        native.updates = steps_.data();
        native.update_count = steps_.size();
        detail::report_journal(submit(native));
        for (std::size_t i = 0; i < ids.size(); i++)
            ids[i] = jobs_[i].id;
        for (lease &lease : leases_)
            lease.detach();
        *this = change();
        return ids;
    }

    std::vector<htw_job> jobs_;
    std::vector<htw_job_update> steps_;
    std::vector<lease> leases_;
};

} // namespace htw

#endif // HTW_JOURNAL_JOB_HPP
