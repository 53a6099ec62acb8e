/* SPDX-License-Identifier: MIT */
/* memory.c - what clients take. */
#include "memory.h"

#include "loop.h"

/* The sum rises after the client's own count and falls before it. So a loop that finds the sum too
   high, and still does when it has looked at all clients, has seen the cause. */
void memory_count(struct client *client, size_t bytes) {
    atomic_uint_fast64_t *sum = &client->loop->broker->client_memory;
    size_t before = atomic_load_explicit(&client->memory, memory_order_relaxed);
    if (bytes < before)
        atomic_fetch_sub(sum, before - bytes);
    if (bytes != before)
        atomic_store(&client->memory, bytes);
    if (bytes > before)
        atomic_fetch_add(sum, bytes - before);
}

static bool is_too_much(struct broker *broker) {
    uint64_t limit = broker->options.max_memory;
    return limit > 0 && atomic_load(&broker->client_memory) > limit;
}

/* The client that takes most, and its loop; NULL: none takes anything. A client of another loop may
   be gone by now. */
static struct client *largest(struct broker *broker, struct loop **ret_loop) {
    struct client *found = NULL;
    size_t most = 0;
    for (unsigned i = 0; i < broker->options.threads; i++) {
        struct loop *loop = &broker->loops[i];
        pthread_mutex_lock(&loop->mutex);
        for (struct client *client = loop->clients; client != NULL; client = client->next) {
            size_t bytes = atomic_load(&client->memory);
            if (bytes <= most)
                continue;
            most = bytes;
            found = client;
            *ret_loop = loop;
        }
        pthread_mutex_unlock(&loop->mutex);
    }
    return found;
}

void memory_relieve(struct loop *loop) {
    struct loop *where;
    while (is_too_much(loop->broker)) {
        struct client *client = largest(loop->broker, &where);
        /* Once more: another loop may have closed the cause while this one was searching. */
        if (client == NULL || !is_too_much(loop->broker))
            return;
        if (where != loop) {
            mailbox_wake(&where->mailbox); /* its loop comes here, too */
            return;
        }
        client_close(client);
        loop_count(&loop->evicted);
    }
}
