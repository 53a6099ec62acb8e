/* SPDX-License-Identifier: MIT */
/*
 * input.h - the records of the named files, one file after the other.
 *
 * A record ends with the separator; the last one of a file may lack it. Nothing here
 * waits, except that one read of a file that is not ready would: poll for it.
 * Files that cannot be opened or read are reported and skipped.
 */
#ifndef HTW_KIT_INPUT_H
#define HTW_KIT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__input {
    char *const *names; /* those that were not opened yet, `-` is standard input */
    int names_left;
    char separator;
    size_t max_record;
    const char *name; /* of the present file, or of the last one */
    uint64_t line;    /* records of that file that were consumed */
    int fd; /* to poll before reading; -1: none, or it has ended, while its last records may still be here */
    bool has_failed;  /* a file could not be opened or read */
    uint64_t errors;  /* that were printed or counted, of the present file */
    bool is_skipping; /* the rest of a record that is too long */

    char *buffer;
    size_t capacity;
    size_t
        begin; /* the first byte that was not consumed: when no whole record is left, that of a part of one */
    size_t end;     /* the first free one */
    size_t scanned; /* there is no separator between `begin` and here */
};

/* `names` must outlive the input. Of a record of more than `max_record` bytes only the beginning
 * is given. Returns 0 or -ENOMEM. */
int htw__input_init(struct htw__input *input, char *const names[], int count, char separator,
                    size_t max_record);
void htw__input_fini(struct htw__input *input);

/* Opens the next file when the present one has ended and is consumed. */
void htw__input_advance(struct htw__input *input);

/* Whether all was consumed and no more will come. */
bool htw__input_is_over(const struct htw__input *input);

/* Reads once; call it only when htw__input_peek() finds no record. Returns 0 or -ENOMEM. */
int htw__input_read(struct htw__input *input);

/*
 * Gives the next record, without its separator, if it is here whole. Stays valid, and is
 * given again, until htw__input_consume() drops it.
 */
bool htw__input_peek(struct htw__input *input, const char **ret_bytes, size_t *ret_size);
void htw__input_consume(struct htw__input *input, size_t size);

/* Waits for the next record, and gives it as peek does: 1. 0: there is no more; -ENOMEM. */
int htw__input_next(struct htw__input *input, const char **ret_bytes, size_t *ret_size);

/* Of a record that peek gave with that size: whether it is too long, and whether it is whole, as
 * all others are. */
bool htw__input_is_too_long(const struct htw__input *input, size_t size);
bool htw__input_is_whole(const struct htw__input *input, size_t size);

/* The number of the record that peek gives, in its file, from 1. */
uint64_t htw__input_line(const struct htw__input *input);

/* ---- one record as `htw delay` reads it: a DELAY, a blank or tab, and the message */

struct htw__line {
    /* From when the line was read; or since 1970 by the wall clock, if `is_instant`. */
    int64_t when_ns;
    bool is_instant;
    /* The first word as it was written, for error messages; set for bad lines as well. */
    const char *word;
    size_t word_size;
    /* What follows the one blank or tab after it, byte for byte. */
    const char *message;
    size_t message_size;
};

/* Reads a record without its terminator. The line points into `bytes`.
 * Returns NULL, or why it is bad (a static phrase). */
const char *htw__line_parse(const char *bytes, size_t size, struct htw__line *ret_line);

/* Prints why a line, which the input is at, is bad, unless there were many such errors before. */
void htw__line_report(const struct htw__line *line, struct htw__input *input, const char *why);

#endif /* HTW_KIT_INPUT_H */
