/* SPDX-License-Identifier: MIT */
/* scope_scenes.c - what scopes promise to threads that end, shorten and exit those of one tree at the same time. */
#include "scenes.h"

#include <htw/scope.h>

struct scene_scope {
    struct htw_scope scope;
    unsigned calls;
    enum htw_scope_end why;
    bool is_inside, was_exited;
    bool ended_at_once; /* a thread was so slow that the deadline had passed: no callback */
};

static struct scene_scope scopes[4];

/* Its callback runs no more, and its memory is the caller's. */
static int exit_scope(unsigned number) {
    struct scene_scope *self = &scopes[number];
    int why = htw_scope_exit(&self->scope);
    REQUIRE(why >= 0 && !self->is_inside);
    REQUIRE(self->calls == (why != HTW_SCOPE_OPEN && !self->ended_at_once));
    REQUIRE(self->calls == 0 || why == (int)self->why);
    self->was_exited = true;
    memset(&self->scope, 0xa5, sizeof(self->scope));
    return why;
}

static void note(struct htw_scope *scope, enum htw_scope_end why) {
    struct scene_scope *self = HTW_CONTAINER_OF(scope, struct scene_scope, scope);
    REQUIRE(!self->was_exited && htw_scope_why(scope) == why);
    self->is_inside = true;
    self->calls++;
    self->why = why;
    self->is_inside = false;
    if (self == &scopes[3]) /* perhaps before its enter has returned */
        exit_scope(3);
}

static void enter(unsigned number, int parent, int64_t delay_ns) {
    int why = htw_scope_enter(&scopes[number].scope, scene.scheduler,
                              parent < 0 ? NULL : &scopes[parent].scope, delay_ns, note);
    REQUIRE(why >= 0);
    if (why != HTW_SCOPE_OPEN)
        scopes[number].ended_at_once = true;
}

static bool is_cancelled; /* before a root is */

static void open_scopes(void) {
    memset(scopes, 0, sizeof(scopes));
    is_cancelled = false;
    scene_open(2, 0, NULL);
}

/* ---- a parent that ends beside a child that ends beside a deadline that is shortened */

static void cancel_root(void) {
    is_cancelled = true;
    REQUIRE(htw_scope_cancel(&scopes[0].scope) >= 0);
}

static void shorten_child(void) {
    REQUIRE(htw_scope_shorten(&scopes[1].scope, MS) >= 0);
}

static void play_scopes(void) {
    open_scopes();
    enter(0, -1, 20 * MS);
    enter(1, 0, 10 * MS);
    enter(2, 1, 2 * MS);
    scene_start(1, cancel_root);
    scene_start(0, shorten_child);
    enter(3, 1, HTW_NEVER_NS);
    REQUIRE(htw_scope_cancel(&scopes[2].scope) >= 0);
    if (htw_scope_why(&scopes[0].scope) == HTW_SCOPE_CANCELLED)
        REQUIRE(is_cancelled);
    scene_join();
    explore_sleep_ns(50 * MS);
    for (unsigned i = 0; i < 4; i++)
        REQUIRE(scopes[i].was_exited || exit_scope(i) != HTW_SCOPE_OPEN);
}

/* ---- an exit beside the end */

static void exit_child(void) {
    exit_scope(1);
}

static void play_scope_exit(void) {
    open_scopes();
    enter(0, -1, HTW_NEVER_NS);
    enter(1, 0, MS);
    explore_sleep_ns(MS / 2);
    scene_start(1, exit_child);
    if (scene_variant == 0)
        explore_sleep_ns(MS); /* by its deadline */
    else if (scene_variant == 1)
        cancel_root();
    else
        exit_scope(0);
    scene_join();
    if (scene_variant != 2)
        exit_scope(0);
}

const struct scene scope_scenes[] = {
    { "scope", "each ends once, beside its parent, its children, a shortened deadline and an enter",
      play_scopes, 1, 2, 0 },
    { "scope-exit", "after an exit no callback runs, and nothing uses the scope", play_scope_exit,
      2, 3, 3 },
    { .name = NULL },
};
