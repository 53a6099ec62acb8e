/* SPDX-License-Identifier: MIT */
/* served.c - what `htw journal` asks of the `htw serve` that has a journal open: changes, by HTTP at the socket beside the file. */
#include "served.h"

#include "../kit/exchange.h"
#include "../kit/listen.h"
#include "../kit/terminal.h"
#include "../kit/times.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS (30 * HTW_SECOND) /* for an answer */
#define TRIES 100                     /* while the server is busy */
#define PAUSE_NS 100000000L

/* ---- the server */

/* Any user may put a socket into a folder that all may write to. */
static bool is_trusted(int fd, const char *file) {
    struct ucred peer;
    struct stat status;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && stat(file, &status) == 0 &&
           (peer.uid == status.st_uid || peer.uid == geteuid() || peer.uid == 0);
}

/* Negative: no process listens. */
static int connect_beside(const char *file) {
    struct htw__beside beside;
    int error = htw__beside_open(&beside, file);
    int fd = error == 0 ? htw__exchange_connect(beside.path) : error;
    htw__beside_close(&beside);
    if (fd < 0 || is_trusted(fd, file))
        return fd;
    close(fd);
    return -1;
}

bool htw__journal_is_served(const char *file) {
    int fd = connect_beside(file);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The content of an answer that has come whole, and its status; NULL: it has not. */
static const char *content_of(const char *answer, int *ret_status) {
    static const char version[] = "HTTP/1.1 ", length[] = "\r\nContent-Length: ";
    const char *content = strstr(answer, "\r\n\r\n"), *field = strcasestr(answer, length);
    if (strncmp(answer, version, strlen(version)) != 0 || content == NULL || field == NULL)
        return NULL;
    content += 4;
    *ret_status = (int)strtol(answer + strlen(version), NULL, 10);
    return strlen(content) == strtoull(field + strlen(length), NULL, 10) ? content : NULL;
}

/* A request on its way, and its answer. */
struct asking {
    const char *file;
    FILE *stream; /* to which the request is written */
    char *request, *answer;
    size_t size;
};

/* The content of the answer; NULL: why there is none was printed. */
static const char *send_once(struct asking *self, int *ret_status) {
    const struct htw__exchange asked = { self->request, self->size, PATIENCE_NS, NULL };
    const char *content = NULL;
    size_t size;
    int fd = connect_beside(self->file);
    if (fd < 0) {
        htw__terminal_error("%s: the htw serve that had it open has ended: try again", self->file);
        return NULL;
    }
    if (htw__exchange(fd, &asked, &self->answer, &size) == 0)
        content = content_of(self->answer, ret_status);
    if (content == NULL)
        htw__terminal_error("%s: htw serve has not answered: it is not known what it has done",
                            self->file);
    return content;
}

/* The same, again while others keep the server busy. */
static const char *send_request(struct asking *self, int *ret_status) {
    const struct timespec pause = { 0, PAUSE_NS };
    const char *content;
    for (int i = 1;
         (content = send_once(self, ret_status)) != NULL && *ret_status == 503 && i < TRIES; i++) {
        free(self->answer);
        self->answer = NULL;
        nanosleep(&pause, NULL);
    }
    return content;
}

/* ---- requests */

static bool begin(struct asking *self, const struct htw__journal_request *request) {
    *self = (struct asking) { .file = request->path };
    self->stream = open_memstream(&self->request, &self->size);
    if (self->stream == NULL)
        htw__terminal_error("%s", strerror(ENOMEM));
    else
        fputs("POST ", self->stream);
    return self->stream != NULL;
}

/* A parameter, in which all but letters and digits is %XX; NULL: none. */
static void add_text(FILE *stream, const char *name, const char *text) {
    if (text == NULL)
        return;
    fprintf(stream, "&%s=", name);
    for (; *text != '\0'; text++)
        fprintf(stream, isalnum((unsigned char)*text) ? "%c" : "%%%02X", (unsigned char)*text);
}

/* Seconds since 1970; all before is as good as that. */
static void add_instant(FILE *stream, int64_t instant_ns) {
    int64_t ns = instant_ns < 0 ? 0 : instant_ns;
    fprintf(stream, "?at=%" PRId64 ".%09" PRId64, ns / HTW_SECOND, ns % HTW_SECOND);
}

/* Asks, and takes the number behind `before` from the answer, if that is not NULL. A refusal is {"error":"WHY"}. */
static bool ask(struct asking *self, const struct htw_job *job, const char *before,
                uint64_t *ret_number) {
    size_t size = job == NULL ? 0 : job->payload_size;
    int status = 0;
    fprintf(self->stream,
            " HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
            size);
    if (size > 0)
        fwrite(job->payload, 1, size, self->stream);
    bool is_written = fclose(self->stream) == 0;
    const char *content = is_written ? send_request(self, &status) : NULL;
    if (!is_written)
        htw__terminal_error("%s", strerror(ENOMEM));
    if (content != NULL && status != 200) {
        const char *why = strchr(content, ':');
        why = why == NULL ? content : why + 2;
        htw__terminal_error("%s: htw serve: %.*s", self->file, (int)strcspn(why, "\""), why);
    } else if (content != NULL && before != NULL && strncmp(content, before, strlen(before)) == 0) {
        *ret_number = strtoull(content + strlen(before), NULL, 10);
    }
    free(self->request);
    free(self->answer);
    return content != NULL && status == 200;
}

bool htw__served_put(const struct htw__journal_request *request, struct htw_job *job) {
    struct asking self;
    if (!begin(&self, request))
        return false;
    fputs("/jobs", self.stream);
    add_instant(self.stream, request->deadline_ns);
    fprintf(self.stream, "&priority=%" PRIu32, request->priority);
    add_text(self.stream, "queue", request->queue);
    add_text(self.stream, "key", request->key);
    return ask(&self, job, "{\"put\":\"", &job->id);
}

bool htw__served_step(const struct htw__journal_request *request, uint64_t id) {
    static const char *const verbs[] = {
        [HTW_JOB_END] = "delete", [HTW_JOB_CANCEL] = "delete", [HTW_JOB_MOVE] = "move",
        [HTW_JOB_BURY] = "bury",  [HTW_JOB_KICK] = "kick",     [HTW_JOB_RELEASE] = NULL
    };
    struct asking self;
    if (verbs[request->step] == NULL) {
        htw__terminal_error("%s: htw serve has it open, whose workers alone release their jobs",
                            request->path);
        return false;
    }
    if (!begin(&self, request))
        return false;
    fprintf(self.stream, "/jobs/%" PRIu64 "/%s", id, verbs[request->step]);
    if (request->step == HTW_JOB_MOVE)
        add_instant(self.stream, request->deadline_ns);
    if (request->has_priority)
        fprintf(self.stream, "&priority=%" PRIu32, request->priority);
    return ask(&self, NULL, NULL, NULL);
}

bool htw__served_kick(const struct htw__journal_request *request, int *ret_count) {
    struct asking self;
    uint64_t count = 0;
    if (!begin(&self, request))
        return false;
    fprintf(self.stream, "/queue/kick?count=%" PRIu64, request->limit);
    add_text(self.stream, "queue", request->queue);
    bool is_done = ask(&self, NULL, "{\"kicked\":", &count);
    *ret_count = (int)count;
    return is_done;
}
