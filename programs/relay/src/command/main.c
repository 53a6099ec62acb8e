/* SPDX-License-Identifier: MIT */
/* main.c - the program htw-relay, which `htw relay` runs. */
#include "actions.h"
#include "log.h"
#include "options.h"

#include "../../../../src/base/clock.h"
#include "../../../kit/http/server.h"
#include "../../../kit/signals.h"
#include "../../../kit/command_line.h"
#include "../../../kit/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#define WAIT_MS 1000

static bool must_stop(void) {
    return htw__signals_stop() != 0;
}

/* As other commands do: who lists what waits reads it. */
static void say_plainly(enum htw__severity level, const char *text) {
    (void)level;
    htw__terminal_error("%s", text);
}

/* ---- metrics */

/* What is served, at most a second old. */
static struct {
    pthread_mutex_t lock;
    char *text;
} shown = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void show(char *text) {
    pthread_mutex_lock(&shown.lock);
    char *before = shown.text;
    shown.text = text;
    pthread_mutex_unlock(&shown.lock);
    free(before);
}

static void show_metrics(struct htw__kafka *kafka) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return;
    htw__kafka_measure(kafka);
    htw__relay_stats_prometheus(&kafka->relay.stats, kafka->options.relay.levels.count, stream);
    if (fclose(stream) == 0)
        show(text);
    else
        free(text);
}

static void answer(void *context, struct htw__http_request *request) {
    (void)context;
    request->type = "text/plain; version=0.0.4";
    pthread_mutex_lock(&shown.lock);
    fputs(shown.text != NULL ? shown.text : "", request->out);
    pthread_mutex_unlock(&shown.lock);
}

static bool serve_metrics(const char *where) {
    static const struct htw__http_route routes[] = { { "GET", "/metrics", HTW__HTTP_OPEN, 0,
                                                       false } };
    static const struct htw__http_service service = { .routes = { routes, 1, "there is /metrics" },
                                                      .at_once = 2,
                                                      .is_open = true,
                                                      .option = "--metrics",
                                                      .answer = answer };
    const struct htw__http_place place = { .where = where };
    return htw__http_start(&service, &place, 1);
}

/* ---- the loop */

static void say_ready(const struct htw__kafka *kafka) {
    char text[128 + HTW__TOPIC_NAME_SIZE];
    snprintf(text, sizeof(text), "ready: %" PRIu64 " of %u partitions of %s",
             kafka->relay.stats.stripes, kafka->stripe_count, kafka->options.input);
    htw__log(HTW__LOG_INFO, text);
}

static int loop(struct htw__kafka *kafka, bool serves) {
    bool was_ready = false;
    int64_t shown_ms = 0;
    int error = 0;
    while (error == 0 && htw__signals_stop() == 0) {
        error = htw__kafka_run(kafka, htw__signals_fd(), WAIT_MS);
        htw__signals_clear();
        if (serves && htw__clock_monotonic_ms() - shown_ms >= WAIT_MS) {
            shown_ms = htw__clock_monotonic_ms();
            show_metrics(kafka);
        }
        if (!was_ready && kafka->relay.stats.stripes > 0) {
            say_ready(kafka);
            was_ready = true;
        }
    }
    return error;
}

static int deliver(const struct htw__relay_command *command) {
    static struct htw__kafka kafka; /* large, and there is one */
    bool serves = false;
    int error = htw__kafka_open(&kafka, &command->kafka);
    if (error == 0 && command->create_topics)
        error = htw__setup_create(&kafka);
    else if (error == 0) {
        serves = command->metrics != NULL && serve_metrics(command->metrics);
        error = command->metrics != NULL && !serves ? -EIO : htw__kafka_start(&kafka);
        if (error == -EAGAIN)
            error = 0; /* stopped before it had started */
        else if (error == 0)
            error = loop(&kafka, serves);
    }
    if (kafka.has_failed)
        htw__log(HTW__LOG_ERROR, kafka.error);
    if (serves)
        (void)htw__http_stop();
    show(NULL);
    if (htw__kafka_close(&kafka) != 0 && error == 0) {
        htw__log(HTW__LOG_ERROR, "the last commit failed: a successor does that part again");
        error = -1;
    }
    return error == 0 ? 0 : HTW__EXIT_FAILED;
}

static int run(struct htw__relay_command *command) {
    bool acts = command->action != HTW__RELAY_NO_ACTION && command->action != HTW__RELAY_HTTP;
    command->kafka.say = acts ? say_plainly : htw__log;
    command->kafka.must_stop = must_stop;
    if (htw__signals_install() != 0)
        return HTW__EXIT_FAILED;
    return acts                                 ? htw__relay_act(command)
           : command->action == HTW__RELAY_HTTP ? htw__http_run(command)
                                                : deliver(command);
}

int main(int argc, char *argv[]) {
    struct htw__relay_command command;
    int status;
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* or the kernel sleeps 50 us longer */
    enum htw__wish wish = htw__relay_command_parse(argc, argv, &command);
    if (wish != HTW__WISH_RUN)
        status = htw__command_line_answer(&htw__relay_line, wish);
    else
        status = run(&command);
    htw__relay_command_fini(&command);
    return status;
}
