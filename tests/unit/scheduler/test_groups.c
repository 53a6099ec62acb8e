/* SPDX-License-Identifier: MIT */
/* test_groups.c - timers that are cancelled, paused and resumed together. */
/* holds: scheduler-9 */
#include "scheduler_fixture.h"

#define DELAY_NS (10 * MS)

enum { MANY = 300 }; /* several slices */

static void open_group(struct scheduler_fixture *f) {
    scheduler_reopen(f);
    create_group(f);
}

static void setup(void) {
    struct scheduler_fixture *f = &scheduler_fixture;
    scheduler_setup_later();
    f->count = MANY + 1;
    open_group(f);
}

#define GROUP_TEST(name) SCHEDULER_TEST_AFTER(setup, name)

static void arm_grouped(struct scheduler_fixture *f, unsigned number, int64_t delay_ns) {
    struct htw_spec spec = grouped_spec(f, number, delay_ns);
    arm_spec(f, number, &spec);
}

/* DELAY_NS from now, and `apart_ns` apart. */
static void arm_many(struct scheduler_fixture *f, int64_t apart_ns, void (*act)(struct probe *)) {
    for (unsigned i = 0; i < MANY; i++) {
        f->probes[i].act = act;
        arm_grouped(f, i, DELAY_NS + i * apart_ns);
    }
}

static void assert_each_visited(struct scheduler_fixture *f, unsigned times) {
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(f->probes[i].visits, times);
}

/* What a visitor has seen. */
struct groups_seen {
    unsigned count, named;
    struct htw_group_stats last;
    char name[64];           /* of the last */
    struct htw_group **ends; /* destroys these at the first one */
    unsigned end_count;
};

static void see_group(void *context, const union htw_visited *visited) {
    const struct htw_group_stats *stats = &visited->group;
    struct groups_seen *seen = context;
    seen->count++;
    seen->named += stats->name[0] != 0;
    seen->last = *stats;
    snprintf(seen->name, sizeof(seen->name), "%s", stats->name);
    for (; seen->end_count > 0; seen->end_count--)
        htw_group_destroy(seen->ends[seen->end_count - 1]);
}

static struct groups_seen see_groups(struct scheduler_fixture *f) {
    struct groups_seen seen = { .count = 0 };
    assert_int_equal(htw_scheduler_visit(f->scheduler, HTW_VISIT_GROUPS, 0, see_group, &seen), 0);
    return seen;
}

/* ---- bad input, counts */

GROUP_TEST(group_given_as_null_is_refused) {
    struct htw_group *group;
    assert_int_equal(htw_group_create(f->scheduler, NULL), -EINVAL);
    assert_int_equal(htw_group_create(NULL, &group), -EINVAL);
    assert_int_equal(htw_group_cancel(NULL, probe_visit, NULL), -EINVAL);
    assert_int_equal(htw_group_pause(NULL), -EINVAL);
    assert_int_equal(htw_group_resume(NULL), -EINVAL);
    assert_int_equal(htw_group_count(NULL), 0);
    assert_int_equal(htw_group_set_name(NULL, "name"), -EINVAL);
    htw_group_destroy(NULL);
}

GROUP_TEST(group_of_another_scheduler_is_refused) {
    struct scheduler_fixture other;
    scheduler_open(&other, NULL, 1);
    struct htw_spec spec = keyed_spec(&other, 0, DELAY_NS, "key");
    for (unsigned with_key = 0; with_key < 2; with_key++) {
        spec.group = f->group;
        assert_int_equal(htw_schedule_spec(other.scheduler, &spec, NULL, NULL), -EINVAL);
        assert_string_equal(htw_invalid_member(), "group");
        spec.key = NULL;
    }
    assert_int_equal(htw_cancel_key(other.scheduler, f->group, "key", 3, NULL), -EINVAL);
    assert_int_equal(htw_find_key(other.scheduler, f->group, "key", 3), 0);
    assert_int_equal(htw_group_count(f->group), 0);
    scheduler_close(&other);
}

GROUP_TEST(group_after_stop_answers_eshutdown) {
    struct htw_group *another;
    struct htw_spec spec = grouped_spec(f, 0, DELAY_NS);
    arm_spec(f, 0, &spec);
    pause_group(f);
    advance(f, HTW_SECOND);
    assert_int_equal(htw_scheduler_stop(f->scheduler, probe_visit, NULL), 0);
    assert_log(f, "!a");
    /* Of a paused one: as if it were resumed now. */
    assert_int_equal(f->probes[0].unexpired_ns, START_NS + HTW_SECOND + DELAY_NS);
    assert_int_equal(htw_group_create(f->scheduler, &another), -ESHUTDOWN);
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -ESHUTDOWN);
    assert_int_equal(htw_group_count(f->group), 0);
    assert_int_equal(htw_group_cancel(f->group, probe_visit, NULL), 0);
    resume_group(f);
}

