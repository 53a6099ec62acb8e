/* SPDX-License-Identifier: MIT */
/* stats.c - answers in YAML. */
#include "stats.h"

#include "reservation.h"
#include "tube.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Appends an answer with its length, and empties `body`. */
static void answer(struct htw__buffer *output, struct htw__buffer *body) {
    if (body->failed) {
        htw__buffer_print(output, "OUT_OF_MEMORY\r\n");
    } else {
        htw__buffer_print(output, "OK %zu\r\n", body->size);
        htw__buffer_append(output, body->bytes, body->size);
        htw__buffer_print(output, "\r\n");
    }
    htw__buffer_fini(body);
}

static void add(struct htw__buffer *body, const char *name, uint64_t value) {
    htw__buffer_print(body, "%s: %" PRIu64 "\n", name, value);
}

/* ---- lists */

void htw__serve_stats_list_tubes(const struct htw__operation *operation,
                                 struct htw__buffer *output) {
    const struct htw__buffer *tubes = &operation->tubes;
    htw__buffer_print(output, "OK %zu\r\n---\n", tubes->size + 4);
    htw__buffer_append(output, tubes->bytes, tubes->size);
    htw__buffer_print(output, "\r\n");
}

void htw__serve_stats_list_watched(struct htw__connection *connection) {
    struct htw__buffer body = { .bytes = NULL };
    htw__buffer_print(&body, "---\n");
    for (size_t i = 0; i < connection->watched_count; i++)
        htw__buffer_print(&body, "- %s\n", connection->watched[i]);
    answer(&connection->output, &body);
}

/* ---- the server */

static void add_commands(struct htw__buffer *body, const struct htw__server *server) {
    for (enum htw__verb verb = HTW__VERB_PUT; verb <= HTW__VERB_PAUSE_TUBE; verb++) {
        const char *word = htw__serve_word(verb);
        htw__buffer_print(body, "cmd-%.*s: %" PRIu64 "\n", (int)strcspn(word, " "), word,
                          server->commands[verb]);
    }
}

static void add_connections(struct htw__buffer *body, const struct htw__server *server) {
    add(body, "current-connections", server->connection_count);
    add(body, "current-producers", server->producers);
    add(body, "current-workers", server->workers);
    add(body, "current-waiting", server->waiting);
    add(body, "total-connections", server->total_connections);
}

static void add_process(struct htw__buffer *body, const struct htw__server *server) {
    struct rusage usage = { .ru_utime = { 0, 0 } };
    getrusage(RUSAGE_SELF, &usage);
    add(body, "pid", (uint64_t)getpid());
    htw__buffer_print(body, "version: \"" HTW__SERVE_VERSION "\"\n");
    htw__buffer_print(body, "rusage-utime: %jd.%06ld\nrusage-stime: %jd.%06ld\n",
                      (intmax_t)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec,
                      (intmax_t)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec);
    add(body, "uptime", (uint64_t)((htw__clock_boottime_ns() - server->started_ns) / HTW_SECOND));
}

static void add_journal(struct htw__buffer *body, const struct htw__server *server) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    (void)htw_journal_get_stats(server->journal, &stats);
    htw__buffer_text(body, "binlog-oldest-index: 0\nbinlog-current-index: 0\n"
                           "binlog-records-migrated: 0\n");
    add(body, "binlog-records-written", stats.put);
    add(body, "binlog-max-size", 0);
}

static void add_system(struct htw__buffer *body, const struct htw__server *server) {
    struct utsname system = { .nodename = "" };
    uname(&system);
    htw__buffer_print(body, "draining: %s\nid: %s\n", server->is_draining ? "true" : "false",
                      server->id);
    htw__buffer_print(body, "hostname: %s\nos: %s\nplatform: %s\n", system.nodename, system.version,
                      system.machine);
}

