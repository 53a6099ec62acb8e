/* SPDX-License-Identifier: MIT */
/*
 * with_libuv.c - a scheduler inside a libuv loop: the loop watches its file descriptor like a socket,
 * and its callbacks run in the loop's thread.
 *
 * Unlike libuv's own timers, any thread may schedule these: here one of libuv's pool, without a
 * uv_async_t.
 */
#define _POSIX_C_SOURCE 200809L /* wanted by uv.h */
#include <htw/scheduler.h>

#include <stdio.h>
#include <uv.h>

#define TIMERS 1000
#define BUDGET 64 /* callbacks in a row, before the loop goes on with its other handles */

struct program {
    struct htw_scheduler *scheduler;
    uv_loop_t *loop;
    uv_poll_t poll;
    uv_work_t work;
    uv_thread_t loop_thread;
    htw_handle handles[TIMERS];
    unsigned scheduled, cancelled, fired, wrong;
};

static void on_readable(uv_poll_t *poll, int status, int events) {
    struct program *program = poll->data;
    (void)events;
    /* After HTW_MORE the descriptor stays readable. */
    if (status != 0 || htw_scheduler_process(program->scheduler, BUDGET, NULL) < 0)
        uv_stop(program->loop);
}

static void expired(void *arg, const struct htw_expiration *expiration) {
    struct program *program = arg;
    uv_thread_t here = uv_thread_self();
    bool is_early = htw_scheduler_now(expiration->scheduler) < expiration->deadline_ns;
    program->fired++;
    if (is_early || !uv_thread_equal(&here, &program->loop_thread))
        program->wrong++;
}

static void schedule_all(uv_work_t *work) { /* in a thread of the pool */
    struct program *program = work->data;
    for (int i = 0; i < TIMERS; i++)
        if (htw_schedule(program->scheduler, (50 + i % 200) * HTW_MILLISECOND, expired, program,
                         &program->handles[i]) == 0)
            program->scheduled++;
}

static void done(void *arg, const struct htw_expiration *expiration) {
    struct program *program = arg;
    (void)expiration;
    uv_close((uv_handle_t *)&program->poll, NULL); /* nothing else is left: the loop ends */
}

static void cancel_half(uv_work_t *work, int status) { /* back in the loop's thread */
    struct program *program = work->data;
    for (int i = 0; status == 0 && i < TIMERS; i += 2)
        if (htw_cancel(program->scheduler, program->handles[i]) == HTW_CANCELLED)
            program->cancelled++;
    if (htw_schedule(program->scheduler, 300 * HTW_MILLISECOND, done, program, NULL) != 0)
        uv_stop(program->loop);
}

int main(void) {
    struct program program = { .loop = uv_default_loop(), .loop_thread = uv_thread_self() };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.embedded = true;
    options.workers = HTW_NO_WORKERS;
    options.shards = 1;
    program.poll.data = &program;
    program.work.data = &program;
    if (htw_scheduler_create(&program.scheduler, &options) != 0 ||
        uv_poll_init(program.loop, &program.poll, htw_scheduler_fd(program.scheduler)) != 0 ||
        uv_poll_start(&program.poll, UV_READABLE, on_readable) != 0 ||
        uv_queue_work(program.loop, &program.work, schedule_all, cancel_half) != 0)
        return 1;
    uv_run(program.loop, UV_RUN_DEFAULT);
    printf("%u scheduled by another thread, %u cancelled, %u expired\n", program.scheduled,
           program.cancelled, program.fired);
    htw_scheduler_destroy(program.scheduler); /* after uv_close: the descriptor is its own */
    uv_loop_close(program.loop);
    return program.scheduled == TIMERS && program.fired + program.cancelled == TIMERS &&
                   program.wrong == 0
               ? 0
               : 1;
}
