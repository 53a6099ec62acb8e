/* SPDX-License-Identifier: MIT */
/* interface.h - what the package uses of htw and of shim.c, in the words that cffi reads. `...`
   stands for what the compiler completes from the headers. */

typedef uint64_t htw_handle;

#define HTW_TICK_NS_MIN ...
#define HTW_TICK_NS_MAX ...
#define HTW_SITES_MAX ...
#define HTW_CLOCK_DEFAULT ...
#define HTW_CLOCK_MONOTONIC ...
#define HTW_CLOCK_BOOTTIME ...
#define HTW_CLOCK_REALTIME ...
#define HTW_CLOCK_MANUAL ...

const char *htw_version(void);
const char *htw_strerror(int result);

/* ---- backoff */

struct htw_backoff_options {
    int64_t initial_ns;
    int64_t cap_ns;
    double multiplier;
    double jitter;
    uint64_t seed;
    ...;
};
struct htw_backoff {
    ...;
};
void htw_backoff_options_init(struct htw_backoff_options *options);
const char *htw_backoff_options_invalid(const struct htw_backoff_options *options);
int htw_backoff_init(struct htw_backoff *backoff, const struct htw_backoff_options *options);
int64_t htw_backoff_next(struct htw_backoff *backoff);
void htw_backoff_reset(struct htw_backoff *backoff);
unsigned htw_backoff_attempts(const struct htw_backoff *backoff);

/* ---- scheduler */

struct htw_scheduler;
struct htw_group;
struct htw_distribution {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    uint64_t max_ns;
};
struct htw_scheduler_options {
    int64_t tick_ns;
    uint32_t wheel_size;
    uint32_t shards;
    uint32_t expirers;
    uint32_t workers;
    bool embedded;
    bool start_threads;
    uint64_t max_pending;
    int64_t timer_slack_ns;
    int64_t late_threshold_ns;
    int64_t manual_start_ns;
    const char *thread_name;
    uint32_t observe;
    ...;
};
struct htw_scheduler_stats {
    uint64_t scheduled;
    uint64_t fired;
    uint64_t cancelled;
    uint64_t handed_back;
    uint64_t runs;
    uint64_t late;
    uint64_t missed;
    uint64_t refused;
    uint64_t moved;
    uint64_t demoted;
    uint64_t wakeups;
    uint64_t empty_wakeups;
    uint64_t pending;
    uint64_t running;
    uint64_t memory_bytes;
    struct htw_distribution lateness;
    struct htw_distribution callback;
    ...;
};
void htw_scheduler_options_init(struct htw_scheduler_options *options);
const char *htw_scheduler_options_invalid(const struct htw_scheduler_options *options);
int py_scheduler_create(struct htw_scheduler **ret_scheduler, struct htw_scheduler_options *options,
                        int clock);
int py_scheduler_stop(struct htw_scheduler *scheduler, void *list);
int htw_scheduler_destroy(struct htw_scheduler *scheduler);
int64_t py_now_by(const struct htw_scheduler *scheduler, int clock);
struct htw_site;
const struct htw_site *py_site(const char *name, const char *file, const char *function,
                               uint32_t line);
htw_handle py_schedule(struct htw_scheduler *scheduler, int64_t when_ns,
                       const struct htw_site *site, void *object);
htw_handle py_schedule_spec(struct htw_scheduler *scheduler, int64_t when_ns, int64_t latest_ns,
                            bool absolute, int64_t period_ns, int repeat, const char *key,
                            size_t key_size, bool has_key, bool keep_existing,
                            struct htw_group *group, int64_t span_ns, int clock,
                            const struct htw_site *site, void *object);
int htw_cancel(struct htw_scheduler *scheduler, htw_handle handle);
int htw_cancel_wait(struct htw_scheduler *scheduler, htw_handle handle);
int htw_cancel_remaining(struct htw_scheduler *scheduler, htw_handle handle, int64_t *ret_left_ns);
int py_cancel_key(struct htw_scheduler *scheduler, struct htw_group *group, const char *key,
                  size_t key_size);
htw_handle htw_find_key(struct htw_scheduler *scheduler, struct htw_group *group, const void *key,
                        size_t key_size);
int htw_reschedule(struct htw_scheduler *scheduler, htw_handle handle, int64_t delay_ns);
int htw_reschedule_at(struct htw_scheduler *scheduler, htw_handle handle, int64_t deadline_ns);
int htw_set_period(struct htw_scheduler *scheduler, htw_handle handle, int64_t period_ns);
bool htw_is_pending(struct htw_scheduler *scheduler, htw_handle handle);
int htw_deadline(struct htw_scheduler *scheduler, htw_handle handle, int64_t *ret_deadline_ns);
int htw_clock_of(struct htw_scheduler *scheduler, htw_handle handle);
uint64_t htw_pending(const struct htw_scheduler *scheduler);
int htw_group_create(struct htw_scheduler *scheduler, struct htw_group **ret_group);
void htw_group_destroy(struct htw_group *group);
int64_t py_group_cancel(struct htw_group *group, void *list);
int htw_group_set_name(struct htw_group *group, const char *name);
int htw_group_set_scale(struct htw_group *group, double scale);
double htw_group_scale(struct htw_group *group);
int htw_group_pause(struct htw_group *group);
int htw_group_resume(struct htw_group *group);
uint64_t htw_group_count(struct htw_group *group);
int htw_scheduler_fd(struct htw_scheduler *scheduler);
int64_t htw_scheduler_next(struct htw_scheduler *scheduler);
int htw_scheduler_process(struct htw_scheduler *scheduler, size_t budget, size_t *ret_count);
int htw_scheduler_advance(struct htw_scheduler *scheduler, int64_t delta_ns);
int py_set_clock(struct htw_scheduler *scheduler, int clock, int64_t time_ns);
void htw_scheduler_stats_init(struct htw_scheduler_stats *stats);
int htw_scheduler_get_stats(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats);
char *py_scheduler_prometheus(struct htw_scheduler *scheduler);
char *py_scheduler_dump(struct htw_scheduler *scheduler);
int htw_scheduler_observe(struct htw_scheduler *scheduler, uint32_t observe);
uint32_t htw_scheduler_observed(const struct htw_scheduler *scheduler);

/* ---- the rest of shim.c, and what Python defines for it */

void free(void *memory);
void py_unraisable(uintptr_t exception, uintptr_t object);
void py_untrack(uintptr_t object);
void *py_library(void);

extern "Python" void py_expired(void *, htw_handle, int64_t, int64_t, uint64_t);
extern "Python" void py_ended(void *);
extern "Python" void py_handed_back(void *, void *, int64_t);
