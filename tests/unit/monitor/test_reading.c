/* SPDX-License-Identifier: MIT */
/*
 * test_reading.c - what other threads do to the sources while the thread of the monitor reads one of them.
 * It stays in the first one that it reads until the test lets it go.
 */
#include "../../support/manual_time.h"
#include "monitor_fixture.h"

#include <htw/observe.h>

#include <pthread.h>
#include <semaphore.h>

static sem_t is_inside, may_go_on, is_waiting, is_told;
static _Atomic unsigned reads; /* sources that were read */
static _Atomic bool stays;

int __real_htw_scheduler_get_histograms(struct htw_scheduler *scheduler,
                                        struct htw_scheduler_stats *stats,
                                        struct htw_scheduler_histograms *histograms);
int __wrap_htw_scheduler_get_histograms(struct htw_scheduler *scheduler,
                                        struct htw_scheduler_stats *stats,
                                        struct htw_scheduler_histograms *histograms);

int __wrap_htw_scheduler_get_histograms(struct htw_scheduler *scheduler,
                                        struct htw_scheduler_stats *stats,
                                        struct htw_scheduler_histograms *histograms) {
    reads++;
    if (stays) {
        stays = false;
        sem_post(&is_inside);
        sem_wait(&may_go_on);
    }
    return __real_htw_scheduler_get_histograms(scheduler, stats, histograms);
}

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);

/* With the mutex: who gets it next finds this thread asleep. */
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    sem_post(&is_waiting);
    return __real_pthread_cond_wait(condition, mutex);
}

int __real_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how);

int __wrap_shutdown(int fd, int how) {
    int result = __real_shutdown(fd, how);
    sem_post(&is_told);
    return result;
}

/* Two schedulers, and the thread in the first of them, for a client that has asked. */
struct scene {
    struct htw_scheduler *schedulers[2];
    struct htw_monitor_source *sources[2];
    int client;
};

static void begin(struct monitor_fixture *f, struct scene *scene, const char *request) {
    static const char *const names[] = { "one", "two" };
    sem_init(&is_inside, 0, 0);
    sem_init(&may_go_on, 0, 0);
    sem_init(&is_waiting, 0, 0);
    sem_init(&is_told, 0, 0);
    for (size_t i = 0; i < 2; i++) {
        scene->schedulers[i] = manual_scheduler(0);
        assert_non_null(scene->schedulers[i]);
        assert_int_equal(htw_monitor_add_scheduler(f->monitor, names[i], scene->schedulers[i],
                                                   &scene->sources[i]),
                         0);
    }
    reads = 0;
    stays = true;
    scene->client = client_connect(f->path);
    client_send(scene->client, request);
    sem_wait(&is_inside);
}

static void end(struct scene *scene) {
    close(scene->client);
    for (size_t i = 0; i < 2; i++)
        htw_scheduler_destroy(scene->schedulers[i]);
}

static _Atomic bool has_changed;

static void *remove_source(void *source) {
    htw_monitor_remove(source);
    has_changed = true;
    return NULL;
}

static void *add_source(void *scheduler) {
    if (htw_monitor_add_scheduler(monitor_fixture.monitor, "three", scheduler, NULL) == 0)
        has_changed = true;
    return NULL;
}

/* holds: monitor-2 */
MONITOR_TEST(monitor_sources_stay_while_an_answer_is_made) {
    for (int i = 0; i < 4; i++) {
        struct scene scene;
        pthread_t thread;
        begin(f, &scene, i % 2 == 0 ? "json\n" : "metrics\n");
        has_changed = false;
        pthread_create(&thread, NULL, i < 2 ? remove_source : add_source,
                       i < 2 ? (void *)scene.sources[1] : (void *)scene.schedulers[1]);
        sem_wait(&is_waiting);
        assert_false(has_changed);
        sem_post(&may_go_on);
        const char *answer = client_read(scene.client, NULL);
        pthread_join(thread, NULL);
        assert_true(has_changed);
        assert_non_null(strstr(answer, "\"two\""));
        assert_null(strstr(answer, "\"three\""));
        answer = client_ask(f->path, "json\n");
        assert_int_equal(strstr(answer, "\"two\"") != NULL, i >= 2);
        assert_int_equal(strstr(answer, "\"three\"") != NULL, i >= 2);
        monitor_close(f);
        end(&scene);
        assert_int_equal(monitor_open(f), 0);
    }
}

static void *close_monitor(void *fixture) {
    monitor_close(fixture);
    return NULL;
}

/* In the middle of an answer, and of that answer nothing is sent. */
/* holds: monitor-2 */
MONITOR_TEST(monitor_closes_when_the_source_that_it_reads_is_read) {
    struct scene scene;
    pthread_t thread;
    begin(f, &scene, "json\n");
    assert_int_equal(pthread_create(&thread, NULL, close_monitor, f), 0);
    sem_wait(&is_told);
    sem_post(&may_go_on);
    pthread_join(thread, NULL);
    assert_int_equal(reads, 1);
    assert_string_equal(client_read(scene.client, NULL), "");
    end(&scene);
}
