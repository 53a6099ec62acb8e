/* SPDX-License-Identifier: MIT */
/*
 * fuzz_monitor.c - the request of a client of a monitor, in pieces; the answer to it has a head, and JSON
 * or lines of text.
 */
#include "fuzz.h"

#include "../../src/monitor/answer.h"

#include <htw/scheduler.h>

static struct htw_monitor monitor;

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
}

static void open_monitor(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_wheel *wheel;
    struct htw_monitor_source *source;
    options.clock = HTW_CLOCK_MANUAL;
    monitor.allocator = htw__default_allocator;
    monitor.fork_count = htw__fork_count();
    htw__mutex_init(&monitor.mutex, HTW__RANK_MONITOR);
    struct htw_purgatory_options hooks = HTW_PURGATORY_OPTIONS_INIT;
    hooks.on_complete = on_complete;
    if (htw_scheduler_create(&scheduler, &options) != 0 ||
        htw_purgatory_create(&purgatory, scheduler, &hooks) != 0 ||
        htw_wheel_create(&wheel, NULL) != 0 ||
        htw_monitor_add_scheduler(&monitor, "a.b:c/d", scheduler, NULL) != 0 ||
        htw_monitor_add_purgatory(&monitor, "p", purgatory, NULL) != 0 ||
        htw_monitor_add_wheel(&monitor, "w", wheel, 1000, &source) != 0)
        fuzz_fail("no memory");
    htw_monitor_lend(source);
}

static void check_answer(const struct htw__client *client) {
    bool is_good = client->text.bytes[0] == '{' || client->text.bytes[0] == '#';
    FUZZ_CHECK(client->text.size > 0 && !client->text.has_failed);
    FUZZ_CHECK(client->text.bytes[client->text.size - 1] == '\n');
    FUZZ_CHECK(is_good || memcmp(client->text.bytes, "error: ", 7) == 0);
    FUZZ_CHECK((client->head_size > 0) == client->is_http);
    if (client->is_http) {
        FUZZ_CHECK(client->head_size < sizeof(client->head));
        FUZZ_CHECK(memcmp(client->head, is_good ? "HTTP/1.0 2" : "HTTP/1.0 4", 10) == 0);
        FUZZ_CHECK(memcmp(client->head + client->head_size - 4, "\r\n\r\n", 4) == 0);
    }
}

static void run(const uint8_t *data, size_t size) {
    struct htw__client client = { .sent = 0 };
    if (monitor.sources == NULL)
        open_monitor();
    htw__text_init(&client.text, &monitor.allocator);
    for (size_t at = 0, piece; at < size && !client.is_ready && !client.has_answer; at += piece) {
        piece = 1 + data[at] % 64;
        piece = piece < size - at ? piece : size - at;
        htw__answer_take(&client, (const char *)data + at, piece);
    }
    if (client.is_ready && !client.has_answer)
        htw__answer_make(&monitor, &client);
    if (client.has_answer)
        check_answer(&client);
    htw__text_fini(&client.text);
}

static const struct fuzz_attack attacks[] = {
    { "a line without an end", "", "", { "json" } },
    { "a long head", "GET /json HTTP/1.0\r\n", "", { "a: b\r\n" } },
    { "a head of empty bytes", "GET /metrics HTTP/1.0\n", "", { "\r" } },
    { .name = NULL },
};

/* A request is cut at 8 KiB. Stacks that are observed take 9 MiB, and the steps that clear these. */
const struct fuzz_target fuzz_target = {
    .name = "monitor",
    .run = run,
    .memory = { 12 << 20, 0 },
    .steps = { 1000000, 0 },
    .attacks = attacks,
};
