/* SPDX-License-Identifier: MIT */
/*
 * latency.c - how long a put takes until it is durable, beside what the disk alone takes for as many
 * bytes. A put, an append to a file with fdatasync, and a write over a file with fdatasync take
 * turns, so that all have the same disk.
 */
#include "options.h"

#include <fcntl.h>
#include <unistd.h>

#define FIRST_PUTS 6000       /* then the logs of htw and of SQLite are written over */
#define FILE_BYTES (16 << 20) /* that is written over, as a log is */

/* What this process has written to files. */
static uint64_t written_bytes(void) {
    FILE *file = fopen("/proc/self/io", "r");
    char line[100];
    unsigned long long bytes = 0;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "wchar: %llu", &bytes) == 1)
            break;
    if (file == NULL || bytes == 0)
        report_failure("/proc/self/io: %s", strerror(errno));
    fclose(file);
    return bytes;
}

static void put(const struct peer *peer, void *connection, struct load *load,
                struct histogram *histogram) {
    char payload[PAYLOAD_MAX + 1];
    int64_t deadline_ns = load_next(load, payload);
    int64_t begin_ns = clock_now_ns();
    peer->put(connection, deadline_ns, payload, load->payload_size);
    histogram_record(histogram, clock_now_ns() - begin_ns);
}

static int create(const char *path, const char *bytes, size_t size) {
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        report_failure("%s: %s", path, strerror(errno));
    for (size_t at = 0; at < FILE_BYTES && bytes != NULL; at += size)
        if (pwrite(file, bytes, size, (off_t)at) != (ssize_t)size)
            report_failure("%s: %s", path, strerror(errno));
    fsync(file);
    return file;
}

static void write_and_sync(int file, const char *bytes, size_t size, off_t at,
                           struct histogram *histogram) {
    int64_t begin_ns = clock_now_ns();
    if (pwrite(file, bytes, size, at) != (ssize_t)size || fdatasync(file) != 0)
        report_failure("a file: %s", strerror(errno));
    histogram_record(histogram, clock_now_ns() - begin_ns);
}

static void run(const struct options *options) {
    static struct histogram ignored, puts, appends, overwrites;
    const struct peer *peer = options->peer;
    if (!peer->is_embedded)
        report_left_out("another process writes its files");
    peer->start(peer, 0);
    void *connection = peer->connect();
    struct load load;
    load_init(&load, 0);
    load.delay_min_ns = load.delay_max_ns = clock_ns(86400);
    /* The least of a put: some change more pages. */
    size_t size = SIZE_MAX;
    for (int i = 0; i < FIRST_PUTS; i++) {
        uint64_t before = written_bytes();
        put(peer, connection, &load, &ignored);
        uint64_t written = written_bytes() - before;
        size = written < size ? written : size;
    }
    char *bytes = calloc(1, size);
    if (bytes == NULL)
        report_out_of_memory();
    int appended = create("appended", NULL, size), overwritten = create("overwritten", bytes, size);

    int64_t end_ns = clock_now_ns() + clock_ns(given.seconds);
    off_t append_at = 0, overwrite_at = 0;
    while (clock_now_ns() < end_ns) {
        put(peer, connection, &load, &puts);
        write_and_sync(appended, bytes, size, append_at, &appends);
        write_and_sync(overwritten, bytes, size, overwrite_at, &overwrites);
        append_at += (off_t)size;
        overwrite_at = (overwrite_at + (off_t)size) % FILE_BYTES;
    }
    uint64_t found = peer->count();
    if (found != load.put)
        report_failure("%llu jobs were put, but the store has %llu", (unsigned long long)load.put,
                       (unsigned long long)found);
    report_count("written_bytes", size);
    report_percentiles("put", &puts);
    report_percentiles("append", &appends);
    report_percentiles("overwrite", &overwrites);
    peer->stop();
}

const struct workload workload_latency = {
    .name = "latency",
    .about = "a durable put, beside writing as many bytes and fdatasync",
    .seconds = 2,
    .run = run,
};
