/* SPDX-License-Identifier: MIT */
/* monitor.c - opens and closes a monitor. */
#include "registry.h"
#include "server.h"

#include "../base/clock.h"
#include "../base/refusal.h"
#include "../port/system.h"

#include <errno.h>

static const struct htw_monitor_options defaults = HTW_MONITOR_OPTIONS_INIT;

int htw_monitor_folder(char *buffer, size_t size) {
    return buffer == NULL ? -EINVAL : htw__place_folder(buffer, size);
}

const char *htw_monitor_path(const struct htw_monitor *monitor) {
    return monitor == NULL ? NULL : monitor->place.path;
}

static const char *invalid_member(const struct htw_monitor_options *options) {
    if (options->struct_size != sizeof(*options))
        return "struct_size";
    if (options->path != NULL && *options->path == '\0')
        return "path";
    return options->allocator == NULL || htw__allocator_is_valid(options->allocator) ? NULL
                                                                                     : "allocator";
}

/* From here on the child of a fork closes the descriptors. */
static int open_descriptors(struct htw_monitor *monitor, const char *path) {
    for (size_t i = 0; i < HTW__CLIENTS; i++)
        monitor->clients[i].fd = -1;
    htw__registry_lock(); /* no child gets a socket of which the registry does not know */
    int error = htw__place_open(&monitor->place, path, HTW__PLACE_MODE);
    if (error == 0)
        htw__registry_add(monitor);
    htw__registry_unlock();
    return error;
}

/* Without thread and sources. */
static void fini(struct htw_monitor *monitor) {
    htw__registry_lock();
    htw__registry_remove(monitor);
    htw__place_close(&monitor->place);
    htw__registry_unlock();
    pthread_cond_destroy(&monitor->answered);
    htw__mutex_fini(&monitor->mutex);
}

static int start(struct htw_monitor *monitor, const char *path) {
    int error = htw__fork_init();
    if (error == 0)
        error = htw__registry_init();
    monitor->fork_count = htw__fork_count();
    if (error == 0)
        error = htw__place_prepare(path);
    if (error == 0)
        error = open_descriptors(monitor, path);
    if (error != 0)
        return error;
    htw__mutex_init(&monitor->mutex, HTW__RANK_MONITOR);
    pthread_cond_init(&monitor->answered, NULL);
    error = htw__thread_start(&monitor->thread, "htw", "monitor", 0, htw__clients_run, monitor);
    if (error != 0)
        fini(monitor);
    return error;
}

int htw_monitor_open(struct htw_monitor **ret_monitor, const struct htw_monitor_options *options) {
    int cancel_state;
    if (options == NULL)
        options = &defaults;
    const char *member = invalid_member(options);
    if (ret_monitor == NULL || member != NULL)
        return htw__refuse(member);
    const struct htw_allocator *allocator =
        options->allocator != NULL ? options->allocator : &htw__default_allocator;
    struct htw_monitor *monitor = htw__allocate(allocator, sizeof(*monitor));
    if (monitor == NULL)
        return -ENOMEM;
    *monitor =
        (struct htw_monitor) { .allocator = *allocator, .opened_ns = htw__clock_monotonic_ns() };
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* it would leave a socket */
    int error = start(monitor, options->path);
    pthread_setcancelstate(cancel_state, NULL);
    if (error != 0)
        htw__release(allocator, monitor, sizeof(*monitor));
    else
        *ret_monitor = monitor;
    return error;
}

void htw_monitor_close(struct htw_monitor *monitor) {
    int cancel_state;
    if (monitor == NULL || htw__monitor_is_child(monitor))
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    htw__clients_end(monitor);
    pthread_join(monitor->thread, NULL);
    while (monitor->sources != NULL)
        htw_monitor_remove(monitor->sources);
    fini(monitor);
    struct htw_allocator allocator = monitor->allocator;
    htw__release(&allocator, monitor, sizeof(*monitor));
    pthread_setcancelstate(cancel_state, NULL);
}
