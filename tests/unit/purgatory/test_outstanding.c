/* SPDX-License-Identifier: MIT */
/* test_outstanding - what still refers to an object is counted, and the wait ends with the last. */
#include "../../../src/purgatory/outstanding.h"
#include "../unit.h"

#include <pthread.h>
#include <time.h>

static struct {
    struct htw__outstanding outstanding;
    unsigned naps, removed_at; /* the nap in which the last reference is removed */
    long longest_ns;
    bool cancels; /* in the first nap: the thread that naps */
} scene;

/* Only the wait sleeps in this program. */
int __wrap_nanosleep(const struct timespec *request, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *request, struct timespec *rest) {
    (void)rest;
    scene.naps++;
    if (request->tv_nsec > scene.longest_ns)
        scene.longest_ns = request->tv_nsec;
    if (scene.cancels) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    if (scene.naps == scene.removed_at)
        htw__outstanding_remove(&scene.outstanding);
    return 0;
}

static void begin(unsigned removed_at) {
    memset(&scene, 0, sizeof(scene));
    scene.removed_at = removed_at;
}

UNIT_TEST(outstanding_wait_sleeps_longer_each_time_up_to_a_limit) {
    begin(100);
    htw__outstanding_add(&scene.outstanding);
    htw__outstanding_wait(&scene.outstanding, NULL);
    assert_int_equal(scene.naps, 100);
    assert_in_range(scene.longest_ns, HTW_MILLISECOND, 10 * HTW_MILLISECOND);
}

static void *wait_and_be_cancelled(void *waited) {
    htw__outstanding_wait(&scene.outstanding, NULL);
    *(bool *)waited = true;
    pthread_testcancel();
    return NULL;
}

UNIT_TEST(outstanding_waited_for_by_a_cancelled_thread_reaches_zero_first) {
    begin(3);
    scene.cancels = true;
    htw__outstanding_add(&scene.outstanding);
    bool waited = false;
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, wait_and_be_cancelled, &waited), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(waited);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(scene.naps, 3);
}
