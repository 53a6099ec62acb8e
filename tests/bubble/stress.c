/* SPDX-License-Identifier: MIT */
/*
 * stress.c - threads that wait with timeouts and wake each other: no wait ends early, and no deadline is passed over.
 *
 * Time stands still while a thread runs. So a thread that is woken reads the time at which it was woken, and one that is not
 * reads its deadline, to the nanosecond. usage: stress WAITS
 */
#include <htw/bubble.h>

#include "../support/random.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS 20
#define DELAY_MAX_NS 1000000
#define REQUIRE(condition) \
    ((condition) ? (void)0 : (fprintf(stderr, "line %d: not " #condition "\n", __LINE__), abort()))

enum kind { CONDITION, SEMAPHORE, PIPE, BLOCKING, KINDS };

static struct waiter {
    enum kind kind;
    bool is_waiting;  /* under the mutex, as is all */
    int64_t woken_ns; /* by whoever has cleared `is_waiting` */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    sem_t semaphore;
    int ends[2];
} waiters[THREADS];

static int waits;
static _Atomic int running = THREADS, woken;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void wake(struct waiter *waiter) {
    pthread_mutex_lock(&waiter->mutex);
    if (waiter->is_waiting) {
        waiter->is_waiting = false;
        waiter->woken_ns = now_ns();
        if (waiter->kind == CONDITION)
            pthread_cond_signal(&waiter->condition);
        else if (waiter->kind == SEMAPHORE)
            sem_post(&waiter->semaphore);
        else
            REQUIRE(write(waiter->ends[1], "", 1) == 1);
    }
    pthread_mutex_unlock(&waiter->mutex);
}

static void wait_until(struct waiter *waiter, int64_t deadline_ns) {
    const struct timespec at = { deadline_ns / 1000000000, deadline_ns % 1000000000 };
    const struct timespec delay = { 0, deadline_ns - now_ns() };
    struct pollfd fd = { .fd = waiter->ends[0], .events = POLLIN };
    int result = 0;
    char byte;
    if (waiter->kind == CONDITION) {
        pthread_mutex_lock(&waiter->mutex);
        while (waiter->is_waiting && result == 0)
            result =
                pthread_cond_clockwait(&waiter->condition, &waiter->mutex, CLOCK_MONOTONIC, &at);
        pthread_mutex_unlock(&waiter->mutex);
    } else if (waiter->kind == SEMAPHORE) {
        sem_clockwait(&waiter->semaphore, CLOCK_MONOTONIC, &at);
    } else if (waiter->kind == BLOCKING || ppoll(&fd, 1, &delay, NULL) == 1) {
        REQUIRE(read(fd.fd, &byte, 1) == 1);
    }
}

/* It was woken when the wait was over already. */
static void take_late(struct waiter *waiter) {
    struct pollfd fd = { .fd = waiter->ends[0], .events = POLLIN };
    char byte;
    sem_trywait(&waiter->semaphore);
    if (poll(&fd, 1, 0) == 1)
        REQUIRE(read(fd.fd, &byte, 1) == 1);
}

static void wait_once(struct waiter *waiter, struct random_source *random) {
    int64_t deadline_ns = now_ns() + 1 + (int64_t)random_below(random, DELAY_MAX_NS);
    pthread_mutex_lock(&waiter->mutex);
    waiter->kind = (enum kind)random_below(random, KINDS);
    waiter->is_waiting = true;
    pthread_mutex_unlock(&waiter->mutex);
    wait_until(waiter, deadline_ns);
    int64_t ended_ns = now_ns();
    pthread_mutex_lock(&waiter->mutex);
    REQUIRE(ended_ns == (waiter->is_waiting ? deadline_ns : waiter->woken_ns));
    woken += !waiter->is_waiting;
    waiter->is_waiting = false;
    take_late(waiter);
    pthread_mutex_unlock(&waiter->mutex);
}

static void *run(void *argument) {
    struct waiter *waiter = argument;
    struct random_source random = { (uint64_t)(waiter - waiters) + 1 };
    for (int i = 0; i < waits; i++) {
        wait_once(waiter, &random);
        wake(&waiters[random_below(&random, THREADS)]);
    }
    running--;
    return NULL;
}

int main(int count, char **words) {
    waits = count > 1 ? atoi(words[1]) : 1000;
    REQUIRE(htw_bubble_begin() == 0);
    for (struct waiter *waiter = waiters; waiter < waiters + THREADS; waiter++) {
        pthread_mutex_init(&waiter->mutex, NULL);
        pthread_cond_init(&waiter->condition, NULL);
        sem_init(&waiter->semaphore, 0, 0);
        REQUIRE(pipe(waiter->ends) == 0);
        REQUIRE(pthread_create(&waiter->thread, NULL, run, waiter) == 0);
    }
    for (int i = 0; running > 0; i++) { /* those that wait without a timeout */
        usleep(1000);
        wake(&waiters[i % THREADS]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(waiters[i].thread, NULL);
    printf("%d waits, %d of them ended by another thread\n", waits * THREADS, (int)woken);
    return htw_bubble_end();
}
