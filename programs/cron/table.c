/* SPDX-License-Identifier: MIT */
/* table.c - reads the file of `htw cron`: the jobs of its lines. */
#include "table.h"

#include "../kit/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

void htw__cron_job_free(struct htw__cron_job *job) {
    htw_zone_destroy(job->zone);
    free(job->text);
    free(job);
}

void htw__cron_job_free_if_unused(struct htw__cron_job *job) {
    if (job->is_removed && job->running == 0)
        htw__cron_job_free(job);
}

void htw__cron_table_free(struct htw__cron_job *jobs) {
    while (jobs != NULL) {
        struct htw__cron_job *next = jobs->next;
        htw__cron_job_free(jobs);
        jobs = next;
    }
}

/* The state of a reading. */
struct reading {
    const char *path;
    unsigned line;
    uint64_t errors;
    char
        zone[PATH_MAX]; /* of the lines that follow: the last TZ or CRON_TZ; empty: the local one */
    struct htw__cron_job **end; /* where the next job is linked */
    size_t variables_size;
    char variables
        [8192]; /* of the commands that follow, each with a NUL; what was set last is last */
};

#define WRONG(reading, ...)                                                    \
    do {                                                                       \
        if (htw__terminal_shows(&(reading)->errors))                           \
            htw__cron_complain((reading)->path, (reading)->line, __VA_ARGS__); \
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

/* False: no memory. */
static bool set_text(struct htw__cron_job *job, const struct reading *reading, const char *times,
                     const char *command) {
    size_t times_at = reading->variables_size + 1, command_at = times_at + strlen(times) + 1;
    job->text_size = command_at + strlen(command) + 1;
    job->text = calloc(1, job->text_size);
    if (job->text == NULL)
        return false;
    memcpy(job->text, reading->variables, reading->variables_size);
    job->times = strcpy(job->text + times_at, times);
    job->command = strcpy(job->text + command_at, command);
    return true;
}

/* Returns whether the job is right. */
static bool fill_in(struct htw__cron_job *job, struct reading *reading, const char *times,
                    size_t column, const char *command) {
    size_t position = 0;
    job->line = reading->line;
    if (htw_calendar_cron(&job->calendar, times, &position) != 0)
        WRONG(reading, "not a time, at column %zu: %s", column + position + 1, times);
    else if ((job->zone = open_zone(reading, reading->zone)) == NULL)
        return false;
    else if (htw_calendar_next(&job->calendar, job->zone, 0) == HTW_NEVER_NS)
        WRONG(reading, "this never comes: %s", times);
    else if (!set_text(job, reading, times, command))
        WRONG(reading, "%s", strerror(ENOMEM));
    else
        return true;
    return false;
}

static void read_job(struct reading *reading, const char *times, size_t column,
                     const char *command) {
    struct htw__cron_job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        WRONG(reading, "%s", strerror(ENOMEM));
    } else if (fill_in(job, reading, times, column, command)) {
        *reading->end = job;
        reading->end = &job->next;
    } else {
        htw__cron_job_free(job);
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

/* Without waiting for the writer of a pipe. A descriptor, or -1: complained. */
static int open_file(const char *path, int stop_fd) {
    struct stat status;
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                    : open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        htw__cron_complain(path, 0, "%s", strerror(errno));
    } else if (stop_fd == HTW__CRON_NO_WAIT && !S_ISREG(status.st_mode)) {
        htw__cron_complain(path, 0, "not a regular file, and so not read again: the jobs go on");
    } else {
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Waits until the file can be read. False: it is to end before. */
static bool wait_for_more(int fd, int stop_fd) {
    struct pollfd wanted[] = { { .fd = fd, .events = POLLIN },
                               { .fd = stop_fd, .events = POLLIN } };
    int count = stop_fd == HTW__CRON_NO_WAIT;
    while (count == 0 || (count < 0 && errno == EINTR))
        count = poll(wanted, 2, -1);
    return count > 0 && wanted[1].revents == 0;
}

/* All of the file with a NUL at the end; the caller frees it. NULL: complained, or stopped. */
static char *read_file(const char *path, int fd, int stop_fd, size_t *ret_size) {
    size_t size = 0, capacity = 0;
    char *bytes = NULL;
    ssize_t count = 1;
    const char *why = NULL;
    while (count != 0 && why == NULL && wait_for_more(fd, stop_fd)) {
        if (size + 1 >= capacity) {
            char *grown = realloc(bytes, capacity = 2 * capacity + 65536);
            if (grown == NULL) {
                why = strerror(ENOMEM);
                break;
            }
            bytes = grown;
        }
        count = read(fd, bytes + size, capacity - size - 1);
        if (count > 0)
            size += (size_t)count;
        else if (count < 0 && errno != EINTR && errno != EAGAIN)
            why = strerror(errno);
        if (size > FILE_MAX)
            why = "larger than 64 MiB";
    }
    if (why != NULL)
        htw__cron_complain(path, 0, "%s", why);
    if (why != NULL || count != 0) {
        free(bytes);
        return NULL;
    }
    bytes[size] = '\0';
    *ret_size = size;
    return bytes;
}

bool htw__cron_table_read(const char *path, int stop_fd, struct htw__cron_job **ret_jobs) {
    struct reading reading = { .path = path, .end = ret_jobs };
    size_t size = 0;
    *ret_jobs = NULL;
    int fd = open_file(path, stop_fd);
    char *bytes = fd < 0 ? NULL : read_file(path, fd, stop_fd, &size);
    if (fd >= 0)
        close(fd);
    if (bytes == NULL)
        return false;
    for (char *line = bytes, *next; line < bytes + size; line = next) {
        char *end = memchr(line, '\n', (size_t)(bytes + size - line));
        if (end == NULL)
            end = bytes + size;
        *end = '\0';
        next = end + 1;
        reading.line++;
        read_line(&reading, line, (size_t)(end - line));
    }
    free(bytes);
    htw__terminal_count(path, reading.errors);
    if (reading.errors == 0 && *ret_jobs != NULL)
        return true;
    if (reading.errors == 0)
        htw__cron_complain(path, 0, "there is no job in it");
    htw__cron_table_free(*ret_jobs);
    *ret_jobs = NULL;
    return false;
}
