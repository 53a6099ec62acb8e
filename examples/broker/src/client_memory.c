/* SPDX-License-Identifier: MIT */
/* client_memory.c - counts the memory of clients, and closes the largest one. */
#include "client_memory.h"

#include "loop.h"

/* The sum rises after the count of the client, and falls before it. So if a loop finds the sum too
   high, and still too high after it has read all counts, it has read those that make the sum. */
void client_memory_update(struct client *client, size_t bytes) {
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

/* Returns the client with the most memory, and its loop; NULL if no client has any. A client of
   another loop may be freed already. */
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

void client_memory_enforce_limit(struct loop *loop) {
    struct loop *where;
    while (is_too_much(loop->broker)) {
        struct client *client = largest(loop->broker, &where);
        /* Checked again: another loop may have closed the largest client during the search. */
        if (client == NULL || !is_too_much(loop->broker))
            return;
        if (where != loop) {
            mailbox_wake(&where->mailbox); /* that loop calls this function, too */
            return;
        }
        client_close(client);
        loop_count(&loop->evicted);
    }
}
