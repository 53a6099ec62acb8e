/* SPDX-License-Identifier: MIT */
/* server.c - the HTTP listener of commands, by libmicrohttpd. */
#include "server.h"

#include "../json.h"
#include "../terminal.h"
#include "../visible.h"
#include "../listen.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 64  /* at a place: who hogs one leaves the other */
#define CONNECTIONS_MANY 32 /* from there on, one ends for each that begins */
#define PEERS_MAX ((size_t)CONNECTIONS_MAX * HTW__HTTP_PLACES)
#define REQUEST_S 5u /* without a byte of the request */
#define ANSWER_S 30u /* without a byte of the answer that is taken */
#define STOP_MS 2000
#define STOP_LOOK_MS 20
#define STACK_SIZE ((size_t)512 << 10)
#define HEAD_MAX ((size_t)128 << 10) /* of a request: as Linux takes an argument of a command */

struct peer {
    bool is_taken, is_ended, is_answered;
    const struct place *place;
    int fd;
    uint64_t turn; /* when it began, or received its answer, among all */
};

struct place {
    struct htw__http_guard guard;
    struct htw__listener listener;
    bool is_own; /* the listener was opened here */
    struct MHD_Daemon *daemon;
};

static struct {
    const struct htw__http_service *service;
    struct place places[HTW__HTTP_PLACES];
    size_t place_count;
    char name[256];       /* of the first place */
    pthread_mutex_t lock; /* of what follows */
    struct peer peers[PEERS_MAX];
    uint64_t turns;
    unsigned answered;
    bool is_over;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The connection that this thread answers. */
static _Thread_local int answered_fd = -1;

/* ---- connections */

/* Makes room at a place for a connection that has just begun: ends the one whose turn was the longest ago. What is answered
   just now stays. Under the lock: the descriptor is open as long as the peer is taken. */
static void make_room(const struct peer *begun) {
    struct peer *oldest = NULL;
    size_t count = 0;
    for (struct peer *peer = server.peers; peer < server.peers + PEERS_MAX; peer++) {
        if (!peer->is_taken || peer->is_ended || peer->place != begun->place)
            continue;
        count++;
        if (peer != begun && !peer->is_answered && (oldest == NULL || peer->turn < oldest->turn))
            oldest = peer;
    }
    if (count <= CONNECTIONS_MANY || oldest == NULL)
        return;
    oldest->is_ended = true;
    shutdown(oldest->fd, SHUT_RDWR);
}

static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code) {
    struct peer *peer = *socket_context;
    pthread_mutex_lock(&server.lock);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED && peer != NULL)
        peer->is_taken = false;
    for (size_t i = 0; code == MHD_CONNECTION_NOTIFY_STARTED && i < PEERS_MAX; i++) {
        if (server.peers[i].is_taken)
            continue;
        server.peers[i] = (struct peer) {
            .is_taken = true,
            .place = context,
            .fd =
                MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
            .turn = ++server.turns,
        };
        *socket_context = &server.peers[i];
        make_room(&server.peers[i]);
        break;
    }
    pthread_mutex_unlock(&server.lock);
}

static struct peer *peer_of(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* While it is answered, no time runs. */
static void set_answered(struct MHD_Connection *connection, struct peer *peer, bool is_answered) {
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              is_answered ? 0 : ANSWER_S);
    answered_fd = is_answered ? peer->fd : -1;
    pthread_mutex_lock(&server.lock);
    peer->is_answered = is_answered;
    peer->turn = ++server.turns;
    pthread_mutex_unlock(&server.lock);
}

