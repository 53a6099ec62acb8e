/* SPDX-License-Identifier: MIT */
/*
 * traced.h - the wheel of `htw draw` and `htw replay`: a copy of the library's that reports each step.
 *
 * The files of src/wheel are compiled once more with this header in front (`-include`). It gives HTW__TRACE of
 * state.h a meaning, and the functions other names, so that a program may contain the library, too, whose wheel
 * has no trace. A file that uses this wheel includes this header before any other of the wheel: run.h does.
 */
#ifndef HTW_SRC_CMD_DRAW_TRACED_H
#define HTW_SRC_CMD_DRAW_TRACED_H

#include <stdint.h>

struct htw_timer;

/* What happened. `number` of htw__traced() is: */
enum htw__trace_step {
    HTW__TRACE_PLACED,    /* the number of the bucket, as in src/wheel/state.h */
    HTW__TRACE_MOVED,     /* the new deadline; the timer stays in its bucket */
    HTW__TRACE_CANCELLED, /* 0 */
    HTW__TRACE_EXPIRED,   /* 0 */
    HTW__TRACE_ADVANCED   /* the clock, which has jumped to a bucket; `timer` is NULL */
};

/* Called by the wheel, in the middle of its work: it must not call the wheel. run.c has it. */
void htw__traced(enum htw__trace_step step, struct htw_timer *timer, uint64_t number);

#define HTW__TRACE(step, timer, number) htw__traced(HTW__TRACE_##step, timer, number)

#define htw_wheel_options_init htw__traced_wheel_options_init
#define htw_wheel_options_invalid htw__traced_wheel_options_invalid
#define htw_wheel_create htw__traced_wheel_create
#define htw_wheel_destroy htw__traced_wheel_destroy
#define htw_wheel_reserve htw__traced_wheel_reserve
#define htw_wheel_schedule htw__traced_wheel_schedule
#define htw_wheel_schedule_within htw__traced_wheel_schedule_within
#define htw_wheel_cancel htw__traced_wheel_cancel
#define htw_wheel_poll htw__traced_wheel_poll
#define htw_wheel_poll_batch htw__traced_wheel_poll_batch
#define htw_wheel_level_buckets htw__traced_wheel_level_buckets
#define htw_wheel_next htw__traced_wheel_next
#define htw_wheel_now htw__traced_wheel_now
#define htw_wheel_count htw__traced_wheel_count
#define htw_wheel_count_in htw__traced_wheel_count_in
#define htw_wheel_drain htw__traced_wheel_drain
#define htw_wheel_for_each htw__traced_wheel_for_each
#define htw_wheel_check htw__traced_wheel_check
#define htw_wheel_dump htw__traced_wheel_dump
#define htw_wheel_stats_init htw__traced_wheel_stats_init
#define htw_wheel_get_stats htw__traced_wheel_get_stats
#define htw_timer_size htw__traced_timer_size
#define htw_timer_init htw__traced_timer_init
#define htw_timer_is_pending htw__traced_timer_is_pending
#define htw_timer_deadline htw__traced_timer_deadline
#define htw__delay_queue_init htw__traced_delay_queue_init
#define htw__delay_queue_fini htw__traced_delay_queue_fini
#define htw__delay_queue_reserve htw__traced_delay_queue_reserve
#define htw__delay_queue_count htw__traced_delay_queue_count
#define htw__delay_queue_memory htw__traced_delay_queue_memory
#define htw__delay_queue_lower htw__traced_delay_queue_lower
#define htw__delay_queue_pop htw__traced_delay_queue_pop
#define htw__delay_queue_is_valid htw__traced_delay_queue_is_valid

#endif /* HTW_SRC_CMD_DRAW_TRACED_H */
