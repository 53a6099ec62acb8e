/* SPDX-License-Identifier: MIT */
/* source.c - adds and removes what a monitor shows; lending wheels. */
#include "sample.h"

#include <errno.h>
#include <string.h>

static bool is_name(const char *name) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/";
    if (name == NULL)
        return false;
    size_t length = strnlen(name, HTW_MONITOR_NAME_MAX + 1);
    return length > 0 && length <= HTW_MONITOR_NAME_MAX && strspn(name, allowed) == length;
}

static size_t size_of(enum htw__source_kind kind) {
    return sizeof(struct htw_monitor_source) +
           (kind == HTW__SOURCE_WHEEL ? sizeof(struct htw__lent_wheel) : 0);
}

static void release(struct htw_monitor *monitor, struct htw_monitor_source *source) {
    if (source->kind == HTW__SOURCE_WHEEL)
        htw__mutex_fini(&source->of.wheel->mutex);
    htw__release(&monitor->allocator, source, size_of(source->kind));
}

/* Waits while an answer is made. */
static void lock_sources(struct htw_monitor *monitor) {
    htw__mutex_lock(&monitor->mutex);
    while (monitor->is_answering)
        htw__mutex_wait(&monitor->mutex, &monitor->answered);
}

/* Puts the source at the end of the list. */
static int link_source(struct htw_monitor *monitor, struct htw_monitor_source *source) {
    int error = 0;
    lock_sources(monitor);
    struct htw_monitor_source **link = &monitor->sources;
    for (; *link != NULL && error == 0; link = &(*link)->next)
        if ((*link)->kind == source->kind && strcmp((*link)->name, source->name) == 0)
            error = -EEXIST;
    if (error == 0 && monitor->source_count == HTW_MONITOR_SOURCES_MAX)
        error = -EAGAIN;
    if (error == 0) {
        *link = source;
        monitor->source_count++;
    }
    htw__mutex_unlock(&monitor->mutex);
    return error;
}

/* Adds a source that is as `like`. For a wheel, `like` has one on the stack. */
static int add(struct htw_monitor *monitor, const char *name, const void *object,
               const struct htw_monitor_source *like, struct htw_monitor_source **ret_source) {
    if (monitor == NULL || !is_name(name) || object == NULL)
        return -EINVAL;
    if (htw__monitor_is_child(monitor))
        return -EOWNERDEAD;
    struct htw_monitor_source *source = htw__allocate(&monitor->allocator, size_of(like->kind));
    if (source == NULL)
        return -ENOMEM;
    *source = *like;
    source->monitor = monitor;
    memcpy(source->name, name, strlen(name) + 1);
    if (like->kind == HTW__SOURCE_WHEEL) {
        source->of.wheel = (struct htw__lent_wheel *)(source + 1);
        *source->of.wheel = *like->of.wheel;
        htw__mutex_init(&source->of.wheel->mutex, HTW__RANK_MONITOR_WHEEL);
        htw__wheel_copy_take(source->of.wheel);
    }
    int error = link_source(monitor, source);
    if (error != 0)
        release(monitor, source);
    else if (ret_source != NULL)
        *ret_source = source;
    return error;
}

int htw_monitor_add_scheduler(struct htw_monitor *monitor, const char *name,
                              struct htw_scheduler *scheduler,
                              struct htw_monitor_source **ret_source) {
    struct htw_monitor_source like = { .kind = HTW__SOURCE_SCHEDULER, .of.scheduler = scheduler };
    return add(monitor, name, scheduler, &like, ret_source);
}

int htw_monitor_add_purgatory(struct htw_monitor *monitor, const char *name,
                              struct htw_purgatory *purgatory,
                              struct htw_monitor_source **ret_source) {
    struct htw_monitor_source like = { .kind = HTW__SOURCE_PURGATORY, .of.purgatory = purgatory };
    return add(monitor, name, purgatory, &like, ret_source);
}

int htw_monitor_add_journal(struct htw_monitor *monitor, const char *name,
                            struct htw_journal *journal, htw_journal_get_stats_function *get_stats,
                            htw_journal_list_queues_function *list_queues,
                            struct htw_monitor_source **ret_source) {
    struct htw_monitor_source like = { .kind = HTW__SOURCE_JOURNAL,
                                       .of.journal = { journal, get_stats, list_queues } };
    return get_stats == NULL ? -EINVAL : add(monitor, name, journal, &like, ret_source);
}

int htw_monitor_add_wheel(struct htw_monitor *monitor, const char *name,
                          const struct htw_wheel *wheel, int64_t tick_ns,
                          struct htw_monitor_source **ret_source) {
    struct htw__lent_wheel lent = { .wheel = wheel, .tick_ns = tick_ns };
    struct htw_monitor_source like = { .kind = HTW__SOURCE_WHEEL, .of.wheel = &lent };
    return tick_ns < 0 || ret_source == NULL ? -EINVAL
                                             : add(monitor, name, wheel, &like, ret_source);
}

static void unlink_source(struct htw_monitor *monitor, const struct htw_monitor_source *source) {
    lock_sources(monitor);
    struct htw_monitor_source **link = &monitor->sources;
    while (*link != source)
        link = &(*link)->next;
    *link = source->next;
    monitor->source_count--;
    htw__mutex_unlock(&monitor->mutex);
}

void htw_monitor_remove(struct htw_monitor_source *source) {
    if (source == NULL || htw__monitor_is_child(source->monitor))
        return;
    struct htw_monitor *monitor = source->monitor;
    unlink_source(monitor, source);
    release(monitor, source);
}

/* ---- lending */

static struct htw__lent_wheel *lent_of(struct htw_monitor_source *source) {
    return source == NULL || source->kind != HTW__SOURCE_WHEEL ||
                   htw__monitor_is_child(source->monitor)
               ? NULL
               : source->of.wheel;
}

void htw_monitor_lend(struct htw_monitor_source *source) {
    struct htw__lent_wheel *lent = lent_of(source);
    if (lent == NULL)
        return;
    htw__mutex_lock(&lent->mutex);
    if (lent->is_wanted)
        htw__wheel_copy_take(lent);
    lent->is_lent = true;
    htw__mutex_unlock(&lent->mutex);
}

void htw_monitor_take_back(struct htw_monitor_source *source) {
    struct htw__lent_wheel *lent = lent_of(source);
    if (lent == NULL)
        return;
    htw__mutex_lock(&lent->mutex);
    lent->is_lent = false;
    htw__mutex_unlock(&lent->mutex);
}
