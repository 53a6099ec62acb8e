/* SPDX-License-Identifier: MIT */
/*
 * test_safe_file.c - a file that is there whole or not at all. Some system calls are replaced (-Wl,--wrap).
 */
#include "../../../programs/delay/safe_file.h"

#include "../../support/process.h"
#include "../../support/test_folder.h"
#include "../unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static struct htw__safe_file file;
static char folder[TEST_FOLDER_SIZE];
static char target[64];

static int fflush_error; /* of the next call, as the following */
static int fsync_error;
static int fsyncs;
static int rename_error;
static int access_error;

/* Whether the call fails: with that error, and once. */
static bool taken(int *error) {
    if (*error == 0)
        return false;
    errno = *error;
    *error = 0;
    return true;
}

int __real_fflush(FILE *stream);
int __wrap_fflush(FILE *stream) {
    return taken(&fflush_error) ? EOF : __real_fflush(stream);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd) {
    fsyncs++;
    return taken(&fsync_error) ? -1 : __real_fsync(fd);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
    return taken(&rename_error) ? -1 : __real_rename(from, to);
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode) {
    return taken(&access_error) ? -1 : __real_access(path, mode);
}

static void set_up(void) {
    assert_true(test_folder_create(folder));
    snprintf(target, sizeof(target), "%s/target", folder);
    fflush_error = fsync_error = rename_error = access_error = 0;
    fsyncs = 0;
    umask(022);
}

static int count_names(void) {
    return (int)entries_of(folder) - 2; /* "." and ".." */
}

static void tear_down(void) {
    assert_true(test_folder_remove(folder));
}

static void fill(const char *path, const char *text, mode_t mode) {
    assert_true(test_file_write(path, text));
    assert_int_equal(chmod(path, mode), 0);
}

static mode_t mode_of(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static void assert_content(const char *path, const char *wanted) {
    static char text[4096];
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
    fclose(stream);
    assert_string_equal(text, wanted);
}

static void put(const char *text) {
    assert_true(fputs(text, file.stream) >= 0);
}

static void save_new(const char *path) {
    assert_int_equal(htw__safe_file_open(&file, path), 0);
    put("new");
    assert_int_equal(htw__safe_file_commit(&file), 0);
    htw__safe_file_close(&file);
}

static void assert_not_opened(const char *path, int error) {
    assert_int_equal(htw__safe_file_open(&file, path), error);
    assert_null(file.temporary);
    htw__safe_file_close(&file);
}

UNIT_TEST_BETWEEN(set_up, tear_down, safe_file_appears_when_it_is_whole) {
    fill(target, "old", 0644);
    assert_int_equal(htw__safe_file_open(&file, target), 0);
    put("ne");
    put("w");
    assert_content(target, "old");
    assert_int_equal(count_names(), 2);
    assert_int_equal(htw__safe_file_commit(&file), 0);
    assert_content(target, "new");
    assert_int_equal(count_names(), 1);
    assert_int_equal(fsyncs, 2); /* the file and its directory */
    assert_null(file.stream);
    htw__safe_file_close(&file);
}

/* holds: delay-4 */
UNIT_TEST_BETWEEN(set_up, tear_down, safe_file_takes_the_mode_of_the_old_one_or_the_usual) {
    static const struct {
        mode_t old; /* 0: there is none */
        mode_t mask, wanted;
    } cases[] = { { 0640, 022, 0640 }, { 0600, 022, 0600 }, { 04755, 022, 0755 },
                  { 0666, 022, 0666 }, { 0, 022, 0644 },    { 0, 026, 0640 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].old != 0)
            fill(target, "old", cases[i].old);
        umask(cases[i].mask);
        assert_int_equal(htw__safe_file_open(&file, target), 0);
        assert_int_equal(umask(022), cases[i].mask);
        put("new");
        assert_int_equal(htw__safe_file_commit(&file), 0);
        htw__safe_file_close(&file);
        assert_int_equal(mode_of(target), cases[i].wanted);
        unlink(target);
    }
}

UNIT_TEST_BETWEEN(set_up, tear_down, safe_file_through_a_link_replaces_what_it_leads_to) {
    char link[64];
    char text[64] = "";
    snprintf(link, sizeof(link), "%s/link", folder);
    fill(target, "old", 0644);
    assert_int_equal(symlink("target", link), 0);
    save_new(link);
    assert_content(target, "new");
    assert_true(readlink(link, text, sizeof(text) - 1) > 0);
    assert_string_equal(text, "target");
    unlink(target);
    assert_not_opened(link, -ENOENT); /* it leads nowhere */
    assert_int_equal(htw__safe_file_probe(link, STDOUT_FILENO), -ENOENT);
}

UNIT_TEST_BETWEEN(set_up, tear_down, safe_file_probed_reports_what_is_wrong) {
    char path[128];
    assert_int_equal(htw__safe_file_probe(target, STDOUT_FILENO), 0);
    fill(target, "", 0644);
    assert_int_equal(htw__safe_file_probe(target, STDOUT_FILENO), 0);
    assert_int_equal(htw__safe_file_probe(folder, STDOUT_FILENO), -EISDIR);
    snprintf(path, sizeof(path), "%s/none/file", folder);
    assert_int_equal(htw__safe_file_probe(path, STDOUT_FILENO), -ENOENT);
    snprintf(path, sizeof(path), "%s/file", target);
    assert_int_equal(htw__safe_file_probe(path, STDOUT_FILENO), -ENOTDIR);
    assert_int_equal(htw__safe_file_probe("/dev/null", STDOUT_FILENO), -ENOTSUP);
    snprintf(path, sizeof(path), "%s/none", folder);
    access_error = EROFS;
    assert_int_equal(htw__safe_file_probe(path, STDOUT_FILENO), -EROFS);
    int fd = open(target, O_RDONLY | O_CLOEXEC);
    assert_int_equal(htw__safe_file_probe(target, fd), -EBUSY);
    close(fd);
    assert_int_equal(htw__safe_file_probe(target, fd), 0);
    assert_int_equal(count_names(), 1);
}

UNIT_TEST_BETWEEN(set_up, tear_down, safe_file_that_cannot_be_written_leaves_the_old_one) {
    static const struct {
        int fflush, fsync, rename;
    } cases[] = { { ENOSPC, 0, 0 }, { 0, EIO, 0 }, { 0, 0, EROFS } };
    fill(target, "old", 0644);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(htw__safe_file_open(&file, target), 0);
        put("new");
        fflush_error = cases[i].fflush;
        fsync_error = cases[i].fsync;
        rename_error = cases[i].rename;
        assert_int_equal(htw__safe_file_commit(&file),
                         -(cases[i].fflush + cases[i].fsync + cases[i].rename));
        htw__safe_file_close(&file);
        assert_content(target, "old");
        assert_int_equal(count_names(), 1);
    }
}
