/* SPDX-License-Identifier: MIT */
/* commands.c - what each command does, at its start and when its operation is back. */
#include "commands.h"

#include "look.h"
#include "reservation.h"
#include "stats.h"
#include "tube.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Operations of a connection that are under way together. */
#define UNDER_WAY_MAX 1024

/* What a command does. */
struct command {
    void (*start)(struct htw__connection *connection, const struct htw__serve_line *line);
    void (*finish)(struct htw__operation *operation, struct htw__connection *connection);
    htw__look_fn *look;
    void (*write)(const struct htw__operation *operation,
                  struct htw__buffer *output); /* what it has found */
    const char *answer;                        /* to a step of a job, */
    enum htw_job_step step;                    /* ... which it is in the words of the journal */
    bool is_own; /* only with a job that the connection has reserved */
};
static const struct command commands[HTW__VERBS];

static void answer(struct htw__connection *connection, const char *text) {
    htw__buffer_text(&connection->output, text);
}

static void answer_number(struct htw__connection *connection, const char *text, uint64_t number) {
    answer(connection, text);
    htw__buffer_number(&connection->output, number);
    answer(connection, "\r\n");
}

void htw__command_answer(struct htw__connection *connection, const char *text) {
    if (connection->first == NULL)
        answer(connection, text);
    else
        connection->last_answer = text;
}

/* The answer to an error of the journal. */
static const char *text_of(int error) {
    switch (error) {
    case -ENOENT:
    case -EALREADY:
    case -ESTALE:
        return "NOT_FOUND\r\n";
    case -ENOMEM:
    case -ENOSPC:
    case -EAGAIN:
        return "OUT_OF_MEMORY\r\n";
    case -EMSGSIZE:
        return "JOB_TOO_BIG\r\n";
    default:
        return "INTERNAL_ERROR\r\n";
    }
}

static struct htw__operation *create(struct htw__connection *connection,
                                     const struct htw__serve_line *line) {
    struct htw__operation *operation = calloc(1, sizeof(*operation));
    if (operation == NULL)
        return NULL;
    operation->server = connection->server;
    operation->connection = connection;
    operation->verb = line->verb;
    operation->id = line->id;
    operation->result = -ENOMEM; /* where it comes to nothing */
    return operation;
}

/* What a command has made of its operation, which may be NULL: it is under way, or there is an answer now. */
static void settle(struct htw__connection *connection, struct htw__operation *operation,
                   bool is_under_way) {
    if (!is_under_way) {
        htw__command_answer(connection, text_of(operation == NULL ? -ENOMEM : operation->result));
        if (operation != NULL) {
            if (operation->tube != NULL)
                htw__tube_release(connection->server, operation->tube);
            free(operation->reservation);
            htw__buffer_fini(&operation->tubes);
        }
        free(operation);
        return;
    }
    if (connection->first == NULL)
        connection->first = operation;
    else
        connection->last->next = operation;
    connection->last = operation;
    connection->under_way++;
}

/* ---- put */

static void start_put(struct htw__connection *connection, const struct htw__serve_line *line) {
    struct htw__server *server = connection->server;
    if (!connection->is_producer)
        server->producers++;
    connection->is_producer = true;
    if (server->is_draining) {
        htw__command_answer(connection, "DRAINING\r\n");
        return;
    }
    struct htw__operation *operation = create(connection, line);
    if (operation != NULL) {
        operation->tube = connection->use;
        operation->bytes = line->size;
    }
    settle(connection, operation, operation != NULL && htw__operation_put(operation, line));
}

static void finish_put(struct htw__operation *operation, struct htw__connection *connection) {
    if (operation->result == 0) {
        operation->server->total_jobs++;
        operation->tube->total_jobs++;
        answer_number(connection, "INSERTED ", operation->id);
    } else {
        answer(connection, text_of(operation->result));
    }
}

/* ---- reserve */

static void end_of_wait(void *connection, const struct htw_expiration *expiration) {
    (void)expiration;
    htw__operation_end_wait(connection, HTW__WAIT_TIMED_OUT);
}

static void start_reserve(struct htw__connection *connection, const struct htw__serve_line *line) {
    struct htw__server *server = connection->server;
    bool is_of_id = line->verb == HTW__VERB_RESERVE_JOB;
    bool waits =
        !is_of_id && line->timeout_s != 0 && connection->soon == 0 && !connection->is_half_closed;
    uint64_t request = 0;
    if (!connection->is_worker)
        server->workers++;
    connection->is_worker = true;
    if (is_of_id && line->id == 0) { /* for the journal: any job */
        htw__command_answer(connection, "NOT_FOUND\r\n");
        return;
    }
    connection->end = connection->soon > 0 ? HTW__WAIT_DEADLINE_SOON : HTW__WAIT_TIMED_OUT;
    struct htw__operation *operation = create(connection, line);
    if (operation != NULL)
        operation->reservation = calloc(1, sizeof(*operation->reservation));
    bool has_timeout = waits && line->timeout_s > 0 && line->timeout_s <= UINT32_MAX;
    bool is_under_way =
        operation != NULL && operation->reservation != NULL &&
        (!has_timeout || htw_schedule_here(server->scheduler, line->timeout_s * HTW_SECOND,
                                           HTW_HERE(end_of_wait, "reserve-with-timeout"),
                                           connection, &connection->timer) == 0) &&
        htw__operation_lease(operation, is_of_id ? NULL : connection->watched,
                             is_of_id ? 0 : connection->watched_count, waits, &request);
    if (is_under_way && !is_of_id) {
        server->waiting++;
        connection->request = request;
    } else
        htw__server_stop_timer(server, &connection->timer);
    settle(connection, operation, is_under_way);
}

