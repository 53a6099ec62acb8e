/* SPDX-License-Identifier: MIT */
/* purgatory.c - requests pass through a purgatory in all ways; a race detector must be silent. */
#define _GNU_SOURCE
#include "parcel.h"

#define REQUESTS 200
#define KEYS 8

/* The hooks read and write it in whatever thread they run. */
struct order {
    struct htw_request request;
    long number, asked, ended;
};

static struct order *order_of(struct htw_request *request) {
    return HTW_CONTAINER_OF(request, struct order, request);
}

static bool try_complete(void *context, struct htw_request *request) {
    (void)context;
    struct order *order = order_of(request);
    return ++order->asked > 2 + order->number % 3;
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)reason;
    REQUIRE(order_of(request)->ended++ == 0);
}

static void release_and_free(void *context, struct htw_request *request) {
    (void)context;
    REQUIRE(order_of(request)->ended == 1);
    free(order_of(request));
}

static void visit(void *context, struct htw_request *request) {
    (void)context;
    order_of(request)->asked++;
}

static struct order *order_create(long number) {
    struct order *order = calloc(1, sizeof(*order));
    REQUIRE(order != NULL);
    order->number = number;
    return order;
}

/* Short keys are compared in place, long ones by memcmp(). */
static struct htw_key key_of(char *buffer, long number) {
    int size = snprintf(buffer, 64, "%0*ld", number % 2 == 0 ? 4 : 40, number % KEYS);
    return (struct htw_key) { buffer, (size_t)size };
}

struct scene {
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
};

static void create(struct scene *scene, bool has_release) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.release = has_release ? release_and_free : NULL;
    REQUIRE(htw_scheduler_create(&scene->scheduler, NULL) == 0);
    REQUIRE(htw_purgatory_create(&scene->purgatory, scene->scheduler, &options) == 0);
}

static void destroy(struct scene *scene) {
    REQUIRE(htw_purgatory_destroy(scene->purgatory) == 0);
    destroy_scheduler(scene->scheduler);
}

/* ---- keys: two threads submit, two cause events, timeouts end some, and close the rest */

static void *submit(void *arg) {
    struct scene *scene = arg;
    for (long i = 0; i < REQUESTS; i++) {
        char buffers[5][64];
        struct htw_key keys[5];
        size_t count = i % 4 == 0 ? 5 : 1 + (size_t)i % 3;
        for (size_t k = 0; k < count; k++)
            keys[k] = key_of(buffers[k], i + (long)k);
        int64_t timeout_ns = i % 3 == 0   ? HTW_MILLISECOND
                             : i % 3 == 1 ? HTW_NEVER_NS
                                          : 100 * HTW_SECOND;
        REQUIRE(htw_purgatory_try_complete_else_watch(scene->purgatory, &order_create(i)->request,
                                                      keys, count, timeout_ns) >= 0);
        if (i % 50 == 0)
            sleep_ms(1);
    }
    return NULL;
}

static void *cause_events(void *arg) {
    struct scene *scene = arg;
    for (long i = 0; i < REQUESTS; i++) {
        char buffer[64];
        struct htw_key key = key_of(buffer, i);
        if (i % 5 == 0)
            REQUIRE(htw_purgatory_check_later(scene->purgatory, key.bytes, key.size) >= 0);
        else if (i % 19 == 0)
            REQUIRE(htw_purgatory_cancel_key(scene->purgatory, key.bytes, key.size, visit, NULL) >=
                    0);
        else if (i % 23 == 0)
            REQUIRE(htw_purgatory_count_key(scene->purgatory, key.bytes, key.size) >= 0);
        else
            REQUIRE(htw_purgatory_check(scene->purgatory, key.bytes, key.size) >= 0);
        if (i % 50 == 0)
            sleep_ms(1);
    }
    return NULL;
}

static void keys(void) {
    struct scene scene;
    pthread_t threads[4];
    create(&scene, true);
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, i < 2 ? submit : cause_events, &scene) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    REQUIRE(htw_purgatory_close(scene.purgatory, visit, NULL) >= 0);
    destroy(&scene);
}

/* ---- without a release hook: htw_request_is_pending() says who owns a request */

static void no_release_hook(void) {
    struct scene scene;
    struct order *orders[64];
    create(&scene, false);
    for (long i = 0; i < 64; i++) {
        orders[i] = order_create(i);
        struct htw_key key = { "key", 3 };
        REQUIRE(htw_purgatory_try_complete_else_watch(scene.purgatory, &orders[i]->request, &key, 1,
                                                      i % 4 * HTW_MILLISECOND) >= 0);
    }
    for (int i = 0; i < 64; i++) {
        while (htw_request_is_pending(&orders[i]->request))
            sleep_ms(1);
        REQUIRE(orders[i]->ended == 1);
        free(orders[i]);
    }
    destroy(&scene);
}

int main(void) {
    keys();
    no_release_hook();
    return 0;
}
