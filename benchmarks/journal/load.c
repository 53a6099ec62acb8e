/* SPDX-License-Identifier: MIT */
/* load.c - makes jobs, and checks those that are delivered. */
#include "load.h"

#include "../common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER 16 /* hexadecimal digits */

void load_init(struct load *load, unsigned client) {
    memset(load, 0, sizeof(*load));
    load->payload_size = PAYLOAD_MIN;
    load->in_flight = ROUND_MAX;
    load->serial = (uint64_t)client << 40;
    load->start_ns = clock_wall_ns();
    random_init(&load->random, client + 1);
}

static int64_t next_deadline(struct load *load) {
    if (load->in_order)
        return load->start_ns + load->delay_min_ns + (int64_t)load->put * load->step_ns;
    int64_t range = load->delay_max_ns - load->delay_min_ns;
    int64_t delay = load->delay_min_ns;
    if (range > 0)
        delay += (int64_t)(random_draw(&load->random) % (uint64_t)range);
    return clock_wall_ns() + delay;
}

static void write_number(char *text, uint64_t number) {
    for (int i = NUMBER - 1; i >= 0; i--, number >>= 4)
        text[i] = "0123456789abcdef"[number & 15];
}

int64_t load_next(struct load *load, char *payload) {
    int64_t deadline_ns = next_deadline(load);
    write_number(payload, (uint64_t)deadline_ns);
    write_number(payload + NUMBER, ++load->serial);
    memset(payload + 2 * NUMBER, '.', load->payload_size - 2 * NUMBER);
    payload[load->payload_size] = '\0';
    load->put++;
    return deadline_ns;
}

void load_delivered(struct load *load, const char *payload, size_t size) {
    char text[NUMBER + 1] = "";
    if (size >= NUMBER)
        memcpy(text, payload, NUMBER);
    char *end;
    int64_t deadline_ns = (int64_t)strtoull(text, &end, 16);
    if (size != load->payload_size || end != text + NUMBER)
        report_failure("a payload is damaged");
    int64_t late_ns = clock_wall_ns() - deadline_ns;
    if (late_ns < 0)
        report_failure("a job was delivered %lld ns early", (long long)-late_ns);
    histogram_record(&load->lateness, late_ns);
}
