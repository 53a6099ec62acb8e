/* SPDX-License-Identifier: MIT */
/*
 * load.c - a producer at a steady rate: what is due since the start is sent each millisecond.
 *
 * The key of a record is its number, as 8 bytes. The value begins with the instant at which it is
 * wanted, in milliseconds since 1970 as 8 bytes. So a reader can tell which records are
 * missing or there twice, and how late each is, without its headers.
 */
#include "options.h"

#include "../../../benchmarks/common/clock.h"
#include "../../../benchmarks/common/random.h"
#include "../../../benchmarks/common/report.h"

#include <endian.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_MS 60000

struct load {
    const struct options *options;
    rd_kafka_t *producer;
    rd_kafka_topic_t *topics[STEPS_MAX]; /* of a ladder; otherwise one */
    struct random random;
    uint64_t sent;
    char *value;
    size_t value_size;
};

static void open_producer(struct load *self) {
    static const char *const properties[][2] = { { "acks", "all" },
                                                 { "enable.idempotence", "true" },
                                                 { "linger.ms", "10" },
                                                 { "queue.buffering.max.messages", "1000000" },
                                                 { "compression.codec", "none" },
                                                 { NULL, NULL } };
    self->producer = client_open(self->options, RD_KAFKA_PRODUCER, properties);
    if (self->options->step_count == 0)
        self->topics[0] = rd_kafka_topic_new(self->producer, self->options->topic, NULL);
    for (uint64_t i = 0; i < self->options->step_count; i++) {
        char name[256];
        options_step_topic(self->options, i, name);
        self->topics[i] = rd_kafka_topic_new(self->producer, name, NULL);
    }
}

/* Sends a record. The delay of a ladder counts from the record's timestamp. */
static void send_one(struct load *self, int64_t time_ms) {
    const struct options *options = self->options;
    uint64_t draw = random_draw(&self->random);
    uint64_t step = 0, delay_ms;
    char text[24];
    if (options->step_count > 0) {
        step = random_scale(random_low(draw), options->step_count);
        delay_ms = options->steps_ms[step];
    } else {
        delay_ms =
            options->delay_min_ms +
            random_scale(random_low(draw), options->delay_max_ms - options->delay_min_ms + 1);
    }
    uint64_t key = htobe64(self->sent), wanted = htobe64((uint64_t)time_ms + delay_ms);
    memcpy(self->value, &wanted, sizeof(wanted));
    rd_kafka_headers_t *headers = NULL;
    if (options->step_count == 0) {
        int size = snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)time_ms + delay_ms);
        headers = rd_kafka_headers_new(1);
        rd_kafka_header_add(headers, "htw-deliver-at", -1, text, size);
    }
    const rd_kafka_vu_t parts[] = {
        { .vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = self->topics[step] },
        { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK },
        { .vtype = RD_KAFKA_VTYPE_KEY, .u.mem = { &key, sizeof(key) } },
        { .vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = { self->value, self->value_size } },
        { .vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = time_ms },
        { .vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers },
    };
    size_t count = sizeof(parts) / sizeof(parts[0]) - (headers == NULL);
    rd_kafka_error_t *error = rd_kafka_produceva(self->producer, parts, count);
    if (error != NULL)
        report_failure("a record was not taken: %s", rd_kafka_error_string(error));
    self->sent++;
}

static bool is_to_end(const struct load *self) {
    struct pollfd input = { .fd = 0, .events = POLLIN };
    if (self->options->count > 0)
        return self->sent >= self->options->count;
    return poll(&input, 1, 0) != 0;
}

static void run(const struct options *options) {
    struct load self = { .options = options, .value_size = options->size - sizeof(uint64_t) };
    self.value = calloc(1, self.value_size);
    if (self.value == NULL)
        report_out_of_memory();
    memset(self.value, '.', self.value_size);
    random_init(&self.random, 1);
    open_producer(&self);
    int64_t start_ns = clock_now_ns();
    for (int64_t ms = 1; !is_to_end(&self); ms++) {
        uint64_t target =
            options->rate > 0 ? (uint64_t)ms * options->rate / 1000 : self.sent + 1000;
        if (options->count > 0 && target > options->count)
            target = options->count;
        int64_t time_ms = clock_wall_ns() / 1000000;
        while (self.sent < target)
            send_one(&self, time_ms);
        rd_kafka_poll(self.producer, 0);
        if (options->rate > 0)
            clock_sleep_until(start_ns + ms * 1000000);
    }
    if (rd_kafka_flush(self.producer, FLUSH_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        report_failure("not all was taken in a minute");
    report_count("sent", self.sent);
    report_number("seconds", (double)(clock_now_ns() - start_ns) / 1e9);
}

const struct workload workload_load = {
    .name = "load",
    .about = "send records with htw-deliver-at, or to the topics of a ladder",
    .run = run,
};
