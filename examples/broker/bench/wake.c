/* SPDX-License-Identifier: MIT */
/*
 * wake.c - the time from a push until a blocked client has its item, among thousands that stay
 * blocked.
 *
 * One push at a time: the next one is written when the served client has sent its next BLPOP. It
 * goes to another key, so that it cannot overtake that BLPOP.
 */
#include "crowd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define WARM_UP_PUSHES 500 /* not measured */
#define LOST_AFTER_MS 10000

/* Waits for the item, and returns the client that has it. */
static struct client *await_item(struct crowd *crowd) {
    struct epoll_event event;
    for (;;) {
        int count = epoll_wait(crowd->epoll, &event, 1, LOST_AFTER_MS);
        if (count == 0)
            load_fail("an item has not arrived after %d ms", LOST_AFTER_MS);
        if (count < 0)
            load_fail("epoll_wait: %s", strerror(errno));
        enum outcome outcome = crowd_read(event.data.ptr);
        if (outcome == OUTCOME_NIL)
            load_fail("a client has timed out that should not");
        if (outcome == OUTCOME_ITEM)
            return event.data.ptr;
    }
}

static int64_t push_once(struct crowd *crowd, unsigned key, unsigned number) {
    int64_t before_ns = load_now_ns();
    crowd_push(crowd, key, number);
    struct client *client = await_item(crowd);
    int64_t after_ns = load_now_ns();
    if (client->key != key || !crowd_has_item(client, number))
        load_fail("item %u of key %u was pushed, and one on key %u got: %s", number, key,
                  client->key, client->reply);
    crowd_finish_push(crowd);
    crowd_block(client, crowd->load->high_ms);
    return after_ns - before_ns;
}

static void measure(struct crowd *crowd, int64_t *waits_ns) {
    const struct load *load = crowd->load;
    unsigned short random[3] = { 1 };
    unsigned key = 0;
    for (unsigned i = 0; i < WARM_UP_PUSHES + load->pushes; i++) {
        /* any key except the last one */
        key += 1 + (unsigned)nrand48(random) % (load->keys - 1);
        key %= load->keys;
        int64_t wait_ns = push_once(crowd, key, i);
        if (i >= WARM_UP_PUSHES)
            waits_ns[i - WARM_UP_PUSHES] = wait_ns;
    }
}

void wake_run(const struct load *load) {
    int64_t *waits_ns = calloc(load->pushes, sizeof(*waits_ns));
    if (waits_ns == NULL)
        load_fail("no memory");
    struct crowd crowd;
    crowd_connect(&crowd, load);
    for (unsigned i = 0; i < load->count; i++)
        crowd_block(&crowd.clients[i], load->high_ms);
    crowd_await_blocked(&crowd);
    measure(&crowd, waits_ns);
    crowd_await_blocked(&crowd);
    crowd_disconnect(&crowd);
    load_report_percentiles(load, "wake", waits_ns, load->pushes);
    free(waits_ns);
}