bool htw__http_is_unwanted(void) {
    struct pollfd client = { .fd = answered_fd, .events = POLLRDHUP };
    pthread_mutex_lock(&server.lock);
    bool is_over = server.is_over;
    pthread_mutex_unlock(&server.lock);
    return is_over || (client.fd >= 0 && poll(&client, 1, 0) > 0);
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
    if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
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
    char visible[HTW__VISIBLE_MAX * HTW__HTTP_WHY_MAX];
    bool is_cut;
    size_t size = htw__visible_format(why, strlen(why), visible, sizeof(visible), &is_cut);
    free(answer->text);
    *answer = (struct answer) { status, "application/json", answer->methods, NULL, 0 };
    FILE *stream = open_memstream(&answer->text, &answer->size);
    if (stream == NULL)
        return; /* the status alone */
    struct htw__json json = { .out = stream };
    htw__json_begin(&json, NULL, '{');
    htw__json_bytes(&json, "error", visible, size);
    htw__json_end(&json, '}');
    putc('\n', stream);
    (void)fclose(stream);
}

static void set_text(struct answer *answer, const char *type, const char *text) {
    *answer = (struct answer) { .status = MHD_HTTP_OK, .type = type };
    answer->text = strdup(text);
    answer->size = answer->text == NULL ? 0 : strlen(answer->text);
}

void htw__http_refuse(struct htw__http_request *request, unsigned status, const char *why) {
    request->status = status;
    snprintf(request->why, sizeof(request->why), "%s", why);
}

/* By the service, as many at once as it wants. */
static bool begin_answer(void) {
    pthread_mutex_lock(&server.lock);
    bool may = server.answered < server.service->at_once && !server.is_over;
    server.answered += may;
    pthread_mutex_unlock(&server.lock);
    return may;
}

static void end_answer(void) {
    pthread_mutex_lock(&server.lock);
    server.answered--;
    pthread_mutex_unlock(&server.lock);
}

static void ask_service(struct htw__http_request *request, struct answer *answer) {
    request->status = MHD_HTTP_OK;
    request->type = "application/json";
    FILE *out = open_memstream(&answer->text, &answer->size);
    if (out == NULL) {
        set_error(answer, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
        return;
    }
    request->out = out;
    server.service->answer(server.service->context, request);
    if (fclose(out) != 0)
        htw__http_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
    answer->status = request->status;
    answer->type = request->type;
    if (request->why[0] != '\0')
        set_error(answer, request->status, request->why);
}

/* ---- requests */

struct incoming {
    bool has_begun, has_nul, takes_payload, is_too_large;
    FILE *stream; /* of the body, which has `size` bytes and a NUL; NULL: it is empty */
    char *body;
    size_t size;
    struct htw__http_request request;
};

/* The server shows the parts of it as C strings, so a NUL would end them early. */
static void *begin_request(void *context, const char *uri, struct MHD_Connection *connection) {
    struct incoming *incoming = calloc(1, sizeof(*incoming));
    (void)context, (void)connection;
    if (incoming != NULL)
        incoming->has_nul = strstr(uri, "%00") != NULL;
    return incoming;
}

/* False: no memory. */
static bool add_body(struct incoming *incoming, const char *data, size_t size) {
    if (incoming->stream == NULL)
        incoming->stream = open_memstream(&incoming->body, &incoming->size);
    return incoming->stream != NULL && fwrite(data, 1, size, incoming->stream) == size &&
           fflush(incoming->stream) == 0;
}

static void end_request(void *context, struct MHD_Connection *connection, void **incoming,
                        enum MHD_RequestTerminationCode code) {
    struct incoming *self = *incoming;
    (void)context, (void)connection, (void)code;
    if (self != NULL && self->stream != NULL) {
        (void)fclose(self->stream);
        free(self->body);
    }
    free(self);
    *incoming = NULL;
}

struct reading {
    htw__http_set *set;
    void *context;
    const char *why;
};

static enum MHD_Result read_one(void *context, enum MHD_ValueKind kind, const char *name,
                                const char *value) {
    struct reading *reading = context;
    (void)kind;
    reading->why = reading->set(reading->context, name, value == NULL ? "" : value);
    return reading->why == NULL ? MHD_YES : MHD_NO;
}

bool htw__http_read(struct htw__http_request *request, htw__http_set *set, void *context) {
    struct reading reading = { set, context, NULL };
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, read_one, &reading);
    if (reading.why != NULL)
        htw__http_refuse(request, MHD_HTTP_BAD_REQUEST, reading.why);
    return reading.why == NULL;
}

