/* SPDX-License-Identifier: MIT */
/*
 * journal.c - the functions between htw/journal.h and the module htw.journal, as shim.c for the rest.
 *
 * This is an extension of its own, so that the package neither needs SQLite to be built nor to be imported.
 *
 * Python calls from any thread, also while another one closes the journal, which htw_journal_close() does not
 * allow. So a journal has a count of the threads that use it, and a close waits until there are none. What
 * may take long, a request for a lease, is made later, and does not count.
 *
 * What Python is to be told is named by a number, the `arg` of notices and visits.
 */
#include "lent.h"

#include <htw/journal_guest.h>
#include <htw/journal_inspect.h>

#include <string.h>
#include <sys/types.h>

/* written in Python; cffi defines them below, in the same file */
static void py_deliver(uintptr_t arg, const struct htw_delivery *delivery);
static void py_stopped(uintptr_t arg, const char *why);
static void py_durable(uintptr_t arg, int result);
static void py_leased(uintptr_t arg, int result, const struct htw_delivery *delivery);
static _Bool py_visit(uintptr_t arg, const struct htw_job_info *info);

static void py_connect(void *other) {
    library = other;
}

#ifdef PY_BUNDLED
/* What the sources of the journal call besides. */
int htw_cancel_wait(struct htw_scheduler *scheduler, htw_handle handle) {
    return library->cancel_wait(scheduler, handle);
}

enum htw_clock htw_scheduler_clock(const struct htw_scheduler *scheduler) {
    return library->clock(scheduler);
}

int64_t htw_scheduler_now(const struct htw_scheduler *scheduler) {
    return library->now(scheduler);
}

const struct htw_site *htw_scheduler_keep_site(struct htw_scheduler *scheduler,
                                               const struct htw_site *site) {
    return library->keep_site(scheduler, site);
}
#endif

struct py_journal {
    struct htw_journal *native; /* NULL: closed */
    uintptr_t arg;              /* of py_deliver() and py_stopped() */
    pid_t process;
    pthread_mutex_t mutex;
    pthread_cond_t unused;
    unsigned users;
    bool is_closing;
};

/* ---- the hooks */

/* The hooks that a thread is in. What they call may go on while another thread closes the journal. */
struct frame {
    const struct py_journal *journal;
    bool is_notice; /* in the thread that writes */
    struct frame *outer;
};

static _Thread_local struct frame *frames;

static bool is_inside(const struct py_journal *journal) {
    const struct frame *frame = frames;
    while (frame != NULL && frame->journal != journal)
        frame = frame->outer;
    return frame != NULL;
}

static _Bool py_is_in_notice(const struct py_journal *journal) {
    const struct frame *frame = frames;
    while (frame != NULL && !(frame->journal == journal && frame->is_notice))
        frame = frame->outer;
    return frame != NULL;
}

/* Calls a function of Python in a hook of a journal. */
#define PY_HOOK(of, is_notice, call)                        \
    do {                                                    \
        struct frame frame = { (of), (is_notice), frames }; \
        frames = &frame;                                    \
        PY_CALL(call);                                      \
        frames = frame.outer;                               \
    } while (0)

static void deliver(void *context, const struct htw_delivery *delivery) {
    const struct py_journal *journal = context;
    PY_HOOK(journal, false, py_deliver(journal->arg, delivery));
}

static void stopped(void *context, const char *why) {
    const struct py_journal *journal = context;
    PY_HOOK(journal, true, py_stopped(journal->arg, why));
}

/* The `arg` of a notice. */
struct notice {
    struct py_journal *journal;
    uintptr_t arg;
};

static struct notice *create_notice(struct py_journal *journal, uintptr_t arg) {
    struct notice *notice = malloc(sizeof(*notice));
    if (notice != NULL)
        *notice = (struct notice) { journal, arg };
    return notice;
}

static void durable(void *arg, int result) {
    struct notice notice = *(struct notice *)arg;
    free(arg);
    PY_HOOK(notice.journal, true, py_durable(notice.arg, result));
}

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    struct notice notice = *(struct notice *)arg;
    free(arg);
    PY_HOOK(notice.journal, true, py_leased(notice.arg, result, delivery));
}

static bool visit(void *arg, const struct htw_job_info *info) {
    bool goes_on = false;
    PY_CALL(goes_on = py_visit((uintptr_t)arg, info));
    return goes_on;
}

