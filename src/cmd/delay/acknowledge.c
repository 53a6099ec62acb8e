/* SPDX-License-Identifier: MIT */
/* acknowledge.c - tells another program how many lines are durable. */
#include "acknowledge.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static void make_line(struct htw__acknowledge *self) {
    self->told = self->count;
    self->written = 0;
    self->size = (size_t)snprintf(self->line, sizeof(self->line), "%" PRIu64 "\n", self->count);
}

void htw__acknowledge_init(struct htw__acknowledge *self, int fd) {
    *self = (struct htw__acknowledge) { .fd = fd };
    make_line(self);
}

bool htw__acknowledge_waits(const struct htw__acknowledge *self) {
    return self->fd >= 0 && (self->written < self->size || self->told != self->count);
}

int htw__acknowledge_write(struct htw__acknowledge *self) {
    struct pollfd wanted = { .fd = self->fd, .events = POLLOUT };
    while (htw__acknowledge_waits(self) && poll(&wanted, 1, 0) > 0) {
        if (self->written == self->size)
            make_line(self);
        ssize_t size = write(self->fd, self->line + self->written, self->size - self->written);
        if (size < 0 && errno != EINTR && errno != EAGAIN) {
            self->fd = -1;
            return -errno;
        }
        if (size < 0)
            break;
        self->written += (size_t)size;
    }
    return 0;
}