static void write_job(struct htw__buffer *output, const char *word,
                      const struct htw__serve_found *found) {
    htw__buffer_text(output, word);
    htw__buffer_number(output, found->info.id);
    htw__buffer_text(output, " ");
    htw__buffer_number(output, found->size);
    htw__buffer_text(output, "\r\n");
    htw__buffer_append(output, found->body, found->size);
    htw__buffer_text(output, "\r\n");
}

static void finish_reserve(struct htw__operation *operation, struct htw__connection *connection) {
    static const char *const ends[] = { "TIMED_OUT\r\n", "DEADLINE_SOON\r\n" };
    struct htw__server *server = operation->server;
    if (operation->verb != HTW__VERB_RESERVE_JOB) {
        server->waiting--;
        connection->request = 0;
        htw__server_stop_timer(server, &connection->timer);
    }
    if (operation->result == 0) {
        if (htw__reservation_begin(operation))
            write_job(&connection->output, "RESERVED ", operation->found);
        else
            answer(connection, text_of(-ENOMEM));
    } else if (operation->result == -ETIMEDOUT || operation->result == -ECANCELED) {
        answer(connection, ends[connection->end]);
    } else {
        answer(connection, text_of(operation->result));
    }
}

/* ---- steps of jobs */

static void start_step(struct htw__connection *connection, const struct htw__serve_line *line) {
    const struct command *command = &commands[line->verb];
    const struct htw__reservation *own =
        htw__reservation_find(connection->server, line->id, connection);
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    if (command->is_own && own == NULL) {
        htw__command_answer(connection, "NOT_FOUND\r\n");
        return;
    }
    update.id = line->id;
    update.step = command->step;
    update.has_priority = command->is_own;
    update.priority = line->priority;
    if (line->verb == HTW__VERB_RELEASE)
        update.deadline_ns =
            line->delay_s == 0 ? 0 : htw__clock_realtime_ns() + line->delay_s * HTW_SECOND;
    struct htw__operation *operation = create(connection, line);
    if (operation != NULL && own != NULL && line->verb != HTW__VERB_KICK_JOB) {
        update.attempt = operation->attempt = own->attempt;
        operation->tube = own->tube;
    }
    bool is_cancel = line->verb == HTW__VERB_DELETE && own == NULL;
    settle(connection, operation,
           operation != NULL && (is_cancel ? htw__look(operation, command->look)
                                           : htw__operation_update(operation, &update)));
}

static void count_delete(const struct htw__operation *operation) {
    struct htw__server *server = operation->server;
    const struct htw__serve_found *found = operation->found;
    struct htw__tube *tube = operation->tube != NULL ? operation->tube
                             : found != NULL         ? htw__tube_get(server, found->tube)
                                                     : NULL;
    if (tube == NULL)
        return;
    tube->deletes++;
    htw__tube_release(server, tube);
}

static void finish_step(struct htw__operation *operation, struct htw__connection *connection) {
    struct htw__reservation *reservation =
        htw__reservation_find(operation->server, operation->id, NULL);
    if (reservation != NULL && operation->attempt != 0 &&
        reservation->attempt == operation->attempt &&
        (operation->result == 0 || operation->result == -ENOENT || operation->result == -ESTALE))
        htw__reservation_end(operation->server, reservation);
    if (operation->result == 0 && operation->verb == HTW__VERB_DELETE)
        count_delete(operation);
    answer(connection,
           operation->result == 0 ? commands[operation->verb].answer : text_of(operation->result));
}

static void start_touch(struct htw__connection *connection, const struct htw__serve_line *line) {
    struct htw__reservation *own = htw__reservation_find(connection->server, line->id, connection);
    if (own != NULL)
        htw__reservation_touch(own);
    htw__command_answer(connection, own == NULL ? "NOT_FOUND\r\n" : "TOUCHED\r\n");
}

static void start_kick(struct htw__connection *connection, const struct htw__serve_line *line) {
    struct htw__operation *operation = create(connection, line);
    if (operation != NULL)
        operation->tube = connection->use;
    settle(connection, operation, operation != NULL && htw__operation_kick(operation, line->count));
}

/* ---- looking */