static const char *field(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static void make_answer(struct MHD_Connection *connection, struct incoming *incoming,
                        const struct htw__http_target *target, struct answer *answer) {
    static char none[1];
    incoming->request.target = target;
    incoming->request.connection = connection;
    incoming->request.body = incoming->body == NULL ? none : incoming->body;
    incoming->request.body_size = incoming->size;
    answer->methods = target->methods;
    if (target->status != 0) {
        set_error(answer, target->status, target->why);
    } else if (incoming->is_too_large) {
        set_error(answer, 413, "the body is too large");
    } else if (incoming->has_nul ||
               (!incoming->takes_payload && strlen(incoming->request.body) != incoming->size)) {
        set_error(answer, MHD_HTTP_BAD_REQUEST, "it has a NUL");
    } else if (target->route->right == HTW__HTTP_HEALTH) {
        set_text(answer, "application/json", "{\"serves\":true}\n");
    } else if (target->route->right == HTW__HTTP_PAGE) {
        set_text(answer, "text/html; charset=utf-8", server.service->page);
    } else if (!begin_answer()) {
        set_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "others read now: try again");
    } else {
        ask_service(&incoming->request, answer);
        end_answer();
    }
}

static struct htw__http_target find_target(struct MHD_Connection *connection,
                                           const struct place *place, const char *url,
                                           const char *method) {
    const struct htw__http_ask ask = {
        method,
        url,
        field(connection, "Host"),
        field(connection, "Origin"),
        field(connection, "Sec-Fetch-Site"),
        field(connection, "Authorization"),
    };
    return htw__http_find(&server.service->routes, &ask, &place->guard);
}

/* False: the connection is to end, as nothing sends that by mistake. What is too large of a payload is read and thrown away,
   so that its client reads why. */
static bool take_body(struct incoming *incoming, const char *data, size_t size) {
    uint64_t most = incoming->takes_payload ? server.service->payload_max : HTW__HTTP_BODY_MAX;
    if (incoming->is_too_large || size > most - incoming->size) {
        incoming->is_too_large = true;
        return incoming->takes_payload;
    }
    return add_body(incoming, data, size);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_size, void **request_context) {
    struct incoming *incoming = *request_context;
    struct peer *peer = peer_of(connection);
    struct answer answer = { 0 };
    (void)version;
    if (incoming == NULL || peer == NULL)
        return MHD_NO;
    struct htw__http_target target = find_target(connection, context, url, method);
    if (!incoming->has_begun) { /* the body follows, if there is one */
        incoming->has_begun = true;
        incoming->takes_payload = target.status == 0 && target.route->takes_payload;
        return MHD_YES;
    }
    if (*data_size > 0) {
        bool goes_on = take_body(incoming, data, *data_size);
        *data_size = 0;
        return goes_on ? MHD_YES : MHD_NO;
    }
    set_answered(connection, peer, true);
    make_answer(connection, incoming, &target, &answer);
    set_answered(connection, peer, false);
    return send_answer(connection, &answer);
}

/* ---- the token */

static const char *read_token(const char *file, struct htw__http_guard *token) {
    char text[HTW__HTTP_TOKEN_MAX + 64] = "";
    FILE *stream = fopen(file, "re");
    size_t size = stream == NULL ? 0 : fread(text, 1, sizeof(text) - 1, stream);
    const char *why = stream == NULL || ferror(stream) ? strerror(errno) : NULL;
    if (stream != NULL)
        (void)fclose(stream);
    if (why != NULL)
        return why;
    return strlen(text) == size ? htw__http_set_token(token, text) : "it has a NUL";
}

static bool find_token(const struct htw__http_service *service, struct htw__http_guard *token) {
    const char *variable = getenv(service->token_variable); /* NOLINT(concurrency-mt-unsafe) */
    const char *file = service->token_file, *why = NULL;
    if (file != NULL)
        why = read_token(file, token);
    else if (variable != NULL)
        why = htw__http_set_token(token, variable);
    if (why != NULL)
        htw__terminal_error("%s: %s", file != NULL ? file : service->token_variable, why);
    return why == NULL;
}

