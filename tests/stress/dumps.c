/* SPDX-License-Identifier: MIT */
/*
 * dumps.c - a thread dumps, while others end purgatories, groups, and objects that contain the site of their
 * timers.
 *
 * A dump reads a site after the lock of the timer's shard is released, so the site may have been freed by then, or be
 * another object. Freed pages go back to the kernel: what reads them without care crashes.
 */
#include "stress.h"

#include <htw/purgatory.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define THREADS 4u
#define PAGE_BYTES 65536u /* of any machine */

/* A page of its own. */
struct object {
    struct htw_site site;
    char name[32];
    htw_handle handle;
};

static struct scene {
    struct htw_scheduler *scheduler;
    _Atomic uint64_t dumps;
} scene;

static void never(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    stress_check_firing(expiration);
}

static void complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    (void)request;
    (void)reason;
}

static void own_object(void) {
    struct object *object =
        mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(object != MAP_FAILED);
    strcpy(object->name, "object");
    object->site = (struct htw_site) { never, object->name, object->name, object->name, 1 };
    CHECK_EQUAL(htw_schedule_here(scene.scheduler, HTW_HOUR, &object->site, NULL, &object->handle),
                0);
    CHECK_EQUAL(htw_cancel_wait(scene.scheduler, object->handle), HTW_CANCELLED);
    CHECK_EQUAL(munmap(object, PAGE_BYTES), 0);
}

static void own_group(struct random_source *random) {
    struct htw_group *group;
    struct htw_spec spec = HTW_SPEC_INIT;
    CHECK_EQUAL(htw_group_create(scene.scheduler, &group), 0);
    CHECK_EQUAL(htw_group_set_name(group, random_one_in(random, 2) ? "tenant" : NULL), 0);
    spec.site = HTW_HERE(never, "grouped");
    spec.when_ns = HTW_HOUR;
    spec.group = group;
    CHECK_EQUAL(htw_schedule_spec(scene.scheduler, &spec, NULL, NULL), 0);
    CHECK_EQUAL(htw_group_set_name(group, "renamed"), 0);
    CHECK_EQUAL(htw_group_cancel(group, NULL, NULL), 1);
    htw_group_destroy(group);
}

static void own_purgatory(void) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_purgatory *purgatory;
    struct htw_request request = { 0 };
    struct htw_key key = { "k", 1 };
    options.on_complete = complete;
    options.shards = 1;
    CHECK_EQUAL(htw_purgatory_create(&purgatory, scene.scheduler, &options), 0);
    CHECK_EQUAL(htw_purgatory_try_complete_else_watch(purgatory, &request, &key, 1, HTW_HOUR),
                HTW_WATCHED);
    CHECK_EQUAL(htw_purgatory_destroy(purgatory), 0);
}

static void dump(void) {
    FILE *stream = fopen("/dev/null", "w");
    CHECK(stream != NULL);
    CHECK_EQUAL(htw_scheduler_dump(scene.scheduler, stream), 0);
    fclose(stream);
    atomic_fetch_add(&scene.dumps, 1);
}

static void work(struct stress_thread *thread) {
    while (stress_goes_on()) {
        if (thread->index == 0)
            dump();
        else if (thread->index == 1)
            own_object();
        else if (thread->index == 2)
            own_group(&thread->random);
        else
            own_purgatory();
    }
}

static void part(bool with_stacks) {
    stress_part(with_stacks ? "dumps, with stacks" : "dumps");
    scene.scheduler = stress_create(NULL);
    if (with_stacks) {
        int error = htw_scheduler_observe(scene.scheduler, HTW_OBSERVE_STACKS);
        CHECK(error == 0 || error == -ENOTSUP);
    }
    stress_run(THREADS, work, NULL);
    CHECK(atomic_exchange(&scene.dumps, 0) > 0);
    CHECK_EQUAL(htw_pending(scene.scheduler), 0);
    stress_finish(scene.scheduler);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 2);
    part(false);
    part(true);
    return 0;
}