static void start_look(struct htw__connection *connection, const struct htw__serve_line *line) {
    htw__look_fn *look = commands[line->verb].look;
    struct htw__operation *operation = create(connection, line);
    if (operation != NULL && look == htw__look_at_first)
        operation->tube = connection->use;
    settle(connection, operation, operation != NULL && htw__look(operation, look));
}

static void write_found(const struct htw__operation *operation, struct htw__buffer *output) {
    write_job(output, "FOUND ", operation->found);
}

static void finish_look(struct htw__operation *operation, struct htw__connection *connection) {
    if (operation->result != 0)
        answer(connection, text_of(operation->result));
    else
        commands[operation->verb].write(operation, &connection->output);
}

static void start_stats_tube(struct htw__connection *connection,
                             const struct htw__serve_line *line) {
    if (!htw__tube_exists(connection->server, line->name)) {
        htw__command_answer(connection, "NOT_FOUND\r\n");
        return;
    }
    struct htw__operation *operation = create(connection, line);
    bool is_under_way = false;
    if (operation != NULL) {
        htw__buffer_append(&operation->tubes, line->name, strlen(line->name) + 1);
        operation->tube = htw__tube_get(connection->server, line->name);
        is_under_way = operation->tube != NULL && htw__look(operation, commands[line->verb].look);
    }
    settle(connection, operation, is_under_way);
}

/* ---- tubes */

static void start_use(struct htw__connection *connection, const struct htw__serve_line *line) {
    struct htw__tube *tube = htw__tube_get(connection->server, line->name);
    if (tube == NULL) {
        htw__command_answer(connection, text_of(-ENOMEM));
        return;
    }
    tube->users++;
    connection->use->users--;
    htw__tube_release(connection->server, connection->use);
    connection->use = tube;
    htw__buffer_print(&connection->output, "USING %s\r\n", tube->name);
}

static void start_watch(struct htw__connection *connection, const struct htw__serve_line *line) {
    bool ignores = line->verb == HTW__VERB_IGNORE;
    if (ignores ? htw__tube_ignore(connection, line->name)
                : htw__tube_watch(connection, line->name))
        answer_number(connection, "WATCHING ", connection->watched_count);
    else
        htw__command_answer(connection, ignores ? "NOT_IGNORED\r\n" : text_of(-ENOMEM));
}

static void start_pause(struct htw__connection *connection, const struct htw__serve_line *line) {
    struct htw__server *server = connection->server;
    struct htw__tube *tube =
        htw__tube_exists(server, line->name) ? htw__tube_get(server, line->name) : NULL;
    if (tube == NULL) {
        htw__command_answer(connection, "NOT_FOUND\r\n");
        return;
    }
    int64_t until_ns =
        line->delay_s == 0 ? 0 : htw__clock_realtime_ns() + line->delay_s * HTW_SECOND;
    int error = htw_journal_pause(server->journal, line->name, until_ns);
    if (error == 0) {
        tube->pauses++;
        tube->pause_s = line->delay_s;
    }
    htw__tube_release(server, tube);
    htw__command_answer(connection, error == 0 ? "PAUSED\r\n" : text_of(error));
}

/* ---- all */

static bool is_change(enum htw__verb verb) {
    return verb == HTW__VERB_PUT || commands[verb].answer != NULL;
}

bool htw__command_may_start(const struct htw__connection *connection, enum htw__verb verb) {
    return connection->first == NULL || (is_change(verb) && connection->last->verb == verb &&
                                         connection->under_way < UNDER_WAY_MAX);
}

static void start_quit(struct htw__connection *connection, const struct htw__serve_line *line) {
    (void)line;
    connection->is_closing = true;
}

static void start_list(struct htw__connection *connection, const struct htw__serve_line *line) {
    if (line->verb == HTW__VERB_LIST_TUBES_WATCHED)
        htw__serve_stats_list_watched(connection);
    else
        htw__buffer_print(&connection->output, "USING %s\r\n", connection->use->name);
}

static void finish_kick(struct htw__operation *operation, struct htw__connection *connection) {
    if (operation->result < 0)
        answer(connection, text_of(operation->result));
    else
        answer_number(connection, "KICKED ", (uint64_t)operation->result);
}

#define LOOK(look_, write_) \
    { start_look, finish_look, look_, .write = (write_) }
#define STEP(look_, answer_, step_, is_own_) \
    { start_step, finish_step, look_, NULL, answer_, step_, is_own_ }

static const struct command commands[HTW__VERBS] = {
#define COMMAND(name, word, arguments, ...) __VA_ARGS__,
    HTW__SERVE_VERBS(COMMAND)
#undef COMMAND
};

void htw__command_start(struct htw__connection *connection, const struct htw__serve_line *line) {
    connection->server->commands[line->verb]++;
    commands[line->verb].start(connection, line);
}

void htw__command_finish(struct htw__operation *operation) {
    commands[operation->verb].finish(operation, operation->connection);
}
