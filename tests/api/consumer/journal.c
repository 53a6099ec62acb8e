/* SPDX-License-Identifier: MIT */
/*
 * journal.c - a program outside htw's tree that uses libhtw-journal: puts a job into a new file, and
 * gets it. Prints the version.
 */
#include <htw/journal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int delivered;

static void deliver(void *context, const struct htw_delivery *delivery) {
    delivered += context == &delivered && delivery->payload_size == 5 &&
                 memcmp(delivery->payload, "hello", 5) == 0;
    htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
}

int main(void) {
    struct htw_scheduler *scheduler;
    struct htw_journal *journal;
    struct htw_scheduler_options of_scheduler = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    printf("%s\n", htw_version());
    of_scheduler.clock = HTW_CLOCK_MANUAL;
    of_scheduler.workers = 0;
    options.deliver = deliver;
    options.context = &delivered;
    remove("journal");
    if (htw_scheduler_create(&scheduler, &of_scheduler) != 0 ||
        htw_journal_open(&journal, scheduler, "journal", &options) != 0 ||
        htw_journal_put(journal, HTW_DAY, "hello", 5, NULL) != 0 ||
        htw_scheduler_advance(scheduler, HTW_DAY) != 0 || htw_journal_close(journal) != 0)
        return 1;
    htw_scheduler_destroy(scheduler);
    return delivered == 1 ? 0 : 1;
}
