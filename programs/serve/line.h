/* SPDX-License-Identifier: MIT */
/*
 * line.h - reads one line of the protocol: a function of its bytes alone.
 *
 * A line ends with \r\n and has at most HTW__SERVE_LINE_MAX bytes with these. So each byte is looked at a bounded number of
 * times, however the bytes arrive.
 */
#ifndef HTW_SERVE_LINE_H
#define HTW_SERVE_LINE_H

#include <stddef.h>
#include <stdint.h>

#define HTW__SERVE_LINE_MAX 224u
#define HTW__TUBE_NAME_MAX 200u

/* The commands: first those that the statistics count, in their order, up to HTW__VERB_PAUSE_TUBE. Each has a row in `words`
   (line.c), where the program reads it, and in `commands` (commands.c), which says what it does: without both rows the program
   crashes. Most of tests/serve/ also runs on beanstalkd, which gives the expected answers. */
enum htw__verb {
    HTW__VERB_PUT,
    HTW__VERB_PEEK,
    HTW__VERB_PEEK_READY,
    HTW__VERB_PEEK_DELAYED,
    HTW__VERB_PEEK_BURIED,
    HTW__VERB_RESERVE,
    HTW__VERB_RESERVE_WITH_TIMEOUT,
    HTW__VERB_DELETE,
    HTW__VERB_RELEASE,
    HTW__VERB_USE,
    HTW__VERB_WATCH,
    HTW__VERB_IGNORE,
    HTW__VERB_BURY,
    HTW__VERB_KICK,
    HTW__VERB_TOUCH,
    HTW__VERB_STATS,
    HTW__VERB_STATS_JOB,
    HTW__VERB_STATS_TUBE,
    HTW__VERB_LIST_TUBES,
    HTW__VERB_LIST_TUBE_USED,
    HTW__VERB_LIST_TUBES_WATCHED,
    HTW__VERB_PAUSE_TUBE,
    HTW__VERB_RESERVE_JOB,
    HTW__VERB_KICK_JOB,
    HTW__VERB_QUIT,
    HTW__VERBS
};

/* The word of a command; a blank may follow it. */
const char *htw__serve_word(enum htw__verb verb);

struct htw__serve_line {
    enum htw__verb verb;
    uint64_t id;
    uint32_t priority, delay_s, ttr_s;
    uint32_t size;                     /* of the body that follows the line of a put */
    uint32_t count;                    /* kick */
    int64_t timeout_s;                 /* of a reserve; negative: it waits for ever */
    char name[HTW__TUBE_NAME_MAX + 1]; /* of a tube */
};

enum htw__serve_line_result {
    HTW__SERVE_LINE_MORE,    /* it is not complete */
    HTW__SERVE_LINE_COMMAND, /* `*ret_line` is set */
    HTW__SERVE_LINE_UNKNOWN, /* no such command */
    HTW__SERVE_LINE_BAD,     /* its arguments are wrong */
    HTW__SERVE_LINE_TOO_LONG, /* no end within HTW__SERVE_LINE_MAX bytes: what follows belongs to it */
    HTW__SERVE_LINE_HTTP      /* a browser speaks, or a script in it */
};

/* Reads the line at the beginning of the bytes. `*ret_consumed`: its bytes; MORE, TOO_LONG: 0. */
enum htw__serve_line_result htw__serve_line_read(const char *bytes, size_t size,
                                                 struct htw__serve_line *ret_line,
                                                 size_t *ret_consumed);

/* The place behind the next \r\n; NULL: there is none. */
const char *htw__serve_line_end(const char *bytes, size_t size);

#endif /* HTW_SERVE_LINE_H */
