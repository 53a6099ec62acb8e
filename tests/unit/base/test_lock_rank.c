/* SPDX-License-Identifier: MIT */
/* test_lock_rank - a thread that takes locks against their order ends the process with a message
   that names both. Each case runs in a child. */
#include "../../../src/base/lock.h"

#include "../../support/abort_cases.h"

static struct htw__mutex wall, life, pool, alarm_mutex, second_alarm;
static struct htw__lock shard, other_shard, cpu, unranked;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

UNIT_SETUP(init_locks) {
    htw__mutex_init(&wall, HTW__RANK_SCHEDULER_LISTENERS);
    htw__mutex_init(&life, HTW__RANK_SCHEDULER_LIFE);
    htw__mutex_init(&pool, HTW__RANK_SCHEDULER_WORK_QUEUE);
    htw__mutex_init(&alarm_mutex, HTW__RANK_ALARM);
    htw__mutex_init(&second_alarm, HTW__RANK_ALARM);
    htw__lock_init(&shard, HTW__RANK_SCHEDULER_SHARD);
    htw__lock_init(&other_shard, HTW__RANK_SCHEDULER_SHARD);
    htw__lock_init(&cpu, HTW__RANK_PURGATORY_CPU);
}

static void take_in_order(void) {
    htw__mutex_lock(&wall);
    htw__lock_acquire(&cpu);
    htw__lock_acquire(&shard);
    htw__mutex_lock(&alarm_mutex);
    htw__mutex_unlock(&alarm_mutex);
    htw__lock_release(&shard);
    htw__lock_release(&cpu);
    htw__mutex_unlock(&wall);
}

static void release_in_another_order(void) {
    htw__mutex_lock(&wall);
    htw__lock_acquire(&cpu);
    htw__lock_acquire(&shard);
    htw__lock_release(&cpu);
    htw__mutex_unlock(&wall);
    htw__mutex_lock(&pool);
    htw__lock_release(&shard);
    htw__mutex_unlock(&pool);
    take_in_order();
}

static void take_shards_one_after_the_other(void) {
    htw__lock_acquire(&shard);
    htw__lock_release(&shard);
    htw__lock_acquire(&other_shard);
    htw__lock_release(&other_shard);
}

static void *take_cpu(void *arg) {
    htw__lock_acquire(&cpu);
    htw__lock_release(&cpu);
    return arg;
}

static void take_in_two_threads(void) {
    pthread_t thread;
    htw__lock_acquire(&shard);
    pthread_create(&thread, NULL, take_cpu, NULL);
    pthread_join(thread, NULL);
    htw__lock_release(&shard);
}

static void sleep_with_one_mutex(void) {
    htw__mutex_lock(&life);
    htw__mutex_wait_until(&life, &condition, &(struct timespec) { 1, 0 });
    htw__mutex_unlock(&life);
    take_in_order();
}

static void take_against_order(void) {
    htw__lock_acquire(&shard);
    htw__lock_acquire(&cpu);
}

static void take_mutex_against_order(void) {
    htw__lock_acquire(&shard);
    htw__mutex_lock(&life);
}

static void take_two_shards(void) {
    htw__lock_acquire(&shard);
    htw__lock_acquire(&other_shard);
}

static void take_twice(void) {
    htw__mutex_lock(&life);
    htw__mutex_lock(&life);
}

static void take_two_of_the_last_order(void) {
    htw__mutex_lock(&alarm_mutex);
    htw__mutex_lock(&second_alarm);
}

static void take_against_one_below_the_last(void) {
    htw__lock_acquire(&cpu);
    htw__lock_acquire(&shard);
    htw__lock_release(&cpu);
    htw__mutex_lock(&life);
}

static void set_a_timer_with_earlier_locks(void) {
    htw__mutex_lock(&wall);
    htw__lock_acquire(&cpu);
    HTW__LOCK_RANK_PASS(HTW__RANK_TIMER);
    htw__lock_release(&cpu);
    htw__mutex_unlock(&wall);
}

static void set_a_timer_with_a_later_lock(void) {
    htw__mutex_lock(&pool);
    HTW__LOCK_RANK_PASS(HTW__RANK_TIMER);
}

static void take_without_rank(void) {
    htw__lock_acquire(&unranked);
}

static void release_what_is_free(void) {
    htw__lock_release(&shard);
}

static void sleep_with_another_lock(void) {
    htw__mutex_lock(&wall);
    htw__mutex_lock(&life);
    htw__mutex_wait(&life, &condition);
}

static void sleep_without_the_mutex(void) {
    htw__mutex_wait(&life, &condition);
}

static const struct abort_case cases[] = {
    { "in order", take_in_order, NULL },
    { "released in another order", release_in_another_order, NULL },
    { "one after the other", take_shards_one_after_the_other, NULL },
    { "in two threads", take_in_two_threads, NULL },
    { "asleep with one mutex", sleep_with_one_mutex, NULL },
    { "a timer with earlier locks", set_a_timer_with_earlier_locks, NULL },
    { "a timer with a later lock", set_a_timer_with_a_later_lock,
      "takes timer while it holds scheduler.work_queue" },
    { "against the order", take_against_order,
      "takes purgatory.cpu while it holds scheduler.shard" },
    { "a mutex against the order", take_mutex_against_order,
      "takes scheduler.life while it holds scheduler.shard" },
    { "two shards", take_two_shards, "takes scheduler.shard while it holds scheduler.shard" },
    { "twice", take_twice, "takes scheduler.life while it holds scheduler.life" },
    { "two of the last order", take_two_of_the_last_order, "takes alarm while it holds alarm" },
    { "after another was released", take_against_one_below_the_last,
      "takes scheduler.life while it holds scheduler.shard" },
    { "without a rank", take_without_rank, "takes a lock that was not initialized" },
    { "released twice", release_what_is_free, "releases scheduler.shard which it does not hold" },
    { "asleep with another lock", sleep_with_another_lock,
      "sleeps on scheduler.life while it holds scheduler.listeners" },
    { "asleep without the mutex", sleep_without_the_mutex,
      "sleeps on scheduler.life which it does not hold" },
};

UNIT_TEST(lock_taken_against_the_order_aborts) {
    if (HTW_CHECK_LEVEL < 1)
        skip(); /* locks have no ranks then */
    assert_abort_cases(cases, COUNT_OF(cases));
}

UNIT_TEST(lock_without_checks_has_no_rank) {
    if (HTW_CHECK_LEVEL >= 1)
        skip();
    assert_int_equal(sizeof(struct htw__lock), sizeof(unsigned));
    assert_int_equal(sizeof(struct htw__mutex), sizeof(pthread_mutex_t));
}
