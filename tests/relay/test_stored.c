/* SPDX-License-Identifier: MIT */
/*
 * test_stored.c - what a relay of an older release has left in Kafka is delivered by this one, in virtual time. store.py
 * has written the copy, and describes it. Usage: test_stored FILE
 */
#include "../model/memory_broker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 1000
#define HEADERS_MAX 16
#define LATE_MAX_MS 3000

struct wanted {
    bool is_sent, is_cancelled;
    int64_t deadline_ms;
    unsigned delivered;
};

static struct broker broker;
static struct member member;
static struct wanted wanted[RECORDS_MAX];
static int64_t stored_ms,
    last_ms; /* when the copy was written, at the earliest; the last deadline */
static unsigned failures;

static void check(bool condition, const char *what, size_t record) {
    if (condition)
        return;
    fprintf(stderr, "record %zu: %s\n", record, what);
    failures++;
}

static void stop(const char *why, const char *line) {
    fprintf(stderr, "test_stored: %s: %s\n", why, line);
    exit(1);
}

/* ---- reading the copy */

static struct htw__bytes bytes_of(const char *text) {
    return strcmp(text, "-") == 0 ? (struct htw__bytes) { NULL, 0 } : htw__bytes_of(text);
}

/* NULL: the topic is a destination. */
static struct broker_partition *partition_of(const char *topic, uint32_t number) {
    uint32_t level;
    if (strcmp(topic, "later") == 0)
        return &broker.inputs[number];
    if (sscanf(topic, "later.l%" SCNu32, &level) != 1)
        return NULL;
    uint32_t size = broker.levels.size;
    return broker_partition(&broker, (struct htw__source) { number / size, level, number % size });
}

static size_t split_headers(char *text, struct htw__header headers[HEADERS_MAX]) {
    size_t count = 0;
    for (char *rest, *one = strtok_r(text, ";", &rest); one != NULL;
         one = strtok_r(NULL, ";", &rest)) {
        char *value = strchr(one, '=');
        if (value == NULL || count == HEADERS_MAX)
            stop("a header", one);
        *value++ = '\0';
        headers[count++] = (struct htw__header) { htw__bytes_of(one), htw__bytes_of(value) };
    }
    return count;
}

static const struct htw__header *find_header(const struct htw__relay_record *record,
                                             const char *name) {
    for (size_t i = 0; i < record->header_count; i++)
        if (htw__bytes_are_equal(record->headers[i].name, htw__bytes_of(name)))
            return &record->headers[i];
    return NULL;
}

static int64_t number_in(const struct htw__relay_record *record, const char *name) {
    char text[32] = "";
    const struct htw__header *header = find_header(record, name);
    if (header != NULL && header->value.size < sizeof(text))
        memcpy(text, header->value.bytes, header->value.size);
    return header == NULL ? -1 : strtoll(text, NULL, 10);
}

static void note_delivery(const struct htw__relay_record *record, int64_t now_ms) {
    int64_t number = number_in(record, "n");
    if (number < 0 || number >= RECORDS_MAX || !wanted[number].is_sent)
        stop("what was delivered was never sent", "");
    struct wanted *one = &wanted[number];
    one->delivered++;
    check(number_in(record, "htw-delivered-for") == one->deadline_ms, "delivered for another time",
          (size_t)number);
    check(now_ms >= one->deadline_ms, "early", (size_t)number);
    int64_t since_ms = one->deadline_ms > stored_ms ? one->deadline_ms : stored_ms;
    check(now_ms <= since_ms + LATE_MAX_MS, "late", (size_t)number);
}

static void read_record(char *line) {
    char topic[64], key[64], value[64], headers_text[512];
    uint32_t partition;
    int64_t offset;
    struct htw__header headers[HEADERS_MAX];
    struct htw__relay_record record = { .headers = headers };
    if (sscanf(line, "record %63s %" SCNu32 " %" SCNd64 " %" SCNd64 " %63s %63s %511s", topic,
               &partition, &offset, &record.timestamp_ms, key, value, headers_text) != 7)
        stop("a record", line);
    record.key = bytes_of(key);
    record.value = bytes_of(value);
    record.header_count = split_headers(headers_text, headers);
    struct broker_partition *found = partition_of(topic, partition);
    if (found == NULL) {
        int64_t number = number_in(&record, "n");
        if (number >= 0 && number < RECORDS_MAX)
            wanted[number].delivered++;
        return;
    }
    broker_fill(&broker, found, offset);
    broker_store(&broker, found, &record);
    if (record.timestamp_ms > stored_ms)
        stored_ms = record.timestamp_ms;
}

