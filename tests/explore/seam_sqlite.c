/* SPDX-License-Identifier: MIT */
/* seam_sqlite.c - what a journal calls of SQLite, each a step, and of its folder. The names are those of the linker's --wrap. */
#include "../../src/journal/path.h"
#include "disk.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

#define CODE __builtin_return_address(0)

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement) {
    disk_enter(CODE);
    return __real_sqlite3_step(statement);
}

int __real_sqlite3_reset(sqlite3_stmt *statement);
int __wrap_sqlite3_reset(sqlite3_stmt *statement);
int __wrap_sqlite3_reset(sqlite3_stmt *statement) {
    disk_use(CODE);
    return __real_sqlite3_reset(statement);
}

int __real_sqlite3_exec(sqlite3 *database, const char *text,
                        int (*callback)(void *, int, char **, char **), void *arg,
                        char **ret_message);
int __wrap_sqlite3_exec(sqlite3 *database, const char *text,
                        int (*callback)(void *, int, char **, char **), void *arg,
                        char **ret_message);
int __wrap_sqlite3_exec(sqlite3 *database, const char *text,
                        int (*callback)(void *, int, char **, char **), void *arg,
                        char **ret_message) {
    disk_enter(CODE);
    return __real_sqlite3_exec(database, text, callback, arg, ret_message);
}

int __real_sqlite3_wal_checkpoint_v2(sqlite3 *database, const char *name, int mode, int *ret_pages,
                                     int *ret_copied);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *database, const char *name, int mode, int *ret_pages,
                                     int *ret_copied);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *database, const char *name, int mode, int *ret_pages,
                                     int *ret_copied) {
    disk_enter(CODE);
    return __real_sqlite3_wal_checkpoint_v2(database, name, mode, ret_pages, ret_copied);
}

int __real_sqlite3_close(sqlite3 *database);
int __wrap_sqlite3_close(sqlite3 *database);
int __wrap_sqlite3_close(sqlite3 *database) {
    disk_enter(CODE);
    return __real_sqlite3_close(database);
}

/* ---- the folder */

int __wrap_htw__journal_path_open(struct htw__journal_path *self, const char *path);
int __wrap_htw__journal_path_open(struct htw__journal_path *self, const char *path) {
    snprintf(self->name, sizeof(self->name), "%s", path);
    return 0;
}

int __wrap_htw__journal_path_sync_folder(const struct htw__journal_path *self);
int __wrap_htw__journal_path_sync_folder(const struct htw__journal_path *self) {
    (void)self;
    return 0;
}

void __wrap_htw__journal_path_close(struct htw__journal_path *self, bool is_journal);
void __wrap_htw__journal_path_close(struct htw__journal_path *self, bool is_journal) {
    (void)self, (void)is_journal;
}

struct htw__log;
bool __wrap_htw__log_is_in_place(struct htw__log *log, const char *name);
bool __wrap_htw__log_is_in_place(struct htw__log *log, const char *name) {
    (void)log, (void)name;
    return true;
}

uint64_t __wrap_htw__log_bytes(const char *name);
uint64_t __wrap_htw__log_bytes(const char *name) {
    (void)name;
    return 0;
}
