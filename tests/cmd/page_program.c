/* SPDX-License-Identifier: MIT */
/*
 * page_program.c - a program that opens a journal and serves its page, for test_page.py: page_program FILE WHERE
 *
 * It prints where it listens, and then one line for each line of its input:
 *     put COUNT QUEUE DELAY_MS PAYLOAD   the id of the last one; QUEUE and PAYLOAD in hexadecimal digits, QUEUE `-`: the default one
 *     lease QUEUE                        the id
 *     bury ID, wait QUEUE, queues COUNT  0; the last makes so many queues
 * At the end of its input it stops.
 */
#include "../../src/base/clock.h"
#include "../../src/cmd/serve/page.h"
#include "../../src/cmd/signals.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct htw_journal *journal;

static size_t read_hex(const char *digits, char *bytes) {
    size_t size = strlen(digits) / 2;
    for (size_t i = 0; i < size; i++) {
        char two[3] = { digits[2 * i], digits[2 * i + 1], '\0' };
        bytes[i] = (char)strtoul(two, NULL, 16);
    }
    bytes[size] = '\0';
    return size;
}

static void take(void *arg, int result, const struct htw_delivery *delivery) {
    if (result == 0 && arg != NULL)
        *(uint64_t *)arg = delivery->id;
}

static int put(const char *queue, uint64_t count, int64_t delay_ms, const char *digits,
               uint64_t *ret_id) {
    static struct htw_job jobs[1000];
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    static char payload[100001];
    size_t size = read_hex(digits, payload);
    int64_t now_ns = htw__clock_realtime_ns();
    int error = 0;
    for (uint64_t i = 0; i < count && error == 0; i += change.job_count) {
        change.jobs = jobs;
        change.job_count = count - i < 1000 ? (size_t)(count - i) : 1000;
        for (size_t j = 0; j < change.job_count; j++) {
            htw_job_init(&jobs[j]);
            jobs[j].queue = queue;
            jobs[j].deadline_ns =
                delay_ms == 0 ? 0 : now_ns + delay_ms * (int64_t)(i + j + 1) * HTW_MILLISECOND;
            jobs[j].payload = payload;
            jobs[j].payload_size = size;
        }
        error = htw_journal_apply(journal, &change);
        *ret_id = jobs[change.job_count - 1].id;
    }
    return error;
}

/* A queue with a job for each number below `count`. */
static int make_queues(uint64_t count) {
    char name[32];
    int error = 0;
    for (uint64_t i = 0; i < count && error == 0; i++) {
        snprintf(name, sizeof(name), "many-%05" PRIu64, i);
        struct htw_job job = HTW_JOB_INIT;
        struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
        job.queue = name;
        change.jobs = &job;
        change.job_count = 1;
        error = htw_journal_apply_later(journal, &change, NULL, NULL);
        if (i % 10000 == 9999 && error == 0)
            error = htw_journal_sync(journal);
    }
    return error == 0 ? htw_journal_sync(journal) : error;
}

static int obey(char *line, uint64_t *ret_id) {
    static char digits[200000];
    char verb[16] = "", queue_digits[512] = "", queue_name[256];
    uint64_t number = 0;
    int64_t delay_ms = 0;
    const char *queue = queue_name;
    struct htw_lease lease = HTW_LEASE_INIT;
    digits[0] = '\0';
    sscanf(line, "%15s", verb);
    if (strcmp(verb, "put") == 0)
        sscanf(line, "%*s %" SCNu64 " %511s %" SCNd64 " %199999s", &number, queue_digits, &delay_ms,
               digits);
    else if (strcmp(verb, "bury") == 0 || strcmp(verb, "queues") == 0)
        sscanf(line, "%*s %" SCNu64, &number);
    else
        sscanf(line, "%*s %511s", queue_digits);
    if (strcmp(queue_digits, "-") == 0)
        queue = NULL;
    else
        read_hex(queue_digits, queue_name);
    lease.queues = &queue;
    lease.queue_count = 1;
    lease.lease_ns = 600 * HTW_SECOND;
    if (strcmp(verb, "put") == 0)
        return put(queue, number, delay_ms, digits, ret_id);
    if (strcmp(verb, "queues") == 0)
        return make_queues(number);
    if (strcmp(verb, "lease") == 0)
        return htw_journal_lease(journal, &lease, take, ret_id);
    if (strcmp(verb, "bury") == 0) {
        struct htw_job_update update = HTW_JOB_UPDATE_INIT;
        update.id = number;
        update.step = HTW_JOB_BURY;
        return htw_journal_update(journal, &update);
    }
    lease.wait_until_ns = HTW_NEVER_NS;
    return htw_journal_lease_later(journal, &lease, take, NULL, NULL);
}

static void count(void *context, struct htw__page_numbers *ret_numbers) {
    (void)context;
    *ret_numbers = (struct htw__page_numbers) { 3, 1, 2, 1, false };
}

int main(int argc, char *argv[]) {
    static char line[200000], path[PATH_MAX];
    struct htw_scheduler *scheduler;
    struct htw__page page = { NULL, count, NULL, NULL };
    struct htw__http_place place = { .where = argv[2] };
    struct htw__http_service service = { .option = "--http",
                                         .token_variable = "HTW_SERVE_TOKEN",
                                         .payload_max = 1000 };
    if (argc != 3 || htw__signals_install() != 0 || htw_scheduler_create(&scheduler, NULL) != 0 ||
        htw_journal_open(&journal, scheduler, argv[1], NULL) != 0)
        return 1;
    page.journal = journal;
    page.path = realpath(argv[1], path);
    htw__page_serve(&page, &service);
    if (!htw__http_start(&service, &place, 1))
        return 1;
    printf("%s\n", htw__http_name());
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        uint64_t id = 0;
        int error = obey(line, &id);
        if (error != 0)
            printf("error %s\n", htw_journal_error());
        else
            printf("%" PRIu64 "\n", id);
        fflush(stdout);
    }
    if (!htw__http_stop())
        return 2;
    if (htw_journal_close(journal) != 0)
        return 3;
    htw_scheduler_destroy(scheduler);
    return 0;
}
