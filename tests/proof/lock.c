/* SPDX-License-Identifier: MIT */
/* lock.c - the spin lock: two threads are never inside at once, and each sees what the other has done inside. */
#include "base/lock.c"

static struct htw__lock lock;
static int count; /* plain: two threads at it would race */

static void *work(void *unused) {
    htw__lock_acquire(&lock);
    count++;
    htw__lock_release(&lock);
    return unused;
}

int main(void) {
    proof_thread first, second;
    htw__lock_init(&lock, HTW__RANK_SCHEDULER_SHARD);
    PROOF_START(first, work);
    PROOF_START(second, work);
    PROOF_JOIN(first);
    PROOF_JOIN(second);
    REQUIRE(count == 2);
    return 0;
}
