/* SPDX-License-Identifier: MIT */
/* claim.c - a cancel from another CPU claims a timer without the lock of its shard, while the expirer takes the timer
   for a run: one of them has it. A claimed record is freed once, by a thread that has the lock, and that one sees what the
   claim has left in it. */
#include "base/lock.c"
#include "base/slab.c"
#include "scheduler/cancel.c"
#include "scheduler/shard.c"

static struct htw_scheduler scheduler;
static struct htw__shard shards[2];
static struct htw__slab_view views[1];
static struct htw__slab_page page;
static struct htw__cell cells[2];
static unsigned runs[2], cancels[2];
static unsigned disarmed, cleanups;

bool htw_wheel_cancel(struct htw_wheel *wheel, struct htw_timer *timer) {
    (void)wheel, (void)timer;
    disarmed++; /* under the lock of the shard */
    return true;
}

void htw__wake_for_cleanup(struct htw__waker *waker) {
    (void)waker;
    cleanups++; /* of one push: the stack was empty */
}

static htw_handle handle_of(uint32_t index) {
    return (uint64_t)1 << 32 | index;
}

static void *cancel_other(void *unused) {
    for (uint32_t i = 0; i < 2; i++) {
        int outcome;
        htw__lock_acquire(&shards[1].lock);
        if (claim(&shards[1], &shards[0], handle_of(i), &outcome) && outcome == HTW_CANCELLED)
            cancels[i]++;
    }
    return unused;
}

/* As htw__collect() and begin_plain(): PENDING, QUEUED, RUNNING, DONE. */
static void *run(void *unused) {
    struct htw__record *record = HTW_CONTAINER_OF(&cells[0], struct htw__record, cell);
    htw__lock_acquire(&shards[0].lock);
    uint64_t status = htw__status_of(record);
    bool is_mine = htw__status_state(status) == HTW__PENDING &&
                   htw__status_change(record, &status, htw__status_in(status, HTW__QUEUED, 0));
    htw__lock_release(&shards[0].lock);
    if (!is_mine)
        return unused;
    status = htw__status_of(record);
    if (htw__status_state(status) != HTW__QUEUED ||
        !htw__status_change(record, &status, htw__status_in(status, HTW__RUNNING, 0)))
        return unused;
    runs[0]++;
    return unused;
}

static void *reclaim(void *unused) {
    htw__lock_acquire(&shards[0].lock);
    htw__shard_reclaim(&shards[0]);
    htw__lock_release(&shards[0].lock);
    return unused;
}

int main(void) {
    proof_thread first, second, third;
    scheduler.shards = shards;
    scheduler.shard_count = 2;
    scheduler.index_bits = 20;
    scheduler.index_mask = (1u << 20) - 1;
    scheduler.shard_mask = 1;
    scheduler.generation_shift = 32;
    for (unsigned i = 0; i < 2; i++) {
        shards[i].scheduler = &scheduler;
        shards[i].index = i;
        shards[i].stale_to_free = NO_INDEX;
        shards[i].stale = NO_INDEX;
        htw__lock_init(&shards[i].lock, HTW__RANK_SCHEDULER_SHARD);
        cells[i].status = (uint64_t)1 << 32 | HTW__PENDING;
    }
    struct htw__slab *slab = &shards[0].slab;
    views[0].cells = cells;
    views[0].fresh = 2;
    page.cells = cells;
    page.fresh = 2;
    page.used = 2;
    page.free = HTW__SLAB_NONE;
    slab->views[0] = views;
    slab->pages[0] = &page;
    slab->page_count = 1;
    slab->generation_max = UINT32_MAX;
    slab->partial = 0;
    slab->empty = slab->exhausted = slab->unmapped = HTW__SLAB_NONE;
    page.next = page.previous = HTW__SLAB_NONE;
    slab->current = &page;
    PROOF_START(first, cancel_other);
    PROOF_START(second, run);
    PROOF_START(third, reclaim);
    PROOF_JOIN(first);
    PROOF_JOIN(second);
    PROOF_JOIN(third);
    REQUIRE(runs[0] + cancels[0] == 1);
    REQUIRE(cancels[1] == 1);
    while (htw__shard_reclaim(&shards[0]))
        ;
    REQUIRE(disarmed == cancels[0] + cancels[1]);
    REQUIRE(page.used == 2 - disarmed);
    return 0;
}
