/* SPDX-License-Identifier: MIT */
/* main.c - the program htw-relay, which `htw relay` runs. */
#include "actions.h"
#include "http.h"
#include "log.h"
#include "metrics.h"
#include "options.h"

#include "../../../../src/base/clock.h"
#include "../../../kit/signals.h"
#include "../../../kit/command_line.h"
#include "../../../kit/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/prctl.h>

#define WAIT_MS 1000
#define LOG_MS 60000 /* between two lines of statistics */

static bool must_stop(void) {
    return htw__signals_stop() != 0;
}

/* As other commands do: who lists what waits reads it. */
static void say_plainly(enum htw__severity level, const char *text) {
    (void)level;
    htw__terminal_error("%s", text);
}

static void write_metrics(void *context, FILE *stream) {
    struct htw__kafka *kafka = context;
    htw__kafka_measure(kafka);
    htw__relay_stats_prometheus(&kafka->relay.stats, kafka->options.relay.levels.count, stream);
}

static void log_statistics(struct htw__kafka *kafka) {
    htw__kafka_measure(kafka);
    htw__log_stats("statistics", &kafka->relay.stats);
}

static void say_ready(const struct htw__kafka *kafka) {
    char text[128 + HTW__TOPIC_NAME_SIZE];
    snprintf(text, sizeof(text), "ready: %" PRIu64 " of %u partitions of %s",
             kafka->relay.stats.stripes, kafka->stripe_count, kafka->options.input);
    htw__log(HTW__LOG_INFO, text);
}

static int loop(struct htw__kafka *kafka, struct htw__metrics *metrics) {
    const int others[] = { htw__signals_fd(), htw__metrics_fd(metrics) };
    bool was_ready = false;
    int64_t logged_ms = htw__clock_monotonic_ms();
    int error = 0;
    while (error == 0 && htw__signals_stop() == 0) {
        error = htw__kafka_run(kafka, others, WAIT_MS);
        htw__signals_clear();
        htw__metrics_run(metrics);
        if (htw__signals_take_dump() || htw__clock_monotonic_ms() - logged_ms >= LOG_MS) {
            logged_ms = htw__clock_monotonic_ms();
            log_statistics(kafka);
        }
        if (!was_ready && kafka->relay.stats.stripes > 0) {
            say_ready(kafka);
            was_ready = true;
        }
    }
    log_statistics(kafka);
    return error;
}

static int deliver(const struct htw__relay_command *command) {
    static struct htw__kafka kafka; /* large, and there is one */
    struct htw__metrics metrics = { .daemon = NULL };
    int error = htw__kafka_open(&kafka, &command->kafka);
    if (error == 0 && command->create_topics)
        error = htw__setup_create(&kafka);
    else if (error == 0) {
        const char *why = htw__metrics_open(&metrics, command->metrics, write_metrics, &kafka);
        if (why != NULL)
            error = htw__kafka_fail(&kafka, "--metrics: %s: %s", why, command->metrics);
        if (error == 0)
            error = htw__kafka_start(&kafka);
        if (error == -EAGAIN)
            error = 0; /* stopped before it had started */
        else if (error == 0)
            error = loop(&kafka, &metrics);
    }
    if (kafka.has_failed)
        htw__log(HTW__LOG_ERROR, kafka.error);
    htw__metrics_close(&metrics);
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
