/* SPDX-License-Identifier: MIT */
/* test_misuse.c - arguments that are refused, and the initialisers. A refusal changes nothing. */
#include "journal_fixture.h"

#define REFUSED(call) assert_int_equal(call, -EINVAL)

/* As the macro; NULL is ignored. */
#define ASSERT_INITIALISES(type, function)                \
    do {                                                  \
        struct type made;                                 \
        memset(&made, 0xa5, sizeof(made));                \
        function(&made);                                  \
        assert_int_equal(made.struct_size, sizeof(made)); \
        function(NULL);                                   \
    } while (0)

UNIT_TEST(misuse_is_avoided_by_initialisers) {
    ASSERT_INITIALISES(htw_journal_options, htw_journal_options_init);
    ASSERT_INITIALISES(htw_job, htw_job_init);
    ASSERT_INITIALISES(htw_job_update, htw_job_update_init);
    ASSERT_INITIALISES(htw_journal_change, htw_journal_change_init);
    ASSERT_INITIALISES(htw_journal_stats, htw_journal_stats_init);
    ASSERT_INITIALISES(htw_lease, htw_lease_init);
    ASSERT_INITIALISES(htw_queue_policy, htw_queue_policy_init);
    ASSERT_INITIALISES(htw_queue_stats, htw_queue_stats_init);
}

JOURNAL_TEST(misuse_of_changes_is_refused) {
    struct htw_job job = JOB(.key_size = 1);
    journal_open(f);
    struct htw_job_update update =
        UPDATE(.id = journal_put_struct(f, JOB(.queue = "a")), .step = HTW_JOB_BURY);
    const struct htw_journal_change invalid[] = {
        { .struct_size = sizeof(struct htw_journal_change) + 1 },
        CHANGE(.done_count = 1),
        CHANGE(.job_count = 1),
        CHANGE(.jobs = &job, .job_count = 1),
        CHANGE(.updates = (struct htw_job_update[]) { update, update }, .update_count = 2),
    };
    for (size_t i = 0; i < COUNT_OF(invalid); i++)
        REFUSED(htw_journal_apply(f->journal, &invalid[i]));
    job = (struct htw_job) { .struct_size = sizeof(job) + 1 };
    REFUSED(journal_put_job(f->journal, &job));
    REFUSED(htw_journal_apply(f->journal, NULL));
    REFUSED(htw_journal_apply_later(f->journal, NULL, NULL, NULL));
    REFUSED(htw_journal_put(NULL, 0, "", 0, NULL));
    REFUSED(htw_journal_put(f->journal, 0, NULL, 1, NULL));
    update.struct_size++;
    REFUSED(htw_journal_update(f->journal, &update));
    REFUSED(htw_journal_update(f->journal, NULL));
    REFUSED(htw_journal_update_later(f->journal, NULL, NULL, NULL));
    job = JOB(KEY("k"), .payload = "", .payload_size = HTW_JOURNAL_JOB_MAX);
    assert_int_equal(journal_put_job(f->journal, &job), -EMSGSIZE);
    assert_int_equal(htw_journal_put(f->journal, 0, "", SIZE_MAX, NULL), -EMSGSIZE);
    assert_int_equal(htw_journal_close(NULL), 0);
    assert_int_equal(journal_stats(f).jobs, 1);
}

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    (void)arg, (void)result, (void)delivery;
}

static bool see(void *context, const struct htw_job_info *info) {
    (void)context, (void)info;
    return true;
}

JOURNAL_TEST(misuse_of_queues_is_refused) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    struct htw_queue_policy policy = HTW_QUEUE_POLICY_INIT;
    struct htw_list_place place = { { 0 } };
    char name[HTW_QUEUE_NAME_MAX + 2];
    const char *queue = name, *no_queue = NULL, *const twice[] = { "a", "b", "a" };
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    const struct htw_lease of_name = LEASE(.queues = &queue, .queue_count = 1);
    journal_open(f);
    REFUSED(htw_journal_lease(f->journal, &of_name, leased, NULL));
    name[HTW_QUEUE_NAME_MAX] = '\0';
    assert_int_equal(htw_journal_lease(f->journal, &of_name, leased, NULL), -ETIMEDOUT);
    REFUSED(htw_journal_lease(f->journal, &of_name, NULL, NULL));
    REFUSED(htw_journal_lease(f->journal, NULL, leased, NULL));
    REFUSED(htw_journal_lease(f->journal, &LEASE(.id = 0), leased, NULL));
    REFUSED(htw_journal_lease(f->journal, &LEASE(.queues = &no_queue, .queue_count = 1), leased,
                              NULL)); /* it is delivered */
    REFUSED(htw_journal_lease(
        f->journal, &LEASE(.queues = twice, .queue_count = 3, .wait_until_ns = HTW_NEVER_NS),
        leased, NULL));
    assert_int_equal(journal_stats(f).queues, 1);
    REFUSED(htw_journal_pause(f->journal, NULL, 0));
    policy.initial_ns = policy.cap_ns = HTW_SECOND;
    policy.jitter = 2;
    REFUSED(htw_journal_set_policy(f->journal, "a", &policy));
    stats.struct_size++;
    REFUSED(htw_journal_get_queue(f->journal, "a", &stats));
    REFUSED(htw_journal_peek(f->journal, 1, NULL, NULL));
    assert_int_equal(htw_journal_peek(f->journal, 1, see, NULL), -ENOENT);
    REFUSED(htw_journal_list(f->journal, "", HTW_JOB_READY, &place, 1, see, NULL));
    REFUSED(htw_journal_list_queues(f->journal, NULL, NULL));
    REFUSED(htw_journal_get_stats(f->journal, NULL));
    struct htw_journal_stats all = { .struct_size = sizeof(all) + 1 };
    REFUSED(htw_journal_get_stats(f->journal, &all));
    journal_close(f);
    assert_int_equal(htw_journal_open(&f->journal, NULL, f->path, NULL), 0);
    REFUSED(
        htw_journal_lease(f->journal, &LEASE(.id = 1), leased, NULL)); /* nobody knows the time */
}

JOURNAL_TEST(misuse_of_options_is_refused_with_their_name) {
    struct htw_journal_options valid = f->options, *o = &f->options;
#define REFUSED_OPTION(name, value)                                            \
    do {                                                                       \
        o->name = (value);                                                     \
        REFUSED(journal_try_open(f));                                          \
        assert_null(f->journal);                                               \
        assert_non_null(strstr(htw_journal_error(), "the option " #name " ")); \
        *o = valid;                                                            \
    } while (0)
    REFUSED_OPTION(struct_size, sizeof(valid) + 1);
    REFUSED_OPTION(near_ns, -1);
    REFUSED_OPTION(near_ns, HTW_JOURNAL_NEAR_NS_MAX + 1);
    REFUSED_OPTION(gather_ns, HTW_JOURNAL_GATHER_NS_MAX + 1);
    REFUSED_OPTION(parallel, HTW_JOURNAL_PARALLEL_MAX + 1);
    REFUSED_OPTION(synchronous, (enum htw_synchronous)2);
    REFUSED_OPTION(lease_ns, -1);
    REFUSED(htw_journal_open(&f->journal, NULL, f->path, o));
    REFUSED(htw_journal_open(NULL, f->scheduler, f->path, o));
    assert_int_equal(f->memory.live_blocks, 0);
}