/* ---- visitors that change the group that is being cancelled */

static void visit_and_pause(void *context, const struct htw_unexpired *unexpired) {
    struct scheduler_fixture *f = context;
    probe_visit(NULL, unexpired);
    htw_group_pause(f->group);
    htw_group_resume(f->group);
    htw_group_count(f->group);
}

static void visit_and_cancel(void *context, const struct htw_unexpired *unexpired) {
    struct scheduler_fixture *f = context;
    probe_visit(NULL, unexpired);
    htw_group_cancel(f->group, visit_and_cancel, f);
}

static void visit_and_destroy(void *context, const struct htw_unexpired *unexpired) {
    probe_visit(NULL, unexpired);
    destroy_group(context);
}

GROUP_TEST(group_cancelled_with_a_visitor_that_changes_it_gives_each_once) {
    static htw_unexpired_visitor *const visitors[] = { visit_and_pause, visit_and_cancel,
                                                       visit_and_destroy };
    for (size_t i = 0; i < COUNT_OF(visitors); i++) {
        open_group(f);
        arm_many(f, 0, NULL);
        int64_t cancelled = htw_group_cancel(f->group, visitors[i], f);
        if (visitors[i] != visit_and_cancel)
            assert_int_equal(cancelled, MANY);
        assert_each_visited(f, 1);
        assert_int_equal(scheduler_stats(f).cancelled, MANY);
        assert_int_equal(htw_pending(f->scheduler), 0);
    }
}

static unsigned additions;

static void visit_and_schedule(void *context, const struct htw_unexpired *unexpired) {
    struct scheduler_fixture *f = context;
    struct htw_spec spec = grouped_spec(f, MANY, DELAY_NS);
    if (unexpired->arg != spec.arg)
        probe_visit(NULL, unexpired);
    additions += htw_schedule_spec(f->scheduler, &spec, NULL, NULL) == 0;
}

GROUP_TEST(group_cancelled_ends_though_its_visitor_schedules_more) {
    additions = 0;
    arm_many(f, 0, NULL);
    int64_t cancelled = htw_group_cancel(f->group, visit_and_schedule, f);
    assert_in_range(cancelled, MANY, 4 * MANY);
    assert_each_visited(f, 1);
    assert_int_equal(htw_group_count(f->group), additions + MANY - (uint64_t)cancelled);
}

/* ---- names, all groups */

GROUP_TEST(group_is_visited_with_its_name_and_state) {
    struct groups_seen seen = see_groups(f);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.name, "");
    assert_ptr_equal(seen.last.address, f->group);
    assert_false(seen.last.paused);
    arm_grouped(f, 0, DELAY_NS);
    arm_grouped(f, 1, DELAY_NS);
    pause_group(f);
    assert_int_equal(htw_group_set_name(f->group, "a name that is longer than is kept"), 0);
    seen = see_groups(f);
    assert_string_equal(seen.name, "a name that is longer than is k");
    assert_int_equal(seen.last.count, 2);
    assert_true(seen.last.paused);
    assert_int_equal(htw_group_set_name(f->group, NULL), 0);
    assert_string_equal(see_groups(f).name, "");
    resume_group(f);
    advance(f, DELAY_NS);
}

GROUP_TEST(group_paused_is_armed_without_a_wake_up) {
    pause_group(f);
    arm_grouped(f, 0, DELAY_NS);
    assert_int_equal(htw_scheduler_next(f->scheduler), HTW_NEVER_NS);
    resume_group(f);
    assert_int_equal(htw_scheduler_next(f->scheduler), START_NS + DELAY_NS);
    advance(f, DELAY_NS);
    assert_log(f, "a");
}

GROUP_TEST(groups_that_end_during_a_visit_are_left_out) {
    struct htw_group *groups[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(htw_group_create(f->scheduler, &groups[i]), 0);
        assert_int_equal(htw_group_set_name(groups[i], "one of many"), 0);
    }
    struct groups_seen seen = see_groups(f);
    assert_int_equal(seen.count, MANY + 1);
    assert_int_equal(seen.named, MANY);
    seen = (struct groups_seen) { .ends = groups, .end_count = MANY };
    assert_int_equal(htw_scheduler_visit(f->scheduler, HTW_VISIT_GROUPS, 0, see_group, &seen), 0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(see_groups(f).count, 1);
}
