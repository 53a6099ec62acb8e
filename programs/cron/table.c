/* SPDX-License-Identifier: MIT */
/* table.c - reads the file of `htw cron`: the jobs of its lines. */
#include "cron.h"

#include "../kit/input.h"
#include "../kit/terminal.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BLANKS " \t"
#define DIGITS "0123456789"
#define NAME DIGITS "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* More than any table: what has no end must not take all memory. */
#define FILE_MAX ((size_t)64 * 1024 * 1024)

void htw__cron_complain(const char *path, unsigned line, const char *format, ...) {
    char text[4096], place[16] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (line > 0)
        snprintf(place, sizeof(place), ":%u", line);
    htw__terminal_error("%s%s: %s", path, place, text);
}

static void free_job(struct htw__cron_job *job) {
    htw_zone_destroy(job->zone);
    free(job);
}

void htw__cron_job_free_if_unused(struct htw__cron_job *job) {
    if (job->is_removed && job->running == 0)
        free_job(job);
}

void htw__cron_table_free(struct htw__cron_job *jobs) {
    while (jobs != NULL) {
        struct htw__cron_job *next = jobs->next;
        free_job(jobs);
        jobs = next;
    }
}

/* The state of a reading. */
struct reading {
    struct htw__input input;
    bool is_wrong;
    char
        zone[PATH_MAX]; /* of the lines that follow: the last TZ or CRON_TZ; empty: the local one */
    struct htw__cron_job **end; /* where the next job is linked */
    size_t variables_size;
    char variables
        [8192]; /* of the commands that follow, each with a NUL; what was set last is last */
};

#define WRONG(reading, ...)                                                                \
    do {                                                                                   \
        (reading)->is_wrong = true;                                                        \
        if (htw__terminal_shows(&(reading)->input.errors))                                 \
            htw__cron_complain((reading)->input.name,                                      \
                               (unsigned)htw__input_line(&(reading)->input), __VA_ARGS__); \
    } while (0)

/* An empty name is the local time zone. NULL: complained. */
static struct htw_zone *open_zone(struct reading *reading, const char *name) {
    struct htw_zone *zone = NULL;
    bool is_local = *name == '\0';
    int error = htw_zone_create(&zone, is_local ? NULL : name);
    const char *variable = is_local ? getenv("TZ") : NULL;
    const char *place = variable != NULL ? "of the environment, TZ="
                        : is_local       ? "of this machine, /etc/localtime"
                                         : "";
    if (error != 0)
        WRONG(reading, "time zone %s%s: %s", place, variable != NULL ? variable : name,
              error == -ENOENT || error == -EINVAL ? "there is none of this name"
                                                   : htw_strerror(error));
    return zone;
}

/* Replaces the variable of this name. False: no room. */
static bool set_variable(struct reading *reading, const char *name, size_t name_size,
                         const char *value) {
    char *at = reading->variables, *end = at + reading->variables_size;
    while (at < end && (strncmp(at, name, name_size) != 0 || at[name_size] != '='))
        at += strlen(at) + 1;
    if (at < end) {
        size_t size = strlen(at) + 1;
        memmove(at, at + size, (size_t)(end - at) - size);
        end -= size;
    }
    size_t used = (size_t)(end - reading->variables), room = sizeof(reading->variables) - used;
    int size = snprintf(end, room, "%.*s=%s", (int)name_size, name, value);
    bool fits = size >= 0 && (size_t)size < room;
    reading->variables_size = used + (fits ? (size_t)size + 1 : 0);
    return fits;
}

/* `NAME=VALUE`, perhaps in quotes. */
static void read_variable(struct reading *reading, char *text) {
    size_t name_size = strspn(text, NAME);
    char *value = text + name_size + strspn(text + name_size, BLANKS);
    if (name_size == 0 || *value != '=') {
        WRONG(reading, "neither `minute hour day month weekday command` nor `NAME=VALUE`");
        return;
    }
    value += 1 + strspn(value + 1, BLANKS);
    size_t size = strlen(value);
    if (size >= 2 && (*value == '"' || *value == '\'') && value[size - 1] == *value) {
        value[size - 1] = '\0';
        value++;
    }
    bool is_cron_tz = name_size == 7 && strncmp(text, "CRON_TZ", 7) == 0;
    if (is_cron_tz || (name_size == 2 && strncmp(text, "TZ", 2) == 0)) {
        struct htw_zone *zone = open_zone(reading, value);
        if (zone == NULL)
            return;
        htw_zone_destroy(zone);
        snprintf(reading->zone, sizeof(reading->zone), "%s", value); /* the names of files fit */
    }
    if (!set_variable(reading, text, name_size, value))
        WRONG(reading, "the variables take more than %zu bytes", sizeof(reading->variables));
}

/* The end of the times of a line: of five fields, or of a word with an at sign. */
static char *end_of_times(char *text) {
    for (int fields = *text == '@' ? 1 : 5; fields > 0; fields--) {
        text += strspn(text, BLANKS);
        text += strcspn(text, BLANKS);
    }
    return text;
}

