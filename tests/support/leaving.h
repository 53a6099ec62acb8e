/* SPDX-License-Identifier: MIT */
/* leaving.h - code of the user that does not return: that must end the process, with a message that says what it was. */
#ifndef TESTS_SUPPORT_LEAVING_H
#define TESTS_SUPPORT_LEAVING_H

#include "../unit/unit.h"
#include "child.h"
#ifdef HAVE_THROWING
#include "throwing.h"
#endif

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

static void leave_by_exit(void) {
    pthread_exit(NULL);
}

static void leave_by_cancel(void) {
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

#ifdef HAVE_THROWING
static void leave_by_exception(void) {
    throwing_throw();
}
#endif

static void (*const ways[])(void) = {
    leave_by_exit,
    leave_by_cancel,
#ifdef HAVE_THROWING
    leave_by_exception,
#endif
};

/* What the code of the scene calls. */
static void (*leave)(void);

/* A scene is played in a child of its own. */
struct scene {
    void (*play)(void);
    const char *what;
    bool is_not_cancelled; /* the thread cannot be, there */
};

static void *play(void *scene) {
    ((const struct scene *)scene)->play();
    return NULL;
}

static void call_play(void *scene) {
    ((const struct scene *)scene)->play();
}

/* In the child: as a program whose thread catches what it can. */
static void play_to_the_end(void *scene) {
    pthread_t thread;
#ifdef HAVE_THROWING
    if (leave == leave_by_exception)
        throwing_catch(call_play, scene);
#endif
    if (pthread_create(&thread, NULL, play, scene) == 0)
        pthread_join(thread, NULL);
    (void)call_play;
}

static void assert_aborts(const struct scene *scene, bool is_named) {
    char text[4096];
    int ended = child_run(play_to_the_end, (void *)(uintptr_t)scene, text, sizeof(text));
    if (ended != -SIGABRT || (is_named && strstr(text, scene->what) == NULL))
        fail_msg("%s: ended by %d, and said: %s", scene->what, ended, text);
}

/* In each way. */
static void assert_all_abort(const struct scene *scenes, size_t count) {
    for (size_t way = 0; way < COUNT_OF(ways); way++) {
        leave = ways[way];
        for (size_t i = 0; i < count; i++)
            if (leave != leave_by_cancel || !scenes[i].is_not_cancelled)
                assert_aborts(&scenes[i], true);
    }
}

#endif /* TESTS_SUPPORT_LEAVING_H */
