/* SPDX-License-Identifier: MIT */
/* journal_interface.h - what the module htw.journal uses of htw/journal.h and of journal.c, as interface.h
   for the rest. */

#define HTW_JOURNAL_MARK_MAX ...
#define HTW_KICK_MAX ...
#define HTW_JOB_IF_ABSENT ...

struct htw_delivery {
    uint64_t id;
    int64_t deadline_ns;
    int64_t late_ns;
    const void *payload;
    size_t payload_size;
    const void *key;
    size_t key_size;
    const char *queue;
    uint32_t priority;
    uint32_t attempt;
    int64_t lease_end_ns;
    ...;
};
typedef int htw_next_instant(const char *schedule, const char *zone, int64_t after_ns,
                             int64_t *ret_next_ns);
struct htw_journal_options {
    htw_next_instant *next_instant;
    uint32_t parallel;
    int64_t near_ns;
    uint64_t max_memory;
    uint64_t max_jobs;
    uint64_t max_in_flight;
    int64_t gather_ns;
    int64_t lease_ns;
    int64_t history_ns;
    bool is_guest;
    int64_t inbox_ns;
    ...;
};
struct htw_job {
    int64_t deadline_ns;
    const void *payload;
    size_t payload_size;
    const void *key;
    size_t key_size;
    uint64_t id;
    const char *queue;
    uint32_t priority;
    uint32_t flags;
    int64_t lease_ns;
    ...;
};
enum htw_job_state {
    HTW_JOB_DELAYED,
    ...
};
enum htw_job_step {
    HTW_JOB_END,
    HTW_JOB_CANCEL,
    HTW_JOB_RELEASE,
    HTW_JOB_BURY,
    HTW_JOB_KICK,
    HTW_JOB_MOVE,
    HTW_JOB_EXTEND,
    ...
};
struct htw_job_update {
    uint64_t id;
    const void *key;
    size_t key_size;
    enum htw_job_step step;
    uint32_t attempt;
    int64_t deadline_ns;
    bool has_priority;
    uint32_t priority;
    ...;
};
struct htw_journal_change {
    struct htw_job *jobs;
    size_t job_count;
    const void *mark;
    size_t mark_size;
    const struct htw_job_update *updates;
    size_t update_count;
    ...;
};
struct htw_lease {
    const char *const *queues;
    size_t queue_count;
    uint64_t id;
    int64_t lease_ns;
    int64_t wait_until_ns;
    bool is_durable;
    ...;
};
struct htw_job_info {
    uint64_t id;
    enum htw_job_state state;
    const char *queue;
    const void *payload;
    size_t payload_size;
    const void *key;
    size_t key_size;
    int64_t deadline_ns;
    int64_t put_ns;
    int64_t lease_ns;
    uint32_t priority;
    uint32_t attempts, releases, timeouts, buries, kicks;
    ...;
};
struct htw_list_place {
    ...;
};
struct htw_queue_policy {
    uint32_t attempts_max;
    int64_t initial_ns;
    int64_t cap_ns;
    double multiplier;
    double jitter;
    ...;
};
struct htw_queue_stats {
    const char *name;
    uint64_t delayed, ready, leased, buried, done;
    uint64_t waiting;
    int64_t paused_until_ns;
    struct htw_queue_policy policy;
    ...;
};
struct htw_recurring {
    const char *name;
    const char *schedule;
    const char *zone;
    int64_t after_ns;
    int64_t grace_ns;
    uint32_t catch_up;
    struct htw_job job;
    int64_t next_ns;
    ...;
};
struct htw_distribution {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    uint64_t max_ns;
};
struct htw_journal_stats {
    uint64_t found;
    uint64_t put;
    uint64_t done;
    uint64_t cancelled;
    uint64_t replaced;
    uint64_t delivered;
    uint64_t refused;
    uint64_t failed;
    uint64_t commits;
    uint64_t checkpoints;
    uint64_t jobs;
    uint64_t in_flight;
    uint64_t in_memory;
    uint64_t queued;
    uint64_t memory_bytes;
    uint64_t log_bytes;
    uint64_t delayed;
    uint64_t ready;
    uint64_t leased;
    uint64_t buried;
    uint64_t kept;
    uint64_t queues;
    uint64_t requests;
    uint64_t oldest_ns;
    uint64_t stopped;
    struct htw_distribution commit;
    struct htw_distribution durable;
    struct htw_distribution lateness;
    ...;
};
struct py_journal;
struct py_queues {
    struct htw_queue_stats *stats;
    size_t count;
    ...;
};

const char *htw_journal_error(void);
void htw_journal_options_init(struct htw_journal_options *options);
void htw_job_init(struct htw_job *job);
void htw_job_update_init(struct htw_job_update *update);
void htw_journal_change_init(struct htw_journal_change *change);
void htw_lease_init(struct htw_lease *lease);
void htw_queue_policy_init(struct htw_queue_policy *policy);
void htw_queue_stats_init(struct htw_queue_stats *stats);
void htw_recurring_init(struct htw_recurring *rule);
void htw_journal_stats_init(struct htw_journal_stats *stats);
void free(void *memory);

void py_connect(void *other);
int py_journal_open(struct py_journal **ret_journal, void *scheduler, const char *path,
                    struct htw_journal_options *options, int synchronous, bool has_deliver,
                    bool has_stopped, uintptr_t arg);
int py_journal_close(struct py_journal *journal);
int py_journal_destroy(struct py_journal *journal);
bool py_is_in_notice(const struct py_journal *journal);
int64_t py_journal_now(struct py_journal *journal);
int py_apply(struct py_journal *journal, const struct htw_journal_change *change, uintptr_t arg);
int py_give_back(struct py_journal *journal, uint64_t id, uint32_t attempt);
int py_wake(struct py_journal *journal);
int py_kick(struct py_journal *journal, const char *queue, uint32_t count, uintptr_t arg);
int py_sync(struct py_journal *journal);
int py_lease_later(struct py_journal *journal, const struct htw_lease *lease, uintptr_t arg,
                   uint64_t *ret_request);
int py_lease_cancel(struct py_journal *journal, uint64_t request);
int py_peek(struct py_journal *journal, uint64_t id, uintptr_t arg);
int py_list(struct py_journal *journal, const char *queue, int state, struct htw_list_place *place,
            uint32_t count, uintptr_t arg);
int py_get_queue(struct py_journal *journal, const char *queue, struct htw_queue_stats *stats);
int py_list_queues(struct py_journal *journal, struct py_queues *queues);
void py_free_queues(struct py_queues *queues);
int py_set_policy(struct py_journal *journal, const char *queue,
                  const struct htw_queue_policy *policy);
int py_pause(struct py_journal *journal, const char *queue, int64_t until_ns);
int py_set_recurring(struct py_journal *journal, const struct htw_recurring *rule);
int py_remove_recurring(struct py_journal *journal, const char *name);
int py_list_recurring(struct py_journal *journal, const char *after, uint32_t count, uintptr_t arg);
int64_t py_get_mark(struct py_journal *journal, void *buffer, size_t size);
int py_get_stats(struct py_journal *journal, struct htw_journal_stats *stats);
char *py_prometheus(struct py_journal *journal);

extern "Python" void py_deliver(uintptr_t, const struct htw_delivery *);
extern "Python" void py_stopped(uintptr_t, const char *);
extern "Python" void py_durable(uintptr_t, int);
extern "Python" void py_leased(uintptr_t, int, const struct htw_delivery *);
extern "Python" bool py_visit(uintptr_t, const struct htw_job_info *);
extern "Python" bool py_visit_recurring(uintptr_t, const struct htw_recurring *);
