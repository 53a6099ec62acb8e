/* SPDX-License-Identifier: MIT */
/* ask.c - asks the `htw serve` that has a journal open. */
#include "ask.h"

#include "../kit/listen.h"
#include "../kit/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 30 /* for an answer */
#define TRIES 100     /* while the server is busy */
#define PAUSE_NS 100000000L

/* ---- the connection */

/* Anybody may put a socket into a folder that all may write to. */
static bool is_trusted(int fd, const char *file) {
    struct ucred peer;
    struct stat status;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && stat(file, &status) == 0 &&
           (peer.uid == status.st_uid || peer.uid == geteuid() || peer.uid == 0);
}

/* -1: nobody listens. */
static int connect_beside(const char *file) {
    const struct timeval patience = { PATIENCE_S, 0 };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct htw__beside beside;
    int fd = -1;
    if (htw__beside_open(&beside, file) == 0) {
        strcpy(address.sun_path, beside.path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
                        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
                        connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
                        !is_trusted(fd, file))) {
            close(fd);
            fd = -1;
        }
    }
    htw__beside_close(&beside);
    return fd;
}

bool htw__journal_is_served(const char *file) {
    int fd = connect_beside(file);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool send_all(int fd, const char *bytes, size_t size) {
    for (size_t sent = 0; sent < size;) {
        ssize_t more = send(fd, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (more < 0 && errno != EINTR)
            return false;
        sent += more > 0 ? (size_t)more : 0;
    }
    return true;
}

static bool send_request(int fd, const char *method, const char *target, const void *payload,
                         size_t size) {
    char *head = NULL;
    int length = asprintf(&head,
                          "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\n",
                          method, target, size);
    bool is_sent = length >= 0 && send_all(fd, head, (size_t)length) && send_all(fd, payload, size);
    if (length >= 0)
        free(head);
    return is_sent;
}

/* All until the server ends the connection, which has no NUL; NULL: nothing. Closes the descriptor. */
static char *receive(int fd) {
    char *text = NULL;
    size_t room = 0;
    FILE *stream = fdopen(fd, "r");
    bool has_text = stream != NULL && getdelim(&text, &room, '\0', stream) > 0;
    if (stream != NULL)
        (void)fclose(stream);
    else
        close(fd);
    if (!has_text)
        free(text);
    return has_text ? text : NULL;
}

/* Whether all of the answer has come. */
static bool read_answer(struct htw__answer *answer) {
    static const char version[] = "HTTP/1.1 ",
                      length[] = "\r\nContent-Length: ", end[] = "\r\n\r\n";
    char *content = strstr(answer->text, end), *field = strcasestr(answer->text, length);
    if (strncmp(answer->text, version, strlen(version)) != 0 || content == NULL || field == NULL)
        return false;
    answer->status = (int)strtol(answer->text + strlen(version), NULL, 10);
    answer->content = content + strlen(end);
    return strlen(answer->content) == strtoull(field + strlen(length), NULL, 10);
}

static enum htw__asked ask_once(const char *file, const char *method, const char *target,
                                const void *payload, size_t size, struct htw__answer *answer) {
    int fd = connect_beside(file);
    *answer = (struct htw__answer) { .status = 0 };
    if (fd < 0)
        return HTW__ASKED_NOBODY;
    /* One that refuses early may not read all, and answers nevertheless. */
    bool is_sent = send_request(fd, method, target, payload, size);
    if (is_sent || errno == EPIPE)
        answer->text = receive(fd);
    else
        close(fd);
    if (answer->text != NULL && read_answer(answer))
        return HTW__ASKED_ANSWERED;
    htw__terminal_error("%s: htw serve has not answered: it is not known what it has done", file);
    free(answer->text);
    return HTW__ASKED_FAILED;
}

enum htw__asked htw__journal_ask(const char *file, const char *method, const char *target,
                                 const void *payload, size_t size, struct htw__answer *answer) {
    const struct timespec pause = { 0, PAUSE_NS };
    enum htw__asked asked = HTW__ASKED_NOBODY;
    for (int i = 0; i < TRIES; i++) {
        asked = ask_once(file, method, target, payload, size, answer);
        if (asked != HTW__ASKED_ANSWERED || answer->status != 503 || i + 1 == TRIES)
            break;
        free(answer->text);
        nanosleep(&pause, NULL);
    }
    return asked;
}

/* ---- requests and answers */

/* WHY of {"error":"WHY"}, in which only quotes and backslashes are escaped. */
void htw__journal_print_refusal(const char *file, const struct htw__answer *answer) {
    static const char begin[] = "{\"error\":\"";
    const char *from = answer->content;
    char why[1024];
    size_t size = 0;
    if (strncmp(from, begin, strlen(begin)) == 0)
        from += strlen(begin);
    for (; *from != '\0' && *from != '"' && size + 1 < sizeof(why); from++) {
        if (*from == '\\' && from[1] != '\0')
            from++;
        why[size++] = *from;
    }
    why[size] = '\0';
    htw__terminal_error("%s: htw serve: %s", file, why);
}
