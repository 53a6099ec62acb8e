/* SPDX-License-Identifier: MIT */
/*
 * timeouts.c - how late clients receive the nil of a BLPOP that times out.
 *
 * The clients block in a thin stream: the time in which a server reads a burst would count as
 * lateness. A timeout is measured from just before BLPOP is written. So a negative lateness is
 * certainly early.
 */
#include "crowd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define BLOCKED_PER_MS 10
#define LOST_AFTER_MS 10000
#define EVENTS 256

struct progress {
    unsigned blocked;
    unsigned answered;
    unsigned early;
    int64_t start_ns;
    int64_t last_ns; /* of the last event */
    int64_t *late_ns;
    unsigned short random[3]; /* of nrand48() */
};

static void block_some(struct crowd *crowd, struct progress *progress) {
    const struct load *load = crowd->load;
    int64_t wanted = (load_now_ns() - progress->start_ns) / 1000000 * BLOCKED_PER_MS + 1;
    for (; progress->blocked < load->count && progress->blocked < wanted; progress->blocked++) {
        unsigned more_ms = (unsigned)nrand48(progress->random) % (load->high_ms - load->low_ms + 1);
        crowd_block(&crowd->clients[progress->blocked], load->low_ms + more_ms);
        progress->last_ns = load_now_ns();
    }
}

static void note_answer(struct progress *progress, struct client *client) {
    enum outcome outcome = crowd_read(client);
    if (outcome == OUTCOME_ITEM)
        load_fail("a client has an item, and none was pushed: %s", client->reply);
    if (outcome == OUTCOME_PART)
        return;
    progress->last_ns = load_now_ns();
    int64_t late_ns = progress->last_ns - client->due_ns;
    progress->early += late_ns < 0;
    progress->late_ns[progress->answered++] = late_ns;
}

void timeouts_run(const struct load *load) {
    struct progress progress = { .late_ns = calloc(load->count, sizeof(int64_t)), .random = { 2 } };
    if (progress.late_ns == NULL)
        load_fail("no memory");
    struct crowd crowd;
    crowd_connect(&crowd, load);
    progress.start_ns = progress.last_ns = load_now_ns();
    while (progress.answered < load->count) {
        block_some(&crowd, &progress);
        struct epoll_event events[EVENTS];
        int count = epoll_wait(crowd.epoll, events, EVENTS, 1);
        if (count < 0)
            load_fail("epoll_wait: %s", strerror(errno));
        for (int i = 0; i < count; i++)
            note_answer(&progress, events[i].data.ptr);
        if (load_now_ns() - progress.last_ns > (load->high_ms + LOST_AFTER_MS) * INT64_C(1000000))
            load_fail("%u of %u timeouts have not come", load->count - progress.answered,
                      load->count);
    }
    crowd_disconnect(&crowd);
    load_report_percentiles(load, "late", progress.late_ns, load->count);
    load_report(load, "early", progress.early);
    free(progress.late_ns);
}
