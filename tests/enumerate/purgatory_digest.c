/* SPDX-License-Identifier: MIT */
/* purgatory_digest.c - the digest of a state: what the judge expects, what is in the purgatory, and where each
   thread is. Times are from now on, since nothing depends on when a history began. */
#include "../../src/purgatory/cpu.h"
#include "../../src/purgatory/watch.h"
#include "purgatory_judge.h"
#include "states.h"

#include <htw/loop.h>

static uint64_t from_now(int64_t time_ns) {
    return time_ns == HTW_NEVER_NS ? UINT64_MAX
                                   : (uint64_t)(time_ns - htw_scheduler_now(judge->scheduler));
}

static uint64_t digest_waiter(uint64_t digest, const struct waiter *waiter) {
    const uint64_t values[] = {
        waiter->request._state,
        waiter->request._flags & ~(unsigned)HTW__REQUEST_MEASURED,
        waiter->request._timeout._location != 0,
        waiter->request._timeout._location != 0
            ? waiter->request._timeout._deadline - htw_wheel_now(judge->purgatory->cpus->wheel)
            : 0,
        waiter->is_submitted,
        waiter->is_ready,
        waiter->is_submitted ? waiter->keys : 0,
        waiter->waits,
        waiter->asked > 1 ? 2 : waiter->asked,
        waiter->said_yes,
        waiter->is_in_hook,
        waiter->has_ended,
        waiter->causes,
        (uint64_t)waiter->promised,
        waiter->must_end,
        waiter->was_deferred,
        from_now(waiter->not_before_ns),
        from_now(waiter->by_ns),
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        digest = digest_add(digest, waiter->is_submitted || i < 7 ? values[i] : 0);
    return digest;
}

/* The watches of a key in their order, with the gaps and pins that walks have left; these are on stacks. */
static uint64_t digest_key(uint64_t digest, unsigned key) {
    struct htw__purgatory_shard *shard = judge->purgatory->shards;
    const struct htw__key source = htw__key_hashed(judge->purgatory, &"AB"[key], 1);
    const struct htw__key_cell *cell = htw__watched_key_find(shard, &source);
    if (cell == NULL)
        return digest_add(digest, 0);
    digest = digest_add(digest, 1u + cell->is_deferred + 2u * cell->is_in_table);
    for (; cell != NULL; cell = cell->more) {
        digest = digest_add(digest, cell->pins);
        for (unsigned i = 0; i < cell->count; i++) {
            struct htw_request *request = cell->watches[i];
            digest = digest_add(digest, request == NULL
                                            ? WAITERS
                                            : (uint64_t)(waiter_of(request) - judge->waiters));
        }
    }
    return digest;
}

static uint64_t digest_purgatory(uint64_t digest) {
    const struct htw__purgatory_shard *shard = judge->purgatory->shards;
    const struct htw__cpu *cpu = judge->purgatory->cpus;
    const uint64_t values[] = {
        atomic_load(&judge->purgatory->closed),
        judge->is_closed,
        atomic_load(&judge->purgatory->outstanding.state),
        cpu->counts.watched,
        cpu->counts.delayed,
        shard->first.is_closed,
        shard->bytes,
        shard->orphans,
        shard->idle,
        (uint64_t)shard->runs_due,
        cpu->current_alarm,
        cpu->alarm_tick == HTW_NEVER_TICK ? HTW_NEVER_TICK
                                          : cpu->alarm_tick - htw_wheel_now(cpu->wheel),
        cpu->alarms[0].in_callback,
        cpu->alarms[1].in_callback,
        cpu->alarms[2].in_callback,
        from_now(htw_scheduler_next(judge->scheduler)),
        htw_pending(judge->scheduler),
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        digest = digest_add(digest, values[i]);
    return digest;
}

static uint64_t digest_worker(uint64_t digest, const struct worker *worker) {
    if (!coroutine_is_paused(worker->coroutine))
        return digest_add(digest, 0);
    const uint64_t values[] = {
        coroutine_digest(worker->coroutine),
        (uint64_t)worker->call.kind,
        worker->call.request,
        worker->call.keys,
        worker->call.is_timed,
        worker->is_alone,
        judge->waiters[worker->call.request].lives - worker->life,
        worker->waiting,
        worker->said_yes,
        worker->ended,
        worker->has_ended_own,
        (uint64_t)worker->reason,
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        digest = digest_add(digest, values[i]);
    return digest;
}

bool judge_read(unsigned remaining, uint64_t *ret_digest) {
    (void)remaining;
    uint64_t digest = 1;
    for (unsigned i = 0; i < WAITERS; i++)
        digest = digest_waiter(digest, &judge->waiters[i]);
    for (unsigned key = 0; key < KEYS; key++)
        digest = digest_key(digest, key);
    digest = digest_purgatory(digest);
    for (unsigned i = 0; i < WORKERS; i++)
        digest = digest_worker(digest, &judge->workers[i]);
    *ret_digest = digest_add(digest, 2);
    return true;
}
