/* SPDX-License-Identifier: MIT */
/* inbox.c - the messages that the journal delivers, on their way to the loop. */
#include "inbox.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* As much may be on its way, and a message more. */
#define BYTES_MAX ((size_t)16 * 1024 * 1024)

int htw__inbox_init(struct htw__inbox *self) {
    *self =
        (struct htw__inbox) { .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .tail = &self->head };
    if (self->fd < 0)
        return -errno;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->room, NULL);
    return 0;
}

void htw__inbox_fini(struct htw__inbox *self) {
    struct htw__message *next;
    for (struct htw__message *message = self->head; message != NULL; message = next) {
        next = message->in.next;
        htw__message_destroy(message);
    }
    pthread_cond_destroy(&self->room);
    pthread_mutex_destroy(&self->mutex);
    close(self->fd);
}

void htw__inbox_wake(struct htw__inbox *self) {
    eventfd_write(self->fd, 1); /* fails only where it is readable already */
}

void htw__inbox_put(struct htw__inbox *self, struct htw__message *message) {
    pthread_mutex_lock(&self->mutex);
    while (self->bytes > BYTES_MAX && !self->is_closed)
        pthread_cond_wait(&self->room, &self->mutex);
    if (message != NULL) {
        message->in.next = NULL;
        *self->tail = message;
        self->tail = &message->in.next;
        self->bytes += htw__message_memory(message);
    } else {
        self->has_no_memory = true;
    }
    pthread_mutex_unlock(&self->mutex);
    htw__inbox_wake(self);
}

struct htw__message *htw__inbox_take(struct htw__inbox *self) {
    eventfd_t value;
    (void)eventfd_read(self->fd, &value);
    pthread_mutex_lock(&self->mutex);
    struct htw__message *first = self->head;
    self->head = NULL;
    self->tail = &self->head;
    pthread_mutex_unlock(&self->mutex);
    return first;
}

void htw__inbox_released(struct htw__inbox *self, const struct htw__message *message) {
    pthread_mutex_lock(&self->mutex);
    self->bytes -= htw__message_memory(message);
    pthread_cond_signal(&self->room);
    pthread_mutex_unlock(&self->mutex);
}

void htw__inbox_close(struct htw__inbox *self) {
    pthread_mutex_lock(&self->mutex);
    self->is_closed = true;
    pthread_cond_broadcast(&self->room);
    pthread_mutex_unlock(&self->mutex);
}

bool htw__inbox_has_no_memory(struct htw__inbox *self) {
    pthread_mutex_lock(&self->mutex);
    bool answer = self->has_no_memory;
    pthread_mutex_unlock(&self->mutex);
    return answer;
}
