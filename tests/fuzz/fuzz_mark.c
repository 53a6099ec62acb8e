/* SPDX-License-Identifier: MIT */
/*
 * fuzz_mark.c - the mark of a journal, which says how far `htw delay --journal` has read its files, and a
 * file that is read from there. A journal may be the file of a stranger.
 */
#include "fuzz.h"

#include "../../src/cmd/delay/mark.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is written is read as the same, and fits. */
static void check_text(struct htw__mark *mark) {
    char text[HTW__MARK_SIZE], again_text[HTW__MARK_SIZE];
    struct htw__mark again;
    FUZZ_CHECK(mark->count <= HTW__MARK_FILES);
    size_t size = htw__mark_format(mark, text);
    FUZZ_CHECK(size == strlen(text) && size < sizeof(text));
    FUZZ_CHECK(htw__mark_init(&again, text, size) && again.count == mark->count);
    FUZZ_CHECK(htw__mark_format(&again, again_text) == size && memcmp(text, again_text, size) == 0);
    htw__mark_fini(&again);
}

/* A file is read from a place inside of it. */
static void check_file(struct htw__mark *mark, const char *path) {
    struct htw__input_place place = { 0, 0 };
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        fuzz_fail("no file in memory");
    if (htw__mark_begin(mark, fd, false, &place) == NULL) {
        FUZZ_CHECK(place.offset <= (uint64_t)status.st_size);
        FUZZ_CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)place.offset);
        place.offset = (uint64_t)status.st_size;
        htw__mark_move(mark, place);
        check_text(mark);
        FUZZ_CHECK(htw__mark_begin(mark, fd, false, &place) == NULL);
        FUZZ_CHECK(place.offset == (uint64_t)status.st_size);
    }
    close(fd);
}

static void run(const uint8_t *data, size_t size) {
    struct htw__mark mark;
    const char *path = fuzz_file(data, size);
    if (htw__mark_init(&mark, (const char *)data, size)) {
        check_text(&mark);
        check_file(&mark, path);
    }
    htw__mark_fini(&mark);
}

static const struct fuzz_attack attacks[] = {
    { "files", "htw-delay 1\n", "", { "1 1 1 1\n" } },
    { "digits", "htw-delay 1\n", "", { "1" } },
    { "blanks", "htw-delay 1\n", "", { " " } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "mark",
    .run = run,
    .memory = { 8192, 0 },
    .steps = { 5000, 1 },
    .attacks = attacks,
};
