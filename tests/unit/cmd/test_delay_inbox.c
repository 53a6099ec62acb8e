/* SPDX-License-Identifier: MIT */
/* test_delay_inbox.c - a delivery waits while too much is on its way to the loop of `htw delay --journal`. */
#include "../../../src/cmd/delay/inbox.h"
#include "../unit.h"

#include <poll.h>
#include <semaphore.h>
#include <stdlib.h>

#define MUCH \
    ((size_t)16 * 1024 * 1024) /* as much as may be on its way, and then some for its head */

static sem_t is_waiting;

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    sem_post(&is_waiting);
    return __real_pthread_cond_wait(condition, mutex);
}

/* An inbox with a message that fills it, and a thread that waits to put another one. */
struct scene {
    struct htw__inbox inbox;
    struct htw__message *first, *second;
    pthread_t thread;
};

static void *put_second(void *arg) {
    struct scene *scene = arg;
    htw__inbox_put(&scene->inbox, scene->second);
    return NULL;
}

static bool is_readable(const struct htw__inbox *inbox) {
    struct pollfd wanted = { .fd = inbox->fd, .events = POLLIN };
    return poll(&wanted, 1, 0) == 1;
}

static void begin(struct scene *scene) {
    char *bytes = calloc(1, MUCH);
    assert_non_null(bytes);
    sem_init(&is_waiting, 0, 0);
    assert_int_equal(htw__inbox_init(&scene->inbox), 0);
    scene->first = htw__message_create(bytes, MUCH, '\n', NULL);
    scene->second = htw__message_create("b", 1, '\n', NULL);
    free(bytes);
    assert_non_null(scene->first);
    assert_non_null(scene->second);
    htw__inbox_put(&scene->inbox, scene->first);
    assert_int_equal(pthread_create(&scene->thread, NULL, put_second, scene), 0);
    sem_wait(&is_waiting);
    assert_true(is_readable(&scene->inbox));
    assert_ptr_equal(htw__inbox_take(&scene->inbox), scene->first);
    assert_null(scene->first->in.next);
    assert_false(is_readable(&scene->inbox));
}

/* The thread has gone on. */
static void end(struct scene *scene) {
    pthread_join(scene->thread, NULL);
    assert_true(is_readable(&scene->inbox));
    assert_ptr_equal(htw__inbox_take(&scene->inbox), scene->second);
    htw__message_destroy(scene->first);
    htw__message_destroy(scene->second);
    assert_false(htw__inbox_has_no_memory(&scene->inbox));
    htw__inbox_fini(&scene->inbox);
}

UNIT_TEST(inbox_that_is_full_has_room_again_when_a_message_was_released) {
    struct scene scene;
    begin(&scene);
    htw__inbox_released(&scene.inbox, scene.first);
    end(&scene);
}

UNIT_TEST(inbox_that_is_full_lets_nobody_wait_when_it_is_closed) {
    struct scene scene;
    begin(&scene);
    htw__inbox_close(&scene.inbox);
    end(&scene);
}

UNIT_TEST(inbox_says_that_there_was_no_memory_for_a_message) {
    struct htw__inbox inbox;
    assert_int_equal(htw__inbox_init(&inbox), 0);
    assert_false(is_readable(&inbox));
    htw__inbox_put(&inbox, NULL);
    assert_true(is_readable(&inbox));
    assert_null(htw__inbox_take(&inbox));
    assert_true(htw__inbox_has_no_memory(&inbox));
    htw__inbox_fini(&inbox);
}
