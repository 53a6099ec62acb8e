/* SPDX-License-Identifier: MIT */
/* broker.c - creates and destroys the schedulers, the purgatory, the store and the loops. */
#include "broker.h"

#include "blocking.h"
#include "delayed.h"
#include "journal.h"
#include "loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool create_library_parts(struct broker *broker) {
    struct htw_scheduler_options embedded = HTW_SCHEDULER_OPTIONS_INIT;
    embedded.embedded = true;
    embedded.workers = 0;
    embedded.shards = broker->options.threads;
    if (htw_scheduler_create(&broker->scheduler, &embedded) != 0)
        return false;
    embedded.clock = HTW_CLOCK_REALTIME;
    if (htw_scheduler_create(&broker->wall_scheduler, &embedded) != 0)
        return false;
    struct htw_purgatory_options purgatory = HTW_PURGATORY_OPTIONS_INIT;
    purgatory.try_complete = blocking_try_complete;
    purgatory.on_complete = blocking_on_complete;
    purgatory.release = blocking_release;
    purgatory.context = broker;
    return htw_purgatory_create(&broker->purgatory, broker->scheduler, &purgatory) == 0;
}

/* Shows what can be seen of the library from outside. */
static bool open_monitor(struct broker *broker) {
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    if (strcmp(broker->options.monitor, "yes") != 0)
        options.path = broker->options.monitor;
    int error = htw_monitor_open(&broker->monitor, &options);
    if (error == 0)
        error = htw_monitor_add_scheduler(broker->monitor, "timers", broker->scheduler, NULL);
    if (error == 0)
        error =
            htw_monitor_add_scheduler(broker->monitor, "wall-timers", broker->wall_scheduler, NULL);
    if (error == 0)
        error = htw_monitor_add_purgatory(broker->monitor, "blocked", broker->purgatory, NULL);
    if (error != 0)
        fprintf(stderr, "broker: --monitor: %s\n", htw_strerror(error));
    return error == 0;
}

bool broker_init(struct broker *broker, const struct options *options) {
    *broker = (struct broker) { .options = *options };
    broker->loops = calloc(options->threads, sizeof(*broker->loops));
    if (broker->loops == NULL || !create_library_parts(broker) ||
        !store_init(&broker->store, broker->scheduler)) {
        fprintf(stderr, "broker: cannot start: no memory\n");
        return false;
    }
    for (unsigned i = 0; i < options->threads; i++)
        if (!loop_init(&broker->loops[i], broker, i == 0))
            return false;
    return (options->journal == NULL || journal_open(broker)) &&
           (options->monitor == NULL || open_monitor(broker));
}

void broker_fini(struct broker *broker) {
    htw_monitor_close(broker->monitor);
    if (broker->journal != NULL)
        journal_close(broker);
    for (unsigned i = 0; i < broker->options.threads; i++)
        loop_fini(&broker->loops[i]);
    free(broker->loops);
    store_fini(&broker->store);
    htw_purgatory_destroy(broker->purgatory);
    htw_scheduler_stop(broker->scheduler, delayed_discard, NULL);
    htw_scheduler_stop(broker->wall_scheduler, delayed_discard, NULL);
    htw_scheduler_destroy(broker->scheduler);
    htw_scheduler_destroy(broker->wall_scheduler);
}
