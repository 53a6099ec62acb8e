/* SPDX-License-Identifier: MIT */
/*
 * http.c - `htw relay http`: what waits over HTTP, and a page. A process of its own, so that no read delays a delivery.
 *
 * Each connection has a thread of libmicrohttpd, one request, and times: for sending that, and for taking the answer. The main
 * thread ends connections whose time is over. A request does what the command of the same name does (actions.h), by
 * handles of librdkafka of its own: so an error ends with it. At most READS_MAX read from Kafka at once; others are told to
 * come again. A read ends when its client has gone, or at a signal.
 */
#include "http.h"

#include "../../base/clock.h"
#include "../page_parts.h"
#include "../signals.h"
#include "../status.h"
#include "../terminal.h"
#include "../times.h"
#include "../visible.h"
#include "actions.h"
#include "ask.h"
#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 64
#define READS_MAX 2
#define REQUEST_NS (5 * HTW__NS_PER_S) /* from the accepting to the last byte */
#define ANSWER_NS (30 * HTW__NS_PER_S)
#define LOOK_MS 500
#define STOP_MS 2000
#define STOP_LOOK_MS 20
#define STACK_SIZE ((size_t)512 << 10)
#define HEAD_MAX ((size_t)16 << 10) /* of a request */

struct peer {
    bool is_taken;
    int fd;
    int64_t until_ns; /* INT64_MAX: while it is answered */
};

static struct {
    const struct htw__relay_command *command;
    struct htw__ask_guard guard;
    pthread_mutex_t lock; /* of what follows, and of the log */
    struct peer peers[CONNECTIONS_MAX];
    unsigned reads;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The connection that this thread answers, for what Kafka asks meanwhile. */
static _Thread_local int answered_fd = -1;

static void say(enum htw__severity level, const char *text) {
    pthread_mutex_lock(&server.lock);
    htw__log(level, text);
    pthread_mutex_unlock(&server.lock);
}

/* ---- connections */

static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code) {
    struct peer *peer = *socket_context;
    (void)context;
    pthread_mutex_lock(&server.lock);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED && peer != NULL)
        peer->is_taken = false;
    for (size_t i = 0; code == MHD_CONNECTION_NOTIFY_STARTED && i < CONNECTIONS_MAX; i++) {
        if (server.peers[i].is_taken)
            continue;
        server.peers[i] = (struct peer) {
            true,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
            htw__clock_monotonic_ns() + REQUEST_NS,
        };
        *socket_context = &server.peers[i];
        break;
    }
    pthread_mutex_unlock(&server.lock);
}