/* ---- opening and closing */

static int py_journal_open(struct py_journal **ret_journal, struct htw_scheduler *scheduler,
                           const char *path, struct htw_journal_options *options, _Bool has_deliver,
                           _Bool has_stopped, uintptr_t arg) {
    struct py_journal *journal = calloc(1, sizeof(*journal));
    if (journal == NULL)
        return -ENOMEM;
    options->deliver = has_deliver ? deliver : NULL;
    options->stopped = has_stopped ? stopped : NULL;
    options->context = journal;
    journal->arg = arg;
    journal->process = getpid();
    pthread_mutex_init(&journal->mutex, NULL);
    pthread_cond_init(&journal->unused, NULL);
    /* What `deliver` calls waits until `native` is known. */
    pthread_mutex_lock(&journal->mutex);
    int result = htw_journal_open(&journal->native, scheduler, path, options);
    pthread_mutex_unlock(&journal->mutex);
    if (result == 0)
        *ret_journal = journal;
    else
        free(journal);
    return result;
}

/* 0: `*ret_native` may be used until end_use(). */
static int use(struct py_journal *journal, struct htw_journal **ret_native) {
    if (journal->process != getpid())
        return -EOWNERDEAD; /* the mutex is as the parent had it */
    pthread_mutex_lock(&journal->mutex);
    bool is_own = is_inside(journal);
    bool is_open = journal->native != NULL && (is_own || !journal->is_closing);
    journal->users += is_open && !is_own;
    *ret_native = journal->native;
    pthread_mutex_unlock(&journal->mutex);
    return is_open ? 0 : -ESHUTDOWN;
}

static void end_use(struct py_journal *journal) {
    if (is_inside(journal))
        return;
    pthread_mutex_lock(&journal->mutex);
    if (--journal->users == 0)
        pthread_cond_broadcast(&journal->unused);
    pthread_mutex_unlock(&journal->mutex);
}

/* Calls a function of an open journal, which is named `native`, and returns what it does. */
#define PY_USE(type, call)               \
    struct htw_journal *native;          \
    type result = use(journal, &native); \
    if (result == 0) {                   \
        result = (call);                 \
        end_use(journal);                \
    }                                    \
    return result

/* The same with a notice, which is named `notice`; NULL if `arg` is 0. */
#define PY_USE_LATER(call)                                                 \
    struct notice *notice = arg == 0 ? NULL : create_notice(journal, arg); \
    if (arg != 0 && notice == NULL)                                        \
        return -ENOMEM;                                                    \
    struct htw_journal *native;                                            \
    int result = use(journal, &native);                                    \
    if (result == 0) {                                                     \
        result = (call);                                                   \
        end_use(journal);                                                  \
    }                                                                      \
    if (result < 0)                                                        \
        free(notice);                                                      \
    return result

/* -EALREADY: it was closed, or another thread does that. */
static int py_journal_close(struct py_journal *journal) {
    if (journal->process != getpid())
        return -EOWNERDEAD;
    if (is_inside(journal))
        return -EDEADLK;
    pthread_mutex_lock(&journal->mutex);
    if (journal->native == NULL || journal->is_closing) {
        pthread_mutex_unlock(&journal->mutex);
        return -EALREADY;
    }
    journal->is_closing = true;
    while (journal->users > 0)
        pthread_cond_wait(&journal->unused, &journal->mutex);
    pthread_mutex_unlock(&journal->mutex);
    int result = htw_journal_close(journal->native);
    pthread_mutex_lock(&journal->mutex);
    journal->is_closing = false;
    journal->native = NULL;
    pthread_mutex_unlock(&journal->mutex);
    return result;
}

/* No thread is in a call. */
static int py_journal_destroy(struct py_journal *journal) {
    int result = py_journal_close(journal);
    if (result == -EDEADLK || result == -EOWNERDEAD)
        return result;
    pthread_cond_destroy(&journal->unused);
    pthread_mutex_destroy(&journal->mutex);
    free(journal);
    return 0;
}

/* ---- changes. `arg` 0: they wait; otherwise py_durable() tells. */

static int py_apply(struct py_journal *journal, const struct htw_journal_change *change,
                    uintptr_t arg) {
    PY_USE_LATER(arg == 0 ? htw_journal_apply(native, change)
                          : htw_journal_apply_later(native, change, durable, notice));
}

