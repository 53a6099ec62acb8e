/* SPDX-License-Identifier: MIT */
/* told.h - a function for htw_set_log() that keeps the messages. */
#ifndef TESTS_TOLD_H
#define TESTS_TOLD_H

#include "../unit/unit.h"

#include <htw/log.h>

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static struct {
    pthread_mutex_t mutex;
    unsigned count;
    char text[4000];
} told = { PTHREAD_MUTEX_INITIALIZER, 0, "" };

/* Adds a line: the level, the subsystem and the message. Other threads may tell something as well. */
static inline void keep_told(enum htw_log_level level, const char *subsystem, const char *message) {
    pthread_mutex_lock(&told.mutex);
    size_t size = strlen(told.text);
    snprintf(told.text + size, sizeof(told.text) - size, "%d %s: %s\n", (int)level, subsystem,
             message);
    told.count++;
    pthread_mutex_unlock(&told.mutex);
}

static inline void begin_told(htw_log_function *function) {
    told.count = 0;
    told.text[0] = '\0';
    htw_set_log(function);
}

/* Waits for a message with this part, which may come from another thread, and removes the function. */
static inline void assert_told(const char *part) {
    bool found = false;
    for (int i = 0; i < 30000 && !found; i++) {
        pthread_mutex_lock(&told.mutex);
        found = strstr(told.text, part) != NULL;
        pthread_mutex_unlock(&told.mutex);
        if (!found)
            usleep(1000);
    }
    htw_set_log(NULL);
    if (!found)
        fail_msg("told \"%s\", not \"%s\"", told.text, part);
}

#endif /* TESTS_TOLD_H */