static void read_position(char *line) {
    char topic[64], metadata[HTW__PROGRESS_TEXT_SIZE] = "";
    uint32_t partition;
    int64_t offset;
    if (sscanf(line, "position %63s %" SCNu32 " %" SCNd64 " %127s", topic, &partition, &offset,
               metadata) < 3)
        stop("a position", line);
    for (char *at = metadata; *at != '\0'; at++)
        if (*at == '_')
            *at = ' ';
    struct broker_partition *found = partition_of(topic, partition);
    found->committed = offset;
    memcpy(found->metadata, metadata, sizeof(metadata));
}

static void read_wish(const char *line) {
    size_t number;
    int64_t deadline_ms = 0;
    bool is_wanted = sscanf(line, "want %zu %" SCNd64, &number, &deadline_ms) == 2;
    if ((!is_wanted && sscanf(line, "never %zu", &number) != 1) || number >= RECORDS_MAX)
        stop("no line of a copy", line);
    wanted[number].is_sent = true;
    wanted[number].is_cancelled = !is_wanted;
    wanted[number].deadline_ms = deadline_ms;
    if (deadline_ms > last_ms)
        last_ms = deadline_ms;
}

static void read_copy(FILE *stream) {
    char line[1024];
    struct htw__levels levels;
    if (fscanf(stream, "levels %" SCNd64 " %" SCNu32 " %" SCNu32 "\n", &levels.width_ms,
               &levels.size, &levels.count) != 3)
        stop("no copy", "");
    broker_init(&broker, &levels, false);
    while (fgets(line, sizeof(line), stream) != NULL) {
        if (strncmp(line, "record ", 7) == 0)
            read_record(line);
        else if (strncmp(line, "position ", 9) == 0)
            read_position(line);
        else
            read_wish(line);
    }
    /* Markers of transactions, and what was aborted, at the ends. */
    for (size_t i = 0; i < (size_t)BROKER_STRIPES * levels.count * levels.size; i++)
        broker_fill(&broker, &broker.buckets[i], broker.buckets[i].committed);
    for (size_t i = 0; i < BROKER_STRIPES; i++)
        broker_fill(&broker, &broker.inputs[i], broker.inputs[i].committed);
}

/* ---- delivering it */

static void deliver_all(void) {
    static const char *const patterns[] = { "other" };
    const struct htw__relay_options options = {
        .levels = broker.levels,
        .destinations = { .patterns = patterns, .pattern_count = 1, .default_topic = "out" },
        .dead_letters = "dead",
        .retry_ms = 60000,
        .catch_up_ms = 10000,
        .max_memory = 1 << 20,
        .lead_ms = broker.levels.width_ms,
        .owner = "new",
    };
    int error = 0;
    broker.now_ms = stored_ms;
    member_start(&member, &broker, &options, 0);
    for (uint32_t stripe = 0; stripe < BROKER_STRIPES; stripe++)
        if (member_gain(&member, stripe) != HTW__GAIN_OK)
            stop("a stripe is refused", "");
    for (; error == 0 && broker.now_ms < last_ms + LATE_MAX_MS; broker.now_ms += 100) {
        for (uint32_t stripe = 0; stripe < BROKER_STRIPES && error == 0; stripe++)
            error = member_poll_input(&member, stripe, 100);
        if (error == 0)
            error = member_poll_buckets(&member, 100);
        if (error == 0)
            error = member_advance(&member, 1000);
        if (error == 0)
            error = member_commit(&member, HTW__CHANNEL_ALL, false);
    }
    if (error != 0)
        stop("the relay has failed", strerror(-error));
}

static void judge(void) {
    size_t count = 0;
    for (size_t i = 0; i < broker.out.count; i++) {
        const struct broker_record *record = &broker.out.records[i];
        if (record->record == NULL)
            continue;
        if (strcmp(record->topic, "dead") == 0)
            stop("a dead letter", "");
        note_delivery(record->record, record->real_now_ms);
        count++;
    }
    for (size_t i = 0; i < RECORDS_MAX; i++) {
        check(!wanted[i].is_sent || wanted[i].is_cancelled || wanted[i].delivered > 0, "lost", i);
        check(wanted[i].delivered <= 1, "twice", i);
        check(!wanted[i].is_cancelled || wanted[i].delivered == 0, "cancelled, and delivered", i);
    }
    if (count == 0)
        stop("the copy is empty", "");
}

int main(int argc, char **argv) {
    FILE *stream = argc == 2 ? fopen(argv[1], "re") : NULL;
    if (stream == NULL)
        stop("no file", "");
    read_copy(stream);
    (void)fclose(stream);
    deliver_all();
    judge();
    member_kill(&member);
    broker_fini(&broker);
    return failures == 0 ? 0 : 1;
}
