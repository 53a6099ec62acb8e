/* SPDX-License-Identifier: MIT */
/* test_edge.c - the file descriptor of an embedded scheduler in an edge-triggered event loop. */
/* holds: scheduler-24 */
#include "../unit.h"

#include <htw/scheduler.h>

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PATIENCE_MS 300000
#define RUNS 50u

struct loop {
    struct htw_scheduler *scheduler;
    int epoll;
    unsigned runs;
};

static void loop_begin(struct loop *loop) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.embedded = true;
    options.shards = 2;
    *loop = (struct loop) { .epoll = epoll_create1(EPOLL_CLOEXEC) };
    assert_true(loop->epoll >= 0);
    assert_int_equal(htw_scheduler_create(&loop->scheduler, &options), 0);
    struct epoll_event event = { .events = EPOLLIN | EPOLLET };
    assert_int_equal(
        epoll_ctl(loop->epoll, EPOLL_CTL_ADD, htw_scheduler_fd(loop->scheduler), &event), 0);
}

static void loop_end(struct loop *loop) {
    assert_int_equal(htw_scheduler_destroy(loop->scheduler), 0);
    close(loop->epoll);
}

/* One call for each event, until all have run: an edge that is missing is waited for. */
static void loop_run(struct loop *loop, unsigned runs, size_t budget) {
    while (loop->runs < runs) {
        struct epoll_event event;
        int count = epoll_wait(loop->epoll, &event, 1, PATIENCE_MS);
        if (count == -1 && errno == EINTR) /* it was stopped, and continued */
            continue;
        assert_int_equal(count, 1);
        assert_true(htw_scheduler_process(loop->scheduler, budget, NULL) >= 0);
    }
}

static void count_run(void *arg, const struct htw_expiration *expiration) {
    struct loop *loop = arg;
    (void)expiration;
    loop->runs++;
}

UNIT_TEST(edge_occurs_for_each_deadline) {
    struct loop loop;
    loop_begin(&loop);
    for (unsigned i = 0; i < RUNS; i++)
        assert_int_equal(htw_schedule(loop.scheduler, (int64_t)(RUNS - i) * HTW_MILLISECOND / 4,
                                      count_run, &loop, NULL),
                         0);
    loop_run(&loop, RUNS, 0);
    loop_end(&loop);
}

UNIT_TEST(edge_occurs_again_when_the_budget_was_spent) {
    struct loop loop;
    loop_begin(&loop);
    for (unsigned i = 0; i < RUNS; i++)
        assert_int_equal(htw_schedule(loop.scheduler, 0, count_run, &loop, NULL), 0);
    loop_run(&loop, RUNS, 1);
    loop_end(&loop);
}

static void run_again(void *arg, const struct htw_expiration *expiration) {
    struct loop *loop = arg;
    if (++loop->runs < RUNS)
        (void)!htw_schedule(expiration->scheduler, 0, run_again, loop, NULL);
}

UNIT_TEST(edge_occurs_for_what_a_callback_schedules) {
    struct loop loop;
    loop_begin(&loop);
    assert_int_equal(htw_schedule(loop.scheduler, 0, run_again, &loop, NULL), 0);
    loop_run(&loop, RUNS, 0);
    loop_end(&loop);
}
