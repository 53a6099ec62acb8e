/* SPDX-License-Identifier: MIT */
/*
 * expirer.h - who waits for deadlines: a thread that sleeps until the next one of its shards,
 * or the caller of htw_scheduler_process() or _advance() in its place.
 */
#ifndef HTW_SRC_SCHEDULER_EXPIRER_H
#define HTW_SRC_SCHEDULER_EXPIRER_H

#include "state.h"

/* Without a thread yet. 0 or a negative errno; in either case to be followed by fini. */
int htw__expirer_init(struct htw__expirer *expirer, struct htw_scheduler *scheduler,
                      unsigned index);
void htw__expirer_fini(struct htw__expirer *expirer);

int htw__expirer_start(struct htw__expirer *expirer);

/* Waits for the thread, which ends when the scheduler is being stopped. */
void htw__expirer_join(struct htw__expirer *expirer);

/* When one of its shards has something due; HTW_NEVER_TICK: none. */
uint64_t htw__expirer_next_tick(const struct htw__expirer *expirer);

/*
 * Takes what is due at `now_ns` from all of its shards, up to `budget` timers, and runs it or has
 * it run. Returns how many there were; when fewer than `budget`, all of them, unless
 * the scheduler is being stopped.
 */
size_t htw__expirer_serve(struct htw__expirer *expirer, int64_t now_ns, size_t budget);

/* Cleans up, if that was planned; if not `wholly`, then but for what others are going to do anyway,
   and with another time planned. */
void htw__expirer_clean(struct htw__expirer *expirer, bool wholly);

#endif /* HTW_SRC_SCHEDULER_EXPIRER_H */
