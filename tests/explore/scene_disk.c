/* SPDX-License-Identifier: MIT */
/* scene_disk.c - the disk of the machine in a schedule: its steps, its faults, and power cuts; and what a journal calls of
   SQLite, each a step, by the linker's --wrap. */
#include "scene_disk.h"

#include "../../src/journal/database/schema.h"
#include "../stage/stage.h"
#include "../support/access_hooks.h"
#include "machine.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define CODE __builtin_return_address(0)

static struct disk_image *empty, *frozen;
static uint64_t draws;      /* the same ones in each schedule */
static uint64_t connection; /* stands for all that SQLite has */

/* ---- faults */

/* So many operations work before one fails; the disk is full from then on. */
#define NEVER UINT_MAX
static unsigned until_full, until_bad_sync;
static bool has_failed;

static bool meets(unsigned *until) {
    if (*until == NEVER || (*until)-- > 0)
        return false;
    has_failed = true;
    return true;
}

static bool is_full(void) {
    if (!meets(&until_full))
        return false;
    until_full = 0;
    return true;
}

void scene_fill_disk(unsigned skipped) {
    until_full = skipped;
}

void scene_empty_disk(void) {
    until_full = NEVER;
}

void scene_damage_sync(unsigned skipped) {
    until_bad_sync = skipped;
}

bool scene_disk_has_failed(void) {
    return has_failed;
}

/* ---- steps: one of SQLite, and one of each sync */

static void take_step(const char *what, const void *code) {
    if (machine_self == NULL)
        return;
    int error = errno; /* the coroutines share it */
    machine_step(&connection, what, code);
    errno = error;
}

static void use(const void *code) {
    hook_write(&connection, sizeof(connection), code);
}

static void enter(const void *code) {
    take_step("uses SQLite", code);
    use(code);
}

enum disk_outcome disk_begin(enum disk_operation operation, bool is_database) {
    (void)is_database;
    if (operation == DISK_SYNC) {
        take_step("syncs", CODE);
        return meets(&until_bad_sync) ? DISK_FAILS : DISK_WORKS;
    }
    return operation == DISK_WRITE && is_full() ? DISK_IS_FULL : DISK_WORKS;
}

uint64_t disk_draw(uint64_t bound) {
    draws = draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (draws >> 33) % bound;
}

void stage_sleep_ns(int64_t delay_ns) {
    explore_sleep_ns(delay_ns);
}

/* ---- power cuts */

static enum { LOSE_ALL, LOSE_NOTHING, LOSE_SOME } loss;

static bool keeps(unsigned file, int64_t sector) {
    (void)file;
    return loss == LOSE_NOTHING || (loss == LOSE_SOME && (sector < 0 || sector % 2 == 0));
}

void scene_freeze_disk(void) {
    loss = machine_choose(&connection, 3);
    disk_keep(frozen, keeps);
}

void scene_restore_disk(void) {
    disk_restore(frozen);
}

/* A journal without jobs, by no thread of the machine. */
static void make_empty(void) {
    struct machine_thread *self = machine_self;
    sqlite3 *database;
    machine_self = NULL;
    disk_require(
        sqlite3_open_v2(DISK_PATH, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ==
            SQLITE_OK &&
        sqlite3_exec(database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) == SQLITE_OK &&
        htw__schema_create(database, false) == SQLITE_OK && sqlite3_close(database) == SQLITE_OK);
    machine_self = self;
    loss = LOSE_ALL;
    disk_keep(empty, keeps);
}

void scene_reset_disk(void) {
    until_full = until_bad_sync = NEVER;
    has_failed = false;
    draws = 0;
    disk_forget_shared();
    if (empty == NULL) {
        empty = disk_image_create();
        frozen = disk_image_create();
        disk_init();
        sqlite3_initialize();
        disk_register();
        make_empty();
        disk_forget_shared();
    }
    disk_restore(empty);
}

/* ---- calls of SQLite */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement) {
    enter(CODE);
    return __real_sqlite3_step(statement);
}

int __real_sqlite3_reset(sqlite3_stmt *statement);
int __wrap_sqlite3_reset(sqlite3_stmt *statement) {
    use(CODE);
    return __real_sqlite3_reset(statement);
}

int __real_sqlite3_exec(sqlite3 *database, const char *text,
                        int (*callback)(void *, int, char **, char **), void *arg,
                        char **ret_message);
int __wrap_sqlite3_exec(sqlite3 *database, const char *text,
                        int (*callback)(void *, int, char **, char **), void *arg,
                        char **ret_message) {
    enter(CODE);
    return __real_sqlite3_exec(database, text, callback, arg, ret_message);
}

int __real_sqlite3_wal_checkpoint_v2(sqlite3 *database, const char *name, int mode, int *ret_pages,
                                     int *ret_copied);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *database, const char *name, int mode, int *ret_pages,
                                     int *ret_copied) {
    enter(CODE);
    return __real_sqlite3_wal_checkpoint_v2(database, name, mode, ret_pages, ret_copied);
}

int __real_sqlite3_close(sqlite3 *database);
int __wrap_sqlite3_close(sqlite3 *database) {
    enter(CODE);
    return __real_sqlite3_close(database);
}