/* Without a notice: for a lease that is dropped. */
static int py_give_back(struct py_journal *journal, uint64_t id, uint32_t attempt) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = id;
    update.step = HTW_JOB_RELEASE;
    update.attempt = attempt;
    PY_USE(int, htw_journal_update_later(native, &update, NULL, NULL));
}

static int py_kick(struct py_journal *journal, const char *queue, uint32_t count, uintptr_t arg) {
    PY_USE_LATER(arg == 0 ? htw_journal_kick(native, queue, count)
                          : htw_journal_kick_later(native, queue, count, durable, notice));
}

static int py_sync(struct py_journal *journal) {
    PY_USE(int, htw_journal_sync(native));
}

static int py_wake(struct py_journal *journal) {
    PY_USE(int, htw_journal_wake(native));
}

/* ---- leases */

static int py_lease_later(struct py_journal *journal, const struct htw_lease *lease, uintptr_t arg,
                          uint64_t *ret_request) {
    PY_USE_LATER(htw_journal_lease_later(native, lease, leased, notice, ret_request));
}

static int py_lease_cancel(struct py_journal *journal, uint64_t request) {
    PY_USE(int, htw_journal_lease_cancel(native, request));
}

/* ---- looking */

static int py_peek(struct py_journal *journal, uint64_t id, uintptr_t arg) {
    PY_USE(int, htw_journal_peek(native, id, visit, (void *)arg));
}

static int py_list(struct py_journal *journal, const char *queue, enum htw_job_state state,
                   struct htw_list_place *place, uint32_t count, uintptr_t arg) {
    PY_USE(int, htw_journal_list(native, queue, state, place, count, visit, (void *)arg));
}

static int py_get_queue(struct py_journal *journal, const char *queue,
                        struct htw_queue_stats *stats) {
    PY_USE(int, htw_journal_get_queue(native, queue, stats));
}

/* Copies of all queues: Python must not be called under the lock of the journal. */
struct queues {
    struct htw_queue_stats *stats;
    size_t count;
    bool lacks_memory;
};

static bool copy_queue(void *context, const struct htw_queue_stats *stats) {
    struct queues *queues = context;
    size_t count = queues->count;
    struct htw_queue_stats copy = *stats;
    copy.name = stats->name == NULL ? NULL : strdup(stats->name);
    queues->lacks_memory = stats->name != NULL && copy.name == NULL;
    if (!queues->lacks_memory && (count & (count - 1)) == 0) { /* the array is full */
        void *more = realloc(queues->stats, (2 * count + 1) * sizeof(copy));
        queues->lacks_memory = more == NULL;
        queues->stats = more != NULL ? more : queues->stats;
    }
    if (queues->lacks_memory) {
        free((char *)copy.name);
        return false;
    }
    queues->stats[queues->count++] = copy;
    return true;
}

static int list_queues(struct py_journal *journal, struct queues *queues) {
    PY_USE(int, htw_journal_list_queues(native, copy_queue, queues));
}

static void py_free_queues(struct htw_queue_stats *stats, int count) {
    for (int i = 0; i < count; i++)
        free((char *)stats[i].name);
    free(stats);
}

/* Returns how many there are, to be freed by py_free_queues(). */
static int py_list_queues(struct py_journal *journal, struct htw_queue_stats **ret_stats) {
    struct queues queues = { NULL, 0, false };
    int result = list_queues(journal, &queues);
    if (result == 0 && queues.lacks_memory)
        result = -ENOMEM;
    if (result < 0) {
        py_free_queues(queues.stats, (int)queues.count);
        return result;
    }
    *ret_stats = queues.stats;
    return (int)queues.count;
}

static int py_set_policy(struct py_journal *journal, const char *queue,
                         const struct htw_queue_policy *policy) {
    PY_USE(int, htw_journal_set_policy(native, queue, policy));
}

static int py_pause(struct py_journal *journal, const char *queue, int64_t until_ns) {
    PY_USE(int, htw_journal_pause(native, queue, until_ns));
}

/* ---- the rest */

static int py_get_stats(struct py_journal *journal, struct htw_journal_stats *stats) {
    PY_USE(int, htw_journal_get_stats(native, stats));
}

static int prometheus(struct py_journal *journal, FILE *stream) {
    PY_USE(int, htw_journal_prometheus(native, stream));
}

static char *py_prometheus(struct py_journal *journal) {
    PY_TEXT_OF(prometheus(journal, stream));
}
