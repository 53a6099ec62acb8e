/* SPDX-License-Identifier: MIT */
/*
 * http.c - `htw relay http`: what waits over HTTP, and a page. A process of its own, so that no read delays a delivery.
 *
 * A request does what the command of the same name does (actions.h), by handles of librdkafka of its own: so an error ends with
 * it. A read ends when its client has gone, or at a signal.
 */
#include "actions.h"

#include "../../../kit/http/server.h"
#include "../../../kit/page_parts.h"
#include "../../../kit/signals.h"
#include "../../../kit/command_line.h"
#include "../memory.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READS_MAX 2

static const struct htw__http_route routes[] = {
    { "GET", "/health", HTW__HTTP_HEALTH, HTW__RELAY_NO_ACTION, false },
    { "GET", "/", HTW__HTTP_PAGE, HTW__RELAY_NO_ACTION, false },
    { "GET", "/waiting", HTW__HTTP_READ, HTW__RELAY_LIST, false },
    { "GET", "/waiting/*", HTW__HTTP_CHANGE, HTW__RELAY_SHOW, false }, /* its question is written */
    { "DELETE", "/waiting/*", HTW__HTTP_CHANGE, HTW__RELAY_CANCEL, false },
    { "PATCH", "/waiting/*", HTW__HTTP_CHANGE, HTW__RELAY_MOVE, false },
};

static const char *set(void *context, const char *name, const char *value) {
    struct htw__relay_command *command = context;
    struct htw__waiting_filter *filter = &command->filter;
    if (strcmp(name, "key") == 0)
        filter->key = value;
    else if (command->action != HTW__RELAY_LIST)
        return "the parameter is key";
    else if (strcmp(name, "to") == 0)
        filter->to = value;
    else if (strcmp(name, "grep") == 0)
        filter->text = value;
    else if (strcmp(name, "from") == 0)
        return htw__relay_moment(value, &filter->from_ms) != NULL ? "from: not a time" : NULL;
    else if (strcmp(name, "until") == 0)
        return htw__relay_moment(value, &filter->until_ms) != NULL ? "until: not a time" : NULL;
    else if (strcmp(name, "after") == 0)
        return htw__waiting_key_parse(value, &filter->after) ? NULL : "after: not of another page";
    else if (strcmp(name, "limit") == 0)
        return htw__http_set_limit(&command->limit, value);
    else
        return "the parameters are to, key, from, until, grep, after and limit";
    return NULL;
}

/* By enum htw__relay_result. */
static const struct {
    unsigned status;
    const char *word;
} results[] = { [HTW__RELAY_DONE] = { 200, "sure" },
                [HTW__RELAY_UNSURE] = { 202, "sent, not sure" },
                [HTW__RELAY_MISSING] = { 404, "not done" },
                [HTW__RELAY_REFUSED] = { 409, "not done" },
                [HTW__RELAY_FAILED] = { 502, "not done" } };

/* So that it can be seen later who has gone: a change is a line of the log. */
static void log_change(const struct htw__relay_command *command, const char *id,
                       enum htw__relay_result result) {
    char text[512];
    if (command->action != HTW__RELAY_CANCEL && command->action != HTW__RELAY_MOVE)
        return;
    snprintf(text, sizeof(text), "%s %.300s: %s",
             command->action == HTW__RELAY_CANCEL ? "cancel" : "move", id, results[result].word);
    htw__log(HTW__LOG_INFO, text);
}

static void act(struct htw__relay_command *command, const char *id,
                struct htw__http_request *request) {
    char reason[sizeof(((struct htw__kafka *)0)->error)];
    enum htw__relay_result result = HTW__RELAY_FAILED;
    struct htw__kafka *kafka = htw__memory(sizeof(*kafka)); /* large */
    if (htw__kafka_open(kafka, &command->kafka) == 0)
        result = htw__relay_do(kafka, command, id, reason);
    if (result == HTW__RELAY_FAILED)
        snprintf(reason, sizeof(reason), "%s", kafka->error);
    htw__kafka_close(kafka);
    log_change(command, id, result);
    free(kafka);
    request->type = "application/x-ndjson";
    request->status = results[result].status;
    if (result == HTW__RELAY_FAILED && htw__signals_stop() != 0)
        request->status = 503;
    if (request->status >= 400)
        htw__http_refuse(request, request->status, reason);
}

static void answer(void *context, struct htw__http_request *request) {
    struct htw__relay_command command = *(const struct htw__relay_command *)context;
    const char *why = NULL;
    command.action = (enum htw__relay_action)request->target->route->action;
    command.filter = HTW__WAITING_ALL;
    command.out = request->out;
    if (!htw__http_read(request, set, &command))
        return;
    if (command.action == HTW__RELAY_MOVE)
        why = htw__relay_moment(request->body, &command.to_ms);
    if (why != NULL)
        htw__http_refuse(request, 400, why);
    else
        act(&command, request->target->name, request);
}

int htw__http_run(struct htw__relay_command *command) {
    struct pollfd signal = { .fd = htw__signals_fd(), .events = POLLIN };
    const struct htw__http_service service = {
        .routes = { routes, sizeof(routes) / sizeof(routes[0]),
                    "there are /, /health, /waiting and /waiting/ID" },
        .page = htw__page_before,
        .at_once = READS_MAX,
        .option = "--listen",
        .token_file = command->token_file,
        .token_variable = "HTW_RELAY_TOKEN",
        .hosts = command->hosts,
        .answer = answer,
        .context = command,
    };
    const struct htw__http_place place = { .where = command->listen != NULL ? command->listen
                                                                            : "127.0.0.1:8480" };
    char text[320];
    command->json = true;
    command->kafka.say = htw__log;
    command->kafka.must_stop = htw__http_is_unwanted;
    if (!htw__http_start(&service, &place, 1))
        return HTW__EXIT_FAILED;
    snprintf(text, sizeof(text), "ready: %s", htw__http_name());
    htw__log(HTW__LOG_INFO, text);
    while (htw__signals_stop() == 0) {
        poll(&signal, 1, -1);
        htw__signals_clear();
    }
    if (!htw__http_stop())
        _exit(0); /* a broker does not answer; what reads holds nothing that has to be given back */
    return 0;
}
