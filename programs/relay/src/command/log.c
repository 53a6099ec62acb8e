/* SPDX-License-Identifier: MIT */
/* log.c - writes the lines of the log. */
#include "log.h"

#include "../../../../src/base/clock.h"
#include "../../../kit/times.h"
#include "../../../kit/terminal.h"
#include "../../../kit/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME_AGAIN_NS (10 * HTW_SECOND)
#define TEXT_MAX 1024 /* bytes of a message: librdkafka's, and those of say.c, are shorter */

/* Quotes as JSON does. What the terminal could take for more than text is escaped first. */
static void write_message(FILE *line, const char *text) {
    char visible[HTW__VISIBLE_MAX * TEXT_MAX];
    bool is_cut;
    size_t size = htw__visible_format(text, strlen(text), visible, sizeof(visible), &is_cut);
    htw__visible_write_json(line, visible, size);
}

/* A line goes out by one call, so that other writers do not come in between. */
static void say(enum htw__severity level, const char *text) {
    static const char *const levels[] = { "info", "warning", "error" };
    char *bytes = NULL, time[HTW__INSTANT_FORMAT_SIZE];
    size_t size;
    FILE *line = open_memstream(&bytes, &size);
    if (line == NULL) {
        htw__terminal_error("%s", text);
        return;
    }
    htw__instant_format(0, htw__clock_realtime_ns(), time);
    fprintf(line, "time=%s level=%s msg=", time, levels[level]);
    write_message(line, text);
    bool is_complete = fclose(line) == 0;
    if (is_complete)
        fprintf(stderr, "%s\n", bytes);
    else
        htw__terminal_error("%s", text);
    free(bytes);
}

void htw__log(enum htw__severity level, const char *text) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char last[TEXT_MAX];
    static int64_t last_ns;
    pthread_mutex_lock(&lock);
    int64_t now_ns = htw__clock_monotonic_ns();
    bool is_again = last_ns != 0 && now_ns - last_ns < SAME_AGAIN_NS &&
                    strncmp(last, text, sizeof(last) - 1) == 0;
    if (!is_again) {
        last_ns = now_ns;
        snprintf(last, sizeof(last), "%s", text);
        say(level, text);
    }
    pthread_mutex_unlock(&lock);
}
