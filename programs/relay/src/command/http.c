/* SPDX-License-Identifier: MIT */
/*
 * http.c - `htw relay http`: what waits over HTTP, and a page. A process of its own, so that no read delays a delivery.
 *
 * A request does what the command of the same name does (actions.h), by handles of librdkafka of its own: so an error ends with
 * it. A read ends when its client has gone, or at a signal.
 */
#include "http.h"

#include "../../../kit/http/server.h"
#include "../../../kit/page_parts.h"
#include "../../../kit/signals.h"
#include "../../../kit/command_line.h"
#include "../memory.h"
#include "actions.h"
#include "ask.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define READS_MAX 2

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
    htw__log(HTW__LOG_INFO, text);
}

static void conclude(struct htw__http_request *request, enum htw__relay_result result,
                     const char *reason) {
    switch (result) {
    case HTW__RELAY_DONE:
        request->status = 200;
        break;
    case HTW__RELAY_UNSURE:
        request->status = 202;
        break;
    case HTW__RELAY_MISSING:
        htw__http_refuse(request, 404, reason);
        break;
    case HTW__RELAY_REFUSED:
        htw__http_refuse(request, 409, reason);
        break;
    case HTW__RELAY_FAILED:
        htw__http_refuse(request, htw__signals_stop() != 0 ? 503 : 502, reason);
        break;
    }
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
    request->type = "application/x-ndjson";
    conclude(request, result, reason);
    free(kafka);
}

static void answer(void *context, struct htw__http_request *request) {
    struct htw__relay_command command = *(const struct htw__relay_command *)context;
    const char *why = NULL;
    command.action = (enum htw__relay_action)request->target->route->action;
    command.filter = HTW__WAITING_ALL;
    command.out = request->out;
    if (command.action == HTW__RELAY_LIST && !htw__http_read(request, htw__ask_set, &command))
        return;
    if (command.action == HTW__RELAY_MOVE)
        why = htw__ask_when(request->body, &command.to_ms);
    if (why != NULL)
        htw__http_refuse(request, 400, why);
    else
        act(&command, request->target->name, request);
}

int htw__http_run(struct htw__relay_command *command) {
    struct pollfd signal = { .fd = htw__signals_fd(), .events = POLLIN };
    const struct htw__http_service service = {
        .routes = htw__ask_routes,
        .page = htw__page_parts[0].text,
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
