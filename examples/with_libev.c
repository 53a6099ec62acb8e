/* SPDX-License-Identifier: MIT */
/*
 * with_libev.c - a scheduler inside a libev loop: the callback of one ev_io watcher runs what is due.
 * The timers are the timeouts of requests; every other one is answered in time.
 */
#include <htw/scheduler.h>

#include <ev.h>
#include <stdio.h>

#define REQUESTS 1000

struct program {
    struct htw_scheduler *scheduler;
    struct ev_loop *loop;
    htw_handle timeouts[REQUESTS];
    unsigned answered, timed_out, too_early;
};

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    struct program *program = watcher->data;
    (void)events;
    htw_scheduler_process(program->scheduler, 0, NULL);
    if (htw_pending(program->scheduler) == 0)
        ev_break(loop, EVBREAK_ALL);
}

static void timed_out(void *arg, const struct htw_expiration *expiration) {
    struct program *program = arg;
    program->timed_out++;
    if (htw_scheduler_now(expiration->scheduler) < expiration->deadline_ns)
        program->too_early++;
}

/* One of libev's own timers: both kinds go together. */
static void on_answers(struct ev_loop *loop, ev_timer *timer, int events) {
    struct program *program = timer->data;
    (void)loop;
    (void)events;
    for (int i = 0; i < REQUESTS; i += 2)
        if (htw_cancel(program->scheduler, program->timeouts[i]) == HTW_CANCELLED)
            program->answered++;
}

int main(void) {
    struct program program = { .loop = ev_default_loop(EVFLAG_AUTO) };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.embedded = true;
    options.workers = HTW_NO_WORKERS;
    options.shards = 1;
    if (program.loop == NULL || htw_scheduler_create(&program.scheduler, &options) != 0)
        return 1;
    for (int i = 0; i < REQUESTS; i++)
        if (htw_schedule(program.scheduler, (100 + i % 100) * HTW_MILLISECOND, timed_out, &program,
                         &program.timeouts[i]) != 0)
            return 1;
    ev_io watcher;
    ev_io_init(&watcher, on_readable, htw_scheduler_fd(program.scheduler), EV_READ);
    watcher.data = &program;
    ev_io_start(program.loop, &watcher);
    ev_timer answers;
    ev_timer_init(&answers, on_answers, 0.02, 0.);
    answers.data = &program;
    ev_timer_start(program.loop, &answers);
    ev_run(program.loop, 0);
    ev_io_stop(program.loop, &watcher); /* before the descriptor goes */
    htw_scheduler_destroy(program.scheduler);
    ev_loop_destroy(program.loop);
    printf("%u requests answered, %u timed out\n", program.answered, program.timed_out);
    return program.answered + program.timed_out == REQUESTS && program.too_early == 0 ? 0 : 1;
}
