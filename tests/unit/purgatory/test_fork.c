/* SPDX-License-Identifier: MIT */
/* test_fork.c - the purgatory of a parent is inert in the child. */
/* holds: purgatory-14 */
#include "../../support/child.h"
#include "../../support/purgatory_case.h"

static void must_not_visit(void *context, struct htw_request *request) {
    (void)context, (void)request;
    _exit(3);
}

static void submit_in_child(struct purgatory_case *test) {
    struct htw_purgatory *p = test->purgatory;
    struct htw_request fresh;
    const struct htw_key keys[] = { { "k", 1 }, { "l", 1 }, { "m", 1 } };
    htw_request_init(&fresh);
    EXPECT(htw_purgatory_try_complete_else_watch(p, &fresh, keys, 1, 0) == -EOWNERDEAD);
    EXPECT(htw_purgatory_try_complete_else_watch(p, &fresh, keys, 3, HTW_NEVER_NS) == -EOWNERDEAD);
    EXPECT(htw_threshold_await(test->threshold, &fresh, 0, 0) == -EOWNERDEAD);
    EXPECT(htw_threshold_await(test->threshold, &fresh, 1000, 0) == -EOWNERDEAD);
    EXPECT(!htw_request_is_pending(&fresh));
    struct htw_threshold *threshold = NULL;
    EXPECT(htw_threshold_create(p, 0, &threshold) == -EOWNERDEAD && threshold == NULL);
}

static void ask_in_child(struct purgatory_case *test) {
    struct htw_purgatory *p = test->purgatory;
    struct htw_request *request = &test->waiters[0].request;
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    EXPECT(htw_purgatory_check(p, "k", 1) == -EOWNERDEAD);
    EXPECT(htw_purgatory_check_at_most(p, "k", 1, 1) == -EOWNERDEAD);
    EXPECT(htw_purgatory_check_later(p, "k", 1) == -EOWNERDEAD);
    EXPECT(htw_purgatory_cancel_key(p, "k", 1, must_not_visit, NULL) == -EOWNERDEAD);
    EXPECT(htw_purgatory_count_key(p, "k", 1) == -EOWNERDEAD);
    EXPECT(!htw_request_complete(p, request));
    EXPECT(!htw_request_cancel(p, request));
    EXPECT(htw_request_set_timeout(p, request, 0) == -EOWNERDEAD);
    EXPECT(htw_threshold_advance(test->threshold, 100) == -EOWNERDEAD);
    EXPECT(htw_threshold_value(test->threshold) == 0);
    EXPECT(htw_threshold_lower(test->threshold, 0) == -EOWNERDEAD);
    EXPECT(htw_threshold_end_all(test->threshold, HTW_REASON_CANCELLED, NULL, NULL) == -EOWNERDEAD);
    EXPECT(htw_purgatory_get_stats(p, &stats) == -EOWNERDEAD && stats.pending == 0);
    FILE *stream = tmpfile();
    EXPECT(stream != NULL);
    EXPECT(htw_purgatory_prometheus(p, stream) == -EOWNERDEAD && ftell(stream) == 0);
    fclose(stream);
}

static void end_in_child(struct purgatory_case *test) {
    struct htw_purgatory_options options = purgatory_case_options();
    struct htw_purgatory *mine = NULL;
    EXPECT(htw_purgatory_create(&mine, test->scheduler, &options) == -EOWNERDEAD && mine == NULL);
    EXPECT(htw_threshold_destroy(test->threshold) == -EOWNERDEAD);
    EXPECT(htw_purgatory_close(test->purgatory, must_not_visit, NULL) == -EOWNERDEAD);
    EXPECT(htw_purgatory_destroy(test->purgatory) == -EOWNERDEAD);
    EXPECT(htw_scheduler_destroy(test->scheduler) == -EOWNERDEAD);
}

static unsigned ends_in_child;

static void count_end(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
    ends_in_child++;
}

/* The child's own, without threads: a child of a program with threads may have none. */
static void create_in_child(void) {
    struct htw_scheduler_options scheduler_options = purgatory_case_scheduler_options();
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *mine;
    struct htw_request requests[3] = { 0 };
    options.on_complete = count_end;
    EXPECT(htw_scheduler_create(&scheduler, &scheduler_options) == 0);
    EXPECT(htw_purgatory_create(&mine, scheduler, &options) == 0);
    for (unsigned i = 0; i < 3; i++)
        EXPECT(htw_purgatory_try_complete_else_watch(
                   mine, &requests[i], &(struct htw_key) { "k", 1 }, 1, i * MS) == HTW_WATCHED);
    EXPECT(htw_scheduler_advance(scheduler, 0) == 0 && ends_in_child == 1);
    EXPECT(htw_request_complete(mine, &requests[2]) && ends_in_child == 2);
    EXPECT(htw_purgatory_destroy(mine) == 0 && ends_in_child == 3);
    EXPECT(htw_scheduler_destroy(scheduler) == 0);
}

static void live_in_child(void *arg) {
    struct purgatory_case *test = arg;
    const struct waiter *a = &test->waiters[0];
    unsigned calls = a->asked + a->ended + a->released;
    submit_in_child(test);
    ask_in_child(test);
    end_in_child(test);
    create_in_child();
    EXPECT(a->asked + a->ended + a->released == calls);
}

static int outlive_child(struct purgatory_case *test) {
    return child_run(live_in_child, test, NULL, 0);
}

static void fill(struct purgatory_case *test) {
    assert_int_equal(htw_threshold_create(test->purgatory, 7, &test->threshold), 0);
    watch_each(test, "abcde", HTW_SECOND, "k", "l", "m");
    assert_int_equal(waiter_await(purgatory_case_waiter(test, 'f'), 100, HTW_SECOND), HTW_WATCHED);
    assert_int_equal(check_key_later(test, "l"), 0);
    purgatory_case_forget_log(test);
}

PURGATORY_TEST(purgatory_after_fork_is_inert_in_the_child) {
    fill(test);
    struct htw_purgatory_stats before = purgatory_case_stats(test);
    assert_int_equal(outlive_child(test), 0);
    assert_int_equal(outlive_child(test), 0);
    assert_same_stats(test, &before);
    assert_log_after(test, 0, "a? b? c? d? e?");
    assert_int_equal(htw_threshold_advance(test->threshold, 100), 1);
    purgatory_case_advance(test, HTW_SECOND);
    assert_int_equal(test->ends[HTW_REASON_EXPIRED], 5);
}

static void fork_now(struct waiter *self) {
    self->result = outlive_child(self->test);
}

/* With requests in the middle of everything. */
PURGATORY_TEST(purgatory_after_fork_in_a_hook_is_inert_in_the_child) {
    fill(test);
    for (unsigned i = 1; i < 5; i++) {
        struct waiter *w = &test->waiters[i];
        *(i == 1   ? &w->on_asked
          : i == 2 ? &w->on_visited
          : i == 3 ? &w->on_ended
                   : &w->on_released) = fork_now;
        w->result = -1;
    }
    assert_int_equal(check_key(test, "k"), 0);
    assert_int_equal(htw_purgatory_close(test->purgatory, waiter_visit, test), 6);
    for (unsigned i = 1; i < 5; i++)
        assert_int_equal(test->waiters[i].result, 0);
}
