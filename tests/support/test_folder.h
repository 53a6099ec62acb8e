/* SPDX-License-Identifier: MIT */
/* test_folder.h - a folder for the files of a test, in memory where the system has such a place. */
#ifndef TESTS_SUPPORT_TEST_FOLDER_H
#define TESTS_SUPPORT_TEST_FOLDER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEST_FOLDER_SIZE 32

/* Makes it, in /dev/shm or /tmp, and writes its path to `folder`. */
static inline bool test_folder_create(char folder[TEST_FOLDER_SIZE]) {
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/htw-XXXXXX" : "/tmp/htw-XXXXXX");
    return mkdtemp(folder) != NULL;
}

/* With all that is in it. */
static inline bool test_folder_remove(const char *folder) {
    char command[TEST_FOLDER_SIZE + 16];
    snprintf(command, sizeof(command), "rm -rf %.*s", TEST_FOLDER_SIZE, folder);
    return system(command) == 0;
}

/* Writes all of a file. */
static inline bool test_file_write(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    bool written = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && written;
}

#endif /* TESTS_SUPPORT_TEST_FOLDER_H */