/* With what stands in its line. NULL: no memory. */
static struct htw__cron_job *create_job(struct reading *reading, const char *times,
                                        const char *command) {
    size_t times_at = reading->variables_size + 1, command_at = times_at + strlen(times) + 1;
    size_t size = command_at + strlen(command) + 1;
    struct htw__cron_job *job = calloc(1, sizeof(*job) + size);
    if (job == NULL)
        return NULL;
    memcpy(job->text, reading->variables, reading->variables_size);
    job->times = strcpy(job->text + times_at, times);
    job->command = strcpy(job->text + command_at, command);
    job->line = (unsigned)htw__input_line(&reading->input);
    htw__key_node_set(&job->node, htw__key_hash(job->text, size, 0), job->text, size);
    return job;
}

/* Returns whether the job is right. */
static bool fill_in(struct htw__cron_job *job, struct reading *reading, size_t column) {
    size_t position = 0;
    if (htw_calendar_cron(&job->calendar, job->times, &position) != 0)
        WRONG(reading, "not a time, at column %zu: %s", column + position + 1, job->times);
    else if ((job->zone = open_zone(reading, reading->zone)) == NULL)
        return false;
    else if (htw_calendar_next(&job->calendar, job->zone, 0) == HTW_NEVER_NS)
        WRONG(reading, "this never comes: %s", job->times);
    else
        return true;
    return false;
}

static void read_job(struct reading *reading, const char *times, size_t column,
                     const char *command) {
    struct htw__cron_job *job = create_job(reading, times, command);
    if (job == NULL) {
        WRONG(reading, "%s", strerror(ENOMEM));
    } else if (fill_in(job, reading, column)) {
        *reading->end = job;
        reading->end = &job->next;
    } else {
        free_job(job);
    }
}

/* `line` ends with a NUL, too. */
static void read_line(struct reading *reading, char *line, size_t size) {
    if (strlen(line) != size) {
        WRONG(reading, "there is a zero byte");
        return;
    }
    while (size > 0 && strchr(" \t\r", line[size - 1]) != NULL)
        line[--size] = '\0';
    char *text = line + strspn(line, BLANKS);
    if (*text == '\0' || *text == '#')
        return;
    if (strchr(DIGITS "*@-,", *text) == NULL) { /* times never begin with a letter */
        read_variable(reading, text);
        return;
    }
    char *end = end_of_times(text);
    char *command = end + strspn(end, BLANKS);
    *end = '\0';
    if (strcmp(text, "@reboot") == 0)
        WRONG(reading, "@reboot is no time: run its command before this program starts");
    else if (*command == '\0')
        WRONG(reading, "five fields and a command expected");
    else if (*command == '*')
        WRONG(reading, "five fields and a command expected, and not six fields");
    else
        read_job(reading, text, (size_t)(text - line), command);
}

/* ---- the file */

/* Whether it may be read now. */
static bool may_read(struct htw__input *input, bool may_wait) {
    struct stat status;
    htw__input_advance(input);
    bool may =
        may_wait || input->fd < 0 || (fstat(input->fd, &status) == 0 && S_ISREG(status.st_mode));
    if (!may)
        htw__cron_complain(input->name, 0,
                           "not a regular file, and so not read again: the jobs go on");
    return may;
}

/* Returns 0 or a negative errno: -EFBIG, -ENOMEM. */
static int read_lines(struct reading *reading) {
    const char *bytes;
    size_t size, left = FILE_MAX;
    int got;
    while ((got = htw__input_next(&reading->input, &bytes, &size)) > 0) {
        char *line = size < left ? strndup(bytes, size) : NULL;
        if (line == NULL)
            return size < left ? -ENOMEM : -EFBIG;
        read_line(reading, line, size);
        free(line);
        left -= size + 1;
        htw__input_consume(&reading->input, size);
    }
    return got;
}

bool htw__cron_table_read(const char *path, bool may_wait, struct htw__cron_job **ret_jobs) {
    char *const names[] = { (char *)(uintptr_t)path };
    struct reading reading = { .end = ret_jobs };
    *ret_jobs = NULL;
    int error = htw__input_init(&reading.input, names, 1, '\n', FILE_MAX);
    bool is_read = error == 0 && may_read(&reading.input, may_wait);
    if (is_read)
        error = read_lines(&reading);
    is_read = is_read && error == 0 && !reading.input.has_failed;
    htw__input_fini(&reading.input);
    if (error != 0)
        htw__cron_complain(path, 0, "%s",
                           error == -EFBIG ? "larger than 64 MiB" : strerror(-error));
    if (is_read && !reading.is_wrong && *ret_jobs != NULL)
        return true;
    if (is_read && !reading.is_wrong)
        htw__cron_complain(path, 0, "there is no job in it");
    htw__cron_table_free(*ret_jobs);
    *ret_jobs = NULL;
    return false;
}
