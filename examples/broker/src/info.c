/* SPDX-License-Identifier: MIT */
/* info.c - INFO: the statistics, including those of the purgatory and the scheduler. */
#include "command.h"
#include "journal.h"
#include "loop.h"
#include "reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static void line(struct buffer *text, const char *format,
                                                       ...) {
    char bytes[160];
    va_list list;
    va_start(list, format);
    int size = vsnprintf(bytes, sizeof(bytes), format, list);
    va_end(list);
    buffer_append(text, bytes, (size_t)size);
    buffer_append(text, "\r\n", 2);
}

static void field(struct buffer *text, const char *name, uint64_t value) {
    line(text, "%s:%llu", name, (unsigned long long)value);
}

static uint64_t sum(struct broker *broker, size_t offset) {
    uint64_t total = 0;
    for (unsigned i = 0; i < broker->options.threads; i++)
        total += atomic_load_explicit((atomic_uint_fast64_t *)((char *)&broker->loops[i] + offset),
                                      memory_order_acquire);
    return total;
}

static void server(struct broker *broker, struct buffer *text) {
    line(text, "redis_version:7.0.0"); /* the version whose behaviour it follows */
    line(text, "redis_mode:standalone");
    line(text, "server_name:htw-broker");
    field(text, "process_id", (uint64_t)getpid());
    field(text, "tcp_port", broker->port);
    field(text, "io_threads", broker->options.threads);
}

static void clients(struct broker *broker, struct buffer *text) {
    field(text, "connected_clients", atomic_load(&broker->clients));
    field(text, "maxclients", broker->options.max_clients);
    field(text, "blocked_clients", atomic_load(&broker->blocked_clients));
}

static void memory(struct broker *broker, struct buffer *text) {
    field(text, "used_memory", store_memory(&broker->store));
    field(text, "mem_clients_normal", atomic_load(&broker->client_memory));
    field(text, "maxmemory", broker->options.max_memory);
}

static void stats(struct broker *broker, struct buffer *text) {
    const struct store *store = &broker->store;
    field(text, "total_connections_received", sum(broker, offsetof(struct loop, connections)));
    field(text, "total_commands_processed", sum(broker, offsetof(struct loop, commands)));
    field(text, "rejected_connections", sum(broker, offsetof(struct loop, refused)));
    field(text, "client_query_buffer_limit_disconnections",
          sum(broker, offsetof(struct loop, closed_for_input)));
    field(text, "evicted_clients", sum(broker, offsetof(struct loop, evicted)));
    field(text, "expired_keys", store->expired);
    field(text, "keyspace_hits", store->hits);
    field(text, "keyspace_misses", store->misses);
    field(text, "deliveries_pending",
          broker->journal == NULL ? broker->deliveries : journal_pending(broker));
    field(text, "deliveries_failed", broker->deliveries_failed);
}

static void purgatory(struct broker *broker, struct buffer *text) {
    struct htw_purgatory_stats now = HTW_PURGATORY_STATS_INIT;
    if (htw_purgatory_get_stats(broker->purgatory, &now) != 0)
        return;
    field(text, "purgatory_submitted", now.submitted);
    field(text, "purgatory_completed", now.completed);
    field(text, "purgatory_expired", now.expired);
    field(text, "purgatory_cancelled", now.cancelled);
    field(text, "purgatory_closed", now.closed);
    field(text, "purgatory_pending", now.pending);
    field(text, "purgatory_delayed", now.delayed);
    field(text, "purgatory_watched", now.watched);
    field(text, "purgatory_keys", now.keys);
    field(text, "purgatory_memory", now.memory_bytes);
}

static void scheduler(struct broker *broker, struct buffer *text) {
    struct htw_scheduler_stats now = HTW_SCHEDULER_STATS_INIT;
    if (htw_scheduler_get_stats(broker->scheduler, &now) != 0)
        return;
    field(text, "scheduler_scheduled", now.scheduled);
    field(text, "scheduler_fired", now.fired);
    field(text, "scheduler_cancelled", now.cancelled);
    field(text, "scheduler_pending", now.pending);
    field(text, "scheduler_late", now.late);
    field(text, "scheduler_wakeups", now.wakeups);
    field(text, "scheduler_empty_wakeups", now.empty_wakeups);
    field(text, "scheduler_memory", now.memory_bytes);
    field(text, "scheduler_lateness_p50_us", now.lateness.p50_ns / 1000);
    field(text, "scheduler_lateness_p99_us", now.lateness.p99_ns / 1000);
    field(text, "scheduler_lateness_max_us", now.lateness.max_ns / 1000);
}

static const struct {
    const char *name;
    void (*write)(struct broker *broker, struct buffer *text);
} sections[] = { { "Server", server }, { "Clients", clients },     { "Memory", memory },
                 { "Stats", stats },   { "Purgatory", purgatory }, { "Scheduler", scheduler } };

void command_info(struct call *call) {
    struct buffer text = { .bytes = NULL };
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        bool is_wanted = call->count == 1;
        for (size_t j = 1; j < call->count && !is_wanted; j++)
            is_wanted = command_is(&call->arguments[j], sections[i].name) ||
                        command_is(&call->arguments[j], "all") ||
                        command_is(&call->arguments[j], "everything");
        if (!is_wanted)
            continue;
        line(&text, "%s# %s", text.size > 0 ? "\r\n" : "", sections[i].name);
        sections[i].write(call->broker, &text);
    }
    reply_bulk(call->reply, text.bytes, text.size);
    buffer_fini(&text);
}