static struct peer *peer_of(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void set_end(struct peer *peer, int64_t until_ns) {
    pthread_mutex_lock(&server.lock);
    peer->until_ns = until_ns;
    pthread_mutex_unlock(&server.lock);
}

/* Their descriptors are open as long as these are taken. */
static void end_late(void) {
    int64_t now_ns = htw__clock_monotonic_ns();
    pthread_mutex_lock(&server.lock);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        if (server.peers[i].is_taken && server.peers[i].until_ns < now_ns)
            shutdown(server.peers[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&server.lock);
}

/* Whether nobody waits for what this thread does. */
static bool must_stop(void) {
    struct pollfd client = { .fd = answered_fd, .events = POLLRDHUP };
    return htw__signals_stop() != 0 || (client.fd >= 0 && poll(&client, 1, 0) > 0);
}

/* ---- answers */

struct answer {
    unsigned status;
    const char *type, *methods;
    char *text;
    size_t size;
};

static void add_head(struct MHD_Response *response, const struct answer *answer) {
    static const char *const always[][2] = {
        { "X-Content-Type-Options", "nosniff" },
        { "Cache-Control", "no-store" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Connection", "close" },
    };
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        MHD_add_response_header(response, always[i][0], always[i][1]);
    MHD_add_response_header(response, "Content-Type", answer->type);
    /* The page has a policy in itself, too. */
    MHD_add_response_header(response, "Content-Security-Policy",
                            strncmp(answer->type, "text/html", 9) == 0
                                ? "frame-ancestors 'none'"
                                : "default-src 'none'; frame-ancestors 'none'");
    if (answer->status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (answer->status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, "Retry-After", "1");
    if (answer->methods != NULL)
        MHD_add_response_header(response, "Allow", answer->methods);
}

/* `text` becomes the response's. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, const struct answer *answer) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->size, answer->text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(answer->text);
        return MHD_NO;
    }
    add_head(response, answer);
    enum MHD_Result result = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

/* {"error":"WHY"} */
static void set_error(struct answer *answer, unsigned status, const char *why) {
    char visible[HTW__VISIBLE_MAX * 1024];
    bool is_cut;
    size_t size = htw__visible_format(why, strlen(why), visible, sizeof(visible), &is_cut);
    free(answer->text);
    *answer = (struct answer) { status, "application/json", answer->methods, NULL, 0 };
    FILE *stream = open_memstream(&answer->text, &answer->size);
    if (stream == NULL)
        return; /* the status alone */
    fputs("{\"error\":", stream);
    htw__visible_write_json(stream, visible, size);
    fputs("}\n", stream);
    (void)fclose(stream);
}

static void set_page(struct answer *answer) {
    *answer = (struct answer) { .status = MHD_HTTP_OK, .type = "text/html; charset=utf-8" };
    answer->text = strdup(htw__page_parts[0].text);
    answer->size = answer->text == NULL ? 0 : strlen(answer->text);
}

/* ---- what waits */

static bool begin_read(void) {
    pthread_mutex_lock(&server.lock);
    bool may = server.reads < READS_MAX && htw__signals_stop() == 0;
    server.reads += may;
    pthread_mutex_unlock(&server.lock);
    return may;
}

static void end_read(void) {
    pthread_mutex_lock(&server.lock);
    server.reads--;
    pthread_mutex_unlock(&server.lock);
}

/* So that it can be seen later who has gone: a change is a line of the log. */
static void log_change(const struct htw__relay_command *command, const char *id,
                       enum htw__relay_result result) {
    char text[512];
    if (command->action != HTW__RELAY_CANCEL && command->action != HTW__RELAY_MOVE)
        return;
    snprintf(text, sizeof(text), "%s %.300s: %s",
             command->action == HTW__RELAY_CANCEL ? "cancel" : "move", id,
             result == HTW__RELAY_DONE     ? "sure"
             : result == HTW__RELAY_UNSURE ? "sent, not sure"
                                           : "not done");
    say(HTW__SEVERITY_INFO, text);
}

static void conclude(struct answer *answer, enum htw__relay_result result, const char *reason) {
    switch (result) {
    case HTW__RELAY_DONE:
        answer->status = MHD_HTTP_OK;
        break;
    case HTW__RELAY_UNSURE:
        answer->status = MHD_HTTP_ACCEPTED;
        break;
    case HTW__RELAY_MISSING:
        set_error(answer, MHD_HTTP_NOT_FOUND, reason);
        break;
    case HTW__RELAY_REFUSED:
        set_error(answer, MHD_HTTP_CONFLICT, reason);
        break;
    case HTW__RELAY_FAILED:
        set_error(answer,
                  htw__signals_stop() != 0 ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_BAD_GATEWAY,
                  reason);
        break;
    }
}

static void act(struct htw__relay_command *command, const char *id, struct answer *answer) {
    char reason[sizeof(((struct htw__kafka *)0)->error)] = "out of memory";
    enum htw__relay_result result = HTW__RELAY_FAILED;
    struct htw__kafka *kafka = calloc(1, sizeof(*kafka)); /* large */
    FILE *out = open_memstream(&answer->text, &answer->size);
    command->out = out;
    if (kafka != NULL && out != NULL) {
        if (htw__kafka_open(kafka, &command->kafka) == 0)
            result = htw__relay_do(kafka, command, id, reason);
        if (result == HTW__RELAY_FAILED)
            snprintf(reason, sizeof(reason), "%s", kafka->error);
        htw__kafka_close(kafka);
        log_change(command, id, result);
    }
    if (out != NULL && fclose(out) != 0)
        result = HTW__RELAY_FAILED;
    answer->type = "application/x-ndjson";
    conclude(answer, result, reason);
    free(kafka);
}

/* ---- requests */

struct request {
    bool has_begun, has_nul;
    size_t size;
    char body[HTW__ASK_BODY_MAX + 1];
    struct htw__relay_command command;
    const char *why; /* a parameter is wrong */
};

/* The server shows the parts of it as C strings, so a NUL would end them early. */
static void *begin_request(void *context, const char *uri, struct MHD_Connection *connection) {
    struct request *request = calloc(1, sizeof(*request));
    (void)context, (void)connection;
    if (request != NULL)
        request->has_nul = strstr(uri, "%00") != NULL;
    return request;
}

static void end_request(void *context, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode code) {
    (void)context, (void)connection, (void)code;
    free(*request);
    *request = NULL;
}

static enum MHD_Result set_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                     const char *value) {
    struct request *request = context;
    (void)kind;
    request->why = htw__ask_set(&request->command, name, value == NULL ? "" : value);
    return request->why == NULL ? MHD_YES : MHD_NO;
}

static const char *field(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Why its parts are wrong; NULL: they are not. */
static const char *read_parts(struct MHD_Connection *connection, struct request *request) {
    struct htw__relay_command *command = &request->command;
    if (request->has_nul || strlen(request->body) != request->size)
        return "it has a NUL";
    if (command->action == HTW__RELAY_LIST)
        MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, set_parameter, request);
    if (command->action == HTW__RELAY_MOVE)
        request->why = htw__ask_when(request->body, &command->to_ms);
    return request->why;
}

static void make_answer(struct MHD_Connection *connection, const char *method, const char *url,
                        struct request *request, struct answer *answer) {
    const struct htw__ask ask = {
        method,
        url,
        field(connection, "Host"),
        field(connection, "Origin"),
        field(connection, "Sec-Fetch-Site"),
        field(connection, "Content-Type"),
        field(connection, "Authorization"),
    };
    struct htw__ask_target target = htw__ask_route(&ask, &server.guard);
    answer->methods = target.methods;
    request->command = *server.command;
    request->command.action = target.action;
    request->command.filter = HTW__WAITING_ALL;
    const char *why = target.status != 0 ? target.why : read_parts(connection, request);
    if (target.status != 0 || why != NULL) {
        set_error(answer, target.status != 0 ? target.status : MHD_HTTP_BAD_REQUEST, why);
    } else if (target.action == HTW__RELAY_NO_ACTION) {
        set_page(answer);
    } else if (!begin_read()) {
        set_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "others read now: try again");
    } else {
        act(&request->command, target.id, answer);
        end_read();
    }
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_size, void **request_context) {
    struct request *request = *request_context;
    struct peer *peer = peer_of(connection);
    struct answer answer = { 0 };
    (void)context, (void)version;
    if (request == NULL || peer == NULL)
        return MHD_NO;
    if (!request->has_begun) { /* the body follows, if there is one */
        request->has_begun = true;
        return MHD_YES;
    }
    if (*data_size > HTW__ASK_BODY_MAX - request->size)
        return MHD_NO; /* it ends the connection: nothing sends that by mistake */
    if (*data_size > 0) {
        memcpy(request->body + request->size, data, *data_size);
        request->size += *data_size;
        *data_size = 0;
        return MHD_YES;
    }
    set_end(peer, INT64_MAX);
    answered_fd = peer->fd;
    make_answer(connection, method, url, request, &answer);
    answered_fd = -1;
    set_end(peer, htw__clock_monotonic_ns() + ANSWER_NS);
    return send_answer(connection, &answer);
}

/* ---- the token */

static const char *read_token(struct htw__ask_guard *guard, const char *file) {
    char text[HTW__ASK_TOKEN_MAX + 64];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    const char *why = size < 0 ? strerror(errno) : NULL;
    if (fd >= 0)
        close(fd);
    if (why != NULL)
        return why;
    text[size] = '\0';
    return strlen(text) == (size_t)size ? htw__ask_set_token(guard, text) : "it has a NUL";
}

static bool find_token(const struct htw__relay_command *command) {
    const char *variable = getenv("HTW_RELAY_TOKEN"); /* NOLINT(concurrency-mt-unsafe) */
    const char *why = NULL;
    if (command->token_file != NULL)
        why = read_token(&server.guard, command->token_file);
    else if (variable != NULL)
        why = htw__ask_set_token(&server.guard, variable);
    if (why != NULL)
        htw__terminal_error(
            "%s: %s", command->token_file != NULL ? command->token_file : "HTW_RELAY_TOKEN", why);
    return why == NULL;
}

/* ---- all */

static struct MHD_Daemon *start(int fd) {
    return MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
                                MHD_USE_POLL | MHD_USE_ITC,
                            0, NULL, NULL, handle, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_MAX,
                            MHD_OPTION_THREAD_STACK_SIZE, STACK_SIZE, MHD_OPTION_NOTIFY_CONNECTION,
                            note_connection, NULL, MHD_OPTION_URI_LOG_CALLBACK, begin_request, NULL,
                            MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL, MHD_OPTION_END);
}

/* Reads end at a signal, unless a broker does not answer just then. */
static bool await_reads(void) {
    bool are_over = false;
    for (int i = 0; i < STOP_MS / STOP_LOOK_MS && !are_over; i++) {
        poll(NULL, 0, STOP_LOOK_MS);
        pthread_mutex_lock(&server.lock);
        are_over = server.reads == 0;
        pthread_mutex_unlock(&server.lock);
    }
    return are_over;
}

static int serve(struct htw__listener *listener) {
    char text[256];
    struct pollfd signal = { .fd = htw__signals_fd(), .events = POLLIN };
    int fd = fcntl(listener->fd, F_DUPFD_CLOEXEC, 0); /* the server closes it */
    struct MHD_Daemon *daemon = fd < 0 ? NULL : start(fd);
    if (daemon == NULL) {
        htw__terminal_error("cannot serve HTTP");
        return HTW__EXIT_FAILED;
    }
    snprintf(text, sizeof(text), "ready: %s%s", listener->name,
             server.guard.token[0] == '\0' ? ", without a token: nothing can be changed" : "");
    say(HTW__SEVERITY_INFO, text);
    while (htw__signals_stop() == 0) {
        poll(&signal, 1, LOOK_MS);
        htw__signals_clear();
        end_late();
    }
    if (!await_reads()) { /* they hold nothing that has to be given back */
        htw__listen_close(listener);
        _exit(0);
    }
    MHD_stop_daemon(daemon);
    return 0;
}

int htw__http_run(struct htw__relay_command *command) {
    struct htw__listener listener;
    const char *where = command->listen != NULL ? command->listen : "127.0.0.1:8480";
    int status = HTW__EXIT_FAILED;
    command->json = true;
    command->kafka.say = say;
    command->kafka.must_stop = must_stop;
    server.command = command;
    if (!find_token(command))
        return HTW__EXIT_FAILED;
    const char *why = htw__listen_open(&listener, where);
    server.guard.is_local = listener.is_local;
    if (why == NULL && !listener.is_local && server.guard.token[0] == '\0')
        why = "others can reach this address: it needs a token";
    if (why != NULL)
        htw__terminal_error("--listen: %s: %s", why, where);
    else
        status = serve(&listener);
    htw__listen_close(&listener);
    return status;
}
