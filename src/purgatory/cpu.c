/* SPDX-License-Identifier: MIT */
/* cpu.c - the data of a purgatory for each CPU: above all, the wheel that holds the timeouts. */
#include "cpu.h"

#include "../base/assert.h"

/* The wheel has many levels, since its ticks are fine. Those for timeouts of up to 17 minutes are
   created with it. */
#define WHEEL_SIZE 64u
#define HORIZON_TICKS (UINT64_C(1) << 30)

static uint64_t tick_before(int64_t time_ns) {
    return (uint64_t)time_ns / HTW__TIMEOUT_TICK_NS;
}

static int create_wheel(const struct htw__cpu *cpu, uint64_t start, struct htw_wheel **ret_wheel) {
    const struct htw_purgatory *purgatory = cpu->purgatory;
    bool is_manual = htw__steady_is_manual(purgatory->scheduler);
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct htw_wheel *wheel;
    options.size = WHEEL_SIZE;
    options.start = start;
    options.allocator = &purgatory->allocator;
    int error = htw_wheel_create(&wheel, &options);
    if (error != 0)
        return error;
    /* With a manual clock, timeouts may move here from another wheel, and must all fit. */
    error = htw_wheel_reserve(wheel, is_manual ? HTW_NEVER_TICK : HORIZON_TICKS);
    if (error != 0)
        htw_wheel_destroy(wheel);
    else
        *ret_wheel = wheel;
    return error;
}

int htw__cpu_init(struct htw__cpu *cpu, struct htw_purgatory *purgatory, htw_callback *on_alarm) {
    *cpu = (struct htw__cpu) { .alarm_tick = HTW_NEVER_TICK,
                               .purgatory = purgatory,
                               .on_alarm = on_alarm };
    htw__lock_init(&cpu->lock, HTW__RANK_PURGATORY_CPU);
    htw__lock_init(&cpu->key_pool_lock, HTW__RANK_KEY_POOL);
    htw__key_pool_init(&cpu->key_pool, &purgatory->allocator);
    htw__wait_histogram_init(&cpu->waits);
    for (unsigned i = 0; i < HTW__ALARMS; i++)
        cpu->alarms[i].cpu = cpu;
    return create_wheel(cpu, tick_before(htw__cpu_steady_now_ns(cpu)), &cpu->wheel);
}

void htw__cpu_fini(struct htw__cpu *cpu) {
    htw_wheel_destroy(cpu->wheel);
    htw__lock_fini(&cpu->lock);
    htw__lock_fini(&cpu->key_pool_lock);
}

/* The clock of a wheel cannot go back: the timeouts move to a new wheel, all under one lock, since
   a manual clock is for tests. Without memory they stay, and new timeouts may end only when the
   time reaches the clock of the old wheel. */
static void set_back(struct htw__cpu *cpu, uint64_t tick) {
    struct htw_wheel *wheel;
    struct htw_timer *timer;
    if (create_wheel(cpu, tick, &wheel) != 0)
        return;
    while ((timer = htw_wheel_drain(cpu->wheel)) != NULL) {
        int error = htw_wheel_schedule(wheel, timer, htw_timer_deadline(timer));
        HTW_ASSERT(error == 0);
        (void)error;
    }
    htw_wheel_destroy(cpu->wheel);
    cpu->wheel = wheel;
}

/* The clock of the wheel may be ahead of `now_ns` if this thread was stopped after it read the
   steady clock. */
uint64_t htw__cpu_tick(struct htw__cpu *cpu, int64_t now_ns) {
    uint64_t tick = tick_before(now_ns), clock = htw_wheel_now(cpu->wheel);
    if (tick >= clock)
        return tick;
    if (!htw__steady_is_manual(cpu->purgatory->scheduler))
        return clock;
    tick = tick_before(htw__cpu_steady_now_ns(cpu));
    if (tick < clock)
        set_back(cpu, tick);
    return tick;
}

void htw__cpu_add_stats(struct htw__cpu *cpu, struct htw_purgatory_stats *stats) {
    struct htw_wheel_stats own = HTW_WHEEL_STATS_INIT;
    htw__lock_acquire(&cpu->lock);
    htw_wheel_get_stats(cpu->wheel, &own);
    stats->memory_bytes += sizeof(*cpu) + own.memory_bytes;
    htw__wait_histogram_add_stats(&cpu->waits, stats);
    for (unsigned i = 0; i < HTW__ALARMS; i++)
        stats->alarms += htw_is_pending(cpu->purgatory->scheduler, cpu->alarms[i].handle);
    htw__lock_release(&cpu->lock);
    htw__lock_acquire(&cpu->key_pool_lock);
    stats->memory_bytes += htw__key_pool_memory(&cpu->key_pool);
    htw__lock_release(&cpu->key_pool_lock);
}