/* ---- all */

static struct MHD_Daemon *start_daemon(struct place *place, int fd) {
    return MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_ITC,
        0, NULL, NULL, handle, place, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, REQUEST_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_MAX, MHD_OPTION_THREAD_STACK_SIZE, STACK_SIZE,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, place, MHD_OPTION_URI_LOG_CALLBACK,
        begin_request, NULL, MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL, MHD_OPTION_END);
}

static const char *open_listener(struct place *place, const struct htw__http_place *asked) {
    const char *why = asked->where != NULL
                          ? htw__listen_open(&place->listener, asked->where, HTW__LISTEN_MODE)
                          : htw__listen_adopt(&place->listener, asked->fd);
    place->is_own = asked->where != NULL;
    place->guard.is_local = place->listener.is_local;
    place->guard.is_owners = asked->is_owners;
    if (why == NULL && !place->listener.is_local && place->guard.token[0] == '\0' &&
        !server.service->is_open)
        why = "others can reach this address: it needs a token";
    return why;
}

static void close_place(struct place *place) {
    if (place->daemon != NULL)
        MHD_stop_daemon(place->daemon);
    if (place->is_own)
        htw__listen_close(&place->listener);
}

/* False: it has said why, and is closed. */
static bool start_place(struct place *place, const struct htw__http_place *asked) {
    const char *why = open_listener(place, asked);
    if (why == NULL) {
        int fd = fcntl(place->listener.fd, F_DUPFD_CLOEXEC, 0); /* the daemon closes it */
        place->daemon = fd < 0 ? NULL : start_daemon(place, fd);
        why = place->daemon == NULL ? "cannot serve HTTP" : NULL;
    }
    if (why == NULL)
        return true;
    htw__terminal_error("%s: %s: %s", server.service->option, why,
                        asked->where != NULL ? asked->where : place->listener.name);
    close_place(place);
    return false;
}

static void set_name(const struct place *place) {
    bool is_path = place->listener.is_path;
    snprintf(server.name, sizeof(server.name), "%s%s%s%s", is_path ? "" : "http://",
             place->listener.name, is_path ? "" : "/",
             place->guard.token[0] == '\0' ? ", without a token: nothing can be changed" : "");
}

static void close_places(void) {
    while (server.place_count > 0)
        close_place(&server.places[--server.place_count]);
}

bool htw__http_start(const struct htw__http_service *service, const struct htw__http_place *places,
                     size_t count) {
    struct htw__http_guard token = { .token = "", .hosts = service->hosts };
    server.service = service;
    if (!service->is_open && !find_token(service, &token))
        return false;
    while (server.place_count < count) {
        struct place *place = &server.places[server.place_count];
        place->guard = token;
        if (!start_place(place, &places[server.place_count]))
            break;
        server.place_count++;
    }
    if (server.place_count == count) {
        set_name(&server.places[0]);
        return true;
    }
    close_places();
    return false;
}

const char *htw__http_name(void) {
    return server.name;
}

/* Refuses what comes from now on. */
static bool await_answers(void) {
    bool are_over = false;
    pthread_mutex_lock(&server.lock);
    server.is_over = true;
    pthread_mutex_unlock(&server.lock);
    for (int i = 0; i < STOP_MS / STOP_LOOK_MS && !are_over; i++) {
        poll(NULL, 0, STOP_LOOK_MS);
        pthread_mutex_lock(&server.lock);
        are_over = server.answered == 0;
        pthread_mutex_unlock(&server.lock);
    }
    return are_over;
}

bool htw__http_stop(void) {
    bool are_over = await_answers();
    for (size_t i = 0; i < server.place_count && !are_over; i++)
        server.places[i].daemon = NULL; /* it has what still answers */
    close_places();
    return are_over;
}
