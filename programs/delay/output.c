/* SPDX-License-Identifier: MIT */
/* output.c - writes the messages that are due to standard output. */
#include "output.h"

#include "../kit/times.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

/* After that many calls the loop checks signals, the input and the clock again. */
#define WRITES_AT_ONCE 64

/* The bytes of one call to a file: enough to make the call cheap, too few to take long. */
#define FILE_BYTES ((size_t)256 * 1024)

_Static_assert(2 * HTW__OUTPUT_BATCH <= IOV_MAX, "a message takes two pieces");

/*
 * poll() says that a terminal is writable when it has room for a byte, and the rest of a write then
 * blocks. So the terminal is opened once more, non-blocking, for this program alone.
 */
static int open_own_terminal(int fd) {
    char name[32];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    int own = isatty(fd) ? open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
    return own >= 0 ? own : fd;
}

void htw__output_init(struct htw__output *output, int fd, bool has_timestamps,
                      const struct htw__timeline *timeline, struct htw__report *report) {
    struct stat status;
    struct statfs system;
    *output = (struct htw__output) {
        .fd = open_own_terminal(fd),
        .has_timestamps = has_timestamps,
        .is_regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode),
        .is_pipe = fstatfs(fd, &system) == 0 && system.f_type == PIPEFS_MAGIC,
        .tail = &output->head,
        .timeline = timeline,
        .report = report,
    };
}

void htw__output_push(struct htw__output *output, struct htw__message *message) {
    message->in.next = NULL;
    *output->tail = message;
    output->tail = &message->in.next;
    output->count++;
    output->bytes += htw__message_memory(message);
}

struct htw__message *htw__output_pop(struct htw__output *output) {
    struct htw__message *message = output->head;
    if (message == NULL)
        return NULL;
    output->head = message->in.next;
    if (output->head == NULL)
        output->tail = &output->head;
    output->count--;
    output->bytes -= htw__message_memory(message);
    output->head_written = 0;
    return message;
}

static size_t format_times(const struct htw__output *output, int64_t due_ns, int64_t now_ns,
                           char prefix[HTW__OUTPUT_PREFIX_SIZE]) {
    char planned[HTW__INSTANT_FORMAT_SIZE];
    char real[HTW__INSTANT_FORMAT_SIZE];
    htw__instant_format(0, htw__timeline_to_wall(output->timeline, due_ns), planned);
    htw__instant_format(0, htw__timeline_to_wall(output->timeline, now_ns), real);
    int64_t late_ns = now_ns - due_ns;
    char sign = late_ns < 0 ? '-' : '+';
    uint64_t late_us = (uint64_t)((late_ns < 0 ? -late_ns : late_ns) / HTW_MICROSECOND);
    return (size_t)snprintf(prefix, HTW__OUTPUT_PREFIX_SIZE, "%s %s %c%llu.%06llu ", planned, real,
                            sign, (unsigned long long)(late_us / 1000000),
                            (unsigned long long)(late_us % 1000000));
}

/* A message of which a part was written keeps the prefix that it had then. */
static size_t prefix_of(struct htw__output *output, struct htw__message *message, size_t index,
                        int64_t now_ns) {
    if (index > 0 || output->head_written == 0)
        output->prefix_sizes[index] =
            output->has_timestamps
                ? format_times(output, message->due_ns, now_ns, output->prefixes[index])
                : 0;
    return output->prefix_sizes[index];
}

/* Whole messages as long as they fit. The first is cut if it does not fit. Returns the number of pieces. */
static int collect(struct htw__output *output, int64_t now_ns, struct iovec *pieces) {
    size_t room = output->is_regular ? FILE_BYTES : PIPE_BUF, skip = output->head_written;
    size_t index = 0;
    int count = 0;
    for (struct htw__message *message = output->head;
         message != NULL && index < HTW__OUTPUT_BATCH && room > 0; message = message->in.next) {
        size_t prefix_size = prefix_of(output, message, index, now_ns);
        size_t left = prefix_size + message->size - skip;
        if (left > room && index > 0)
            break;
        size_t of_prefix = skip < prefix_size ? prefix_size - skip : 0, of_bytes = left - of_prefix;
        char *prefix = output->prefixes[index++] + prefix_size - of_prefix;
        char *bytes = message->bytes + message->size - of_bytes;
        if (of_bytes > room - of_prefix)
            of_bytes = room - of_prefix;
        if (of_prefix > 0)
            pieces[count++] = (struct iovec) { prefix, of_prefix };
        pieces[count++] = (struct iovec) { bytes, of_bytes };
        room -= of_prefix + of_bytes;
        skip = 0;
    }
    return count;
}

/* Frees the messages that were written whole, and notes how much of the next one was. */
static void free_written(struct htw__output *output, size_t written, int64_t before_ns,
                         int64_t after_ns) {
    size_t index = 0;
    written += output->head_written;
    output->head_written = 0;
    struct htw__message *message;
    while ((message = output->head) != NULL) {
        size_t size = output->prefix_sizes[index] + message->size;
        if (written < size)
            break;
        written -= size;
        index++;
        htw__output_pop(output);
        htw__report_released(output->report, htw__message_memory(message), message->due_ns,
                             before_ns, after_ns);
        htw__message_destroy(message);
        if (written == 0)
            return;
    }
    if (written > 0 && index > 0) {
        memcpy(output->prefixes[0], output->prefixes[index], output->prefix_sizes[index]);
        output->prefix_sizes[0] = output->prefix_sizes[index];
    }
    output->head_written = written;
}

static bool can_write(const struct htw__output *output) {
    if (output->is_regular)
        return true;
    /* An error shows as one of the other events, and the write then says which it is; also when poll
     * itself fails, except after a signal, which the loop handles first. */
    struct pollfd wanted = { .fd = output->fd, .events = POLLOUT };
    int ready = poll(&wanted, 1, 0);
    return ready > 0 || (ready < 0 && errno != EINTR);
}

int htw__output_write(struct htw__output *output) {
    struct iovec pieces[2 * HTW__OUTPUT_BATCH];
    output->is_blocked = false;
    for (int i = 0; i < WRITES_AT_ONCE && output->head != NULL; i++) {
        output->is_blocked = !can_write(output);
        if (output->is_blocked)
            break;
        int64_t before_ns = htw__timeline_now(output->timeline);
        ssize_t written = writev(output->fd, pieces, collect(output, before_ns, pieces));
        if (written < 0) {
            output->is_blocked = errno == EINTR || errno == EAGAIN;
            return output->is_blocked ? 0 : -errno;
        }
        free_written(output, (size_t)written, before_ns, htw__timeline_now(output->timeline));
    }
    return 0;
}

/* An interrupted close() has closed it. Where no descriptor is left, what a file system tells only at a close is not
   asked for: everything was written. */
int htw__output_sync(const struct htw__output *output) {
    int copy = dup(output->fd);
    if (copy < 0 && (errno == EMFILE || errno == ENFILE))
        return 0;
    return copy < 0 || (close(copy) != 0 && errno != EINTR) ? -errno : 0;
}