void htw__serve_stats_server(const struct htw__operation *operation, struct htw__buffer *output) {
    const struct htw__server *server = operation->server;
    struct htw__buffer body = { .bytes = NULL };
    htw__buffer_print(&body, "---\n");
    add(&body, "current-jobs-urgent", operation->urgent);
    add(&body, "current-jobs-ready", operation->sum.ready);
    add(&body, "current-jobs-reserved", operation->sum.leased);
    add(&body, "current-jobs-delayed", operation->sum.delayed);
    add(&body, "current-jobs-buried", operation->sum.buried);
    add_commands(&body, server);
    add(&body, "job-timeouts", server->timeouts);
    add(&body, "total-jobs", server->total_jobs);
    add(&body, "max-job-size", server->options.max_job_size);
    add(&body, "current-tubes", operation->tube_count);
    add_connections(&body, server);
    add_process(&body, server);
    add_journal(&body, server);
    add_system(&body, server);
    answer(output, &body);
}

/* ---- a tube */

/* Whole seconds until an instant. */
static uint64_t seconds_until(int64_t end_ns, int64_t now_ns) {
    return end_ns > now_ns ? (uint64_t)(end_ns - now_ns) / HTW_SECOND : 0;
}

void htw__serve_stats_tube(const struct htw__operation *operation, struct htw__buffer *output) {
    const struct htw__tube *tube = operation->tube;
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    struct htw__buffer body = { .bytes = NULL };
    (void)htw_journal_get_queue(operation->server->journal, tube->name, &stats);
    int64_t now = htw__clock_realtime_ns();
    bool is_paused = stats.paused_until_ns > now;
    htw__buffer_print(&body, "---\nname: %s\n", tube->name);
    add(&body, "current-jobs-urgent", operation->urgent);
    add(&body, "current-jobs-ready", stats.ready);
    add(&body, "current-jobs-reserved", stats.leased);
    add(&body, "current-jobs-delayed", stats.delayed);
    add(&body, "current-jobs-buried", stats.buried);
    add(&body, "total-jobs", tube->total_jobs);
    add(&body, "current-using", tube->users);
    add(&body, "current-watching", tube->watchers);
    add(&body, "current-waiting", stats.waiting);
    add(&body, "cmd-delete", tube->deletes);
    add(&body, "cmd-pause-tube", tube->pauses);
    add(&body, "pause", is_paused ? tube->pause_s : 0);
    add(&body, "pause-time-left", seconds_until(stats.paused_until_ns, now));
    answer(output, &body);
}

/* ---- a job */

static uint64_t time_left(const struct htw__operation *operation, int64_t now_ns) {
    const struct htw_job_info *info = &operation->found->info;
    const struct htw__reservation *reservation =
        htw__reservation_find(operation->server, info->id, NULL);
    if (reservation != NULL)
        return seconds_until(reservation->end_ns, htw__clock_boottime_ns());
    return info->state == HTW_JOB_DELAYED ? seconds_until(info->deadline_ns, now_ns) : 0;
}

/* For which delay the job was put. After a release it is what is left of it. */
static uint64_t delay_of(const struct htw_job_info *info, int64_t now_ns) {
    if (info->state == HTW_JOB_LEASED || info->state == HTW_JOB_BURIED)
        return 0;
    int64_t from_ns = info->releases == 0 ? info->put_ns : now_ns;
    return seconds_until(info->deadline_ns + HTW_SECOND / 2, from_ns);
}

void htw__serve_stats_job(const struct htw__operation *operation, struct htw__buffer *output) {
    static const char *const states[] = { "delayed", "ready", "reserved", "buried" };
    const struct htw_job_info *info = &operation->found->info;
    struct htw__buffer body = { .bytes = NULL };
    int64_t now = htw__clock_realtime_ns();
    htw__buffer_print(&body, "---\nid: %" PRIu64 "\ntube: %s\nstate: %s\n", info->id,
                      operation->found->tube, states[info->state]);
    add(&body, "pri", info->priority);
    add(&body, "age", seconds_until(now, info->put_ns));
    add(&body, "delay", delay_of(info, now));
    add(&body, "ttr", (uint64_t)htw__reservation_ttr(info->lease_ns) / HTW_SECOND);
    add(&body, "time-left", time_left(operation, now));
    add(&body, "file", 0);
    add(&body, "reserves", info->attempts);
    add(&body, "timeouts", info->timeouts);
    add(&body, "releases", info->releases);
    add(&body, "buries", info->buries);
    add(&body, "kicks", info->kicks);
    answer(output, &body);
}
