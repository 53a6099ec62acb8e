/* SPDX-License-Identifier: MIT */
/* source.c - adds and removes what a monitor shows; lending wheels. */
#include "wheel_copy.h"

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

static void release(struct htw_monitor *monitor, struct htw_monitor_source *source) {
    if (source->kind == HTW__SOURCE_WHEEL && source->of.wheel != NULL) {
        htw__mutex_fini(&source->of.wheel->mutex);
        htw__release(&monitor->allocator, source->of.wheel, sizeof(*source->of.wheel));
    }
    htw__release(&monitor->allocator, source, sizeof(*source));
}

/* Puts the source at the end of the list. */
static int link_source(struct htw_monitor *monitor, struct htw_monitor_source *source) {
    int error = 0;
    htw__mutex_lock(&monitor->mutex);
    struct htw_monitor_source **link = &monitor->sources;
    for (; *link != NULL && error == 0; link = &(*link)->next)
        if ((*link)->kind == source->kind && strcmp((*link)->name, source->name) == 0)
            error = -EEXIST;
    if (error == 0 && monitor->source_count == HTW_MONITOR_SOURCES_MAX)
        error = -EAGAIN;
    if (error == 0) {
        *link = source;
        monitor->source_count++;
        source->number = ++monitor->sources_added;
    }
    htw__mutex_unlock(&monitor->mutex);
    return error;
}

static int refusal_of(const struct htw_monitor *monitor, const char *name, const void *object) {
    if (monitor == NULL || !is_name(name) || object == NULL)
        return -EINVAL;
    return htw__monitor_is_child(monitor) ? -EOWNERDEAD : 0;
}

static struct htw_monitor_source *create(struct htw_monitor *monitor, enum htw__source_kind kind,
                                         const char *name) {
    struct htw_monitor_source *source = htw__allocate(&monitor->allocator, sizeof(*source));
    if (source == NULL)
        return NULL;
    *source = (struct htw_monitor_source) { .monitor = monitor, .kind = kind };
    memcpy(source->name, name, strlen(name) + 1);
    return source;
}

/* Releases the source if it cannot be linked. */
static int add(struct htw_monitor_source *source, struct htw_monitor_source **ret_source) {
    int error = link_source(source->monitor, source);
    if (error != 0)
        release(source->monitor, source);
    else if (ret_source != NULL)
        *ret_source = source;
    return error;
}

/* A source that is as `like`. */
static int add_like(struct htw_monitor *monitor, const char *name,
                    const struct htw_monitor_source *like, struct htw_monitor_source **ret_source) {
    struct htw_monitor_source *source = create(monitor, like->kind, name);
    if (source == NULL)
        return -ENOMEM;
    source->of = like->of;
    return add(source, ret_source);
}

int htw_monitor_add_scheduler(struct htw_monitor *monitor, const char *name,
                              struct htw_scheduler *scheduler,
                              struct htw_monitor_source **ret_source) {
    int refusal = refusal_of(monitor, name, scheduler);
    struct htw_monitor_source like = { .kind = HTW__SOURCE_SCHEDULER, .of.scheduler = scheduler };
    return refusal != 0 ? refusal : add_like(monitor, name, &like, ret_source);
}

int htw_monitor_add_purgatory(struct htw_monitor *monitor, const char *name,
                              struct htw_purgatory *purgatory,
                              struct htw_monitor_source **ret_source) {
    int refusal = refusal_of(monitor, name, purgatory);
    struct htw_monitor_source like = { .kind = HTW__SOURCE_PURGATORY, .of.purgatory = purgatory };
    return refusal != 0 ? refusal : add_like(monitor, name, &like, ret_source);
}

int htw_monitor_add_journal(struct htw_monitor *monitor, const char *name,
                            struct htw_journal *journal, htw_journal_get_stats_function *get_stats,
                            htw_journal_list_queues_function *list_queues,
                            struct htw_monitor_source **ret_source) {
    int refusal = get_stats == NULL ? -EINVAL : refusal_of(monitor, name, journal);
    struct htw_monitor_source like = { .kind = HTW__SOURCE_JOURNAL,
                                       .of.journal = { journal, get_stats, list_queues } };
    return refusal != 0 ? refusal : add_like(monitor, name, &like, ret_source);
}

int htw_monitor_add_wheel(struct htw_monitor *monitor, const char *name,
                          const struct htw_wheel *wheel, int64_t tick_ns,
                          struct htw_monitor_source **ret_source) {
    int refusal = refusal_of(monitor, name, wheel);
    if (refusal != 0)
        return refusal;
    if (tick_ns < 0 || ret_source == NULL)
        return -EINVAL;
    struct htw_monitor_source *source = create(monitor, HTW__SOURCE_WHEEL, name);
    if (source == NULL)
        return -ENOMEM;
    struct htw__lent_wheel *lent = htw__allocate(&monitor->allocator, sizeof(*lent));
    source->of.wheel = lent;
    if (lent == NULL) {
        release(monitor, source);
        return -ENOMEM;
    }
    *lent = (struct htw__lent_wheel) { .wheel = wheel, .tick_ns = tick_ns };
    htw__mutex_init(&lent->mutex, HTW__RANK_MONITOR_WHEEL);
    htw__wheel_copy_take(lent);
    return add(source, ret_source);
}

/* Waits while the thread of the monitor reads the source. */
static void unlink_source(struct htw_monitor *monitor, const struct htw_monitor_source *source) {
    htw__mutex_lock(&monitor->mutex);
    while (monitor->reading == source)
        htw__mutex_wait(&monitor->mutex, &monitor->read);
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
