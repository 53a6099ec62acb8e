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

/* VERB(name, its word, what follows the word (line.c), what it does (struct command of commands.c)). STEP and LOOK are whole rows.
   Any other has `.start`, which answers or submits an operation; if it submits one, also `.finish`, which answers when that is back.
   The statistics count those up to HTW__VERB_PAUSE_TUBE, in this order.

   Most of tests/serve/ also runs on beanstalkd, which gives the expected answers. A verb that beanstalkd lacks goes into
   test_protocol.py with the fixture `server`, and into "Differences" of docs/serve.md. */
#define HTW__SERVE_VERBS(VERB)                                                                   \
    VERB(PUT, "put ", "pdts$", { start_put, .finish = finish_put })                              \
    VERB(PEEK, "peek ", "i$", LOOK(htw__look_at_job, write_found))                               \
    VERB(PEEK_READY, "peek-ready", "$", LOOK(htw__look_at_first, write_found))                   \
    VERB(PEEK_DELAYED, "peek-delayed", "$", LOOK(htw__look_at_first, write_found))               \
    VERB(PEEK_BURIED, "peek-buried", "$", LOOK(htw__look_at_first, write_found))                 \
    VERB(RESERVE, "reserve", "$", { start_reserve, .finish = finish_reserve })                   \
    VERB(RESERVE_WITH_TIMEOUT, "reserve-with-timeout ", "w",                                     \
         { start_reserve, .finish = finish_reserve })                                            \
    VERB(DELETE, "delete ", "i$", STEP(htw__look_and_cancel, "DELETED\r\n", HTW_JOB_END, false)) \
    VERB(RELEASE, "release ", "ipd$", STEP(NULL, "RELEASED\r\n", HTW_JOB_RELEASE, true))         \
    VERB(USE, "use ", "n$", { .start = start_use })                                              \
    VERB(WATCH, "watch ", "n$", { .start = start_watch })                                        \
    VERB(IGNORE, "ignore ", "n$", { .start = start_watch })                                      \
    VERB(BURY, "bury ", "ip$", STEP(NULL, "BURIED\r\n", HTW_JOB_BURY, true))                     \
    VERB(KICK, "kick ", "c", { start_kick, .finish = finish_kick })                              \
    VERB(TOUCH, "touch ", "i$", { .start = start_touch })                                        \
    VERB(STATS, "stats", "$", LOOK(htw__look_at_all, htw__serve_stats_server))                   \
    VERB(STATS_JOB, "stats-job ", "i$", LOOK(htw__look_at_job, htw__serve_stats_job))            \
    VERB(STATS_TUBE, "stats-tube ", "n$",                                                        \
         { start_stats_tube, finish_look, htw__look_at_tube, .write = htw__serve_stats_tube })   \
    VERB(LIST_TUBES, "list-tubes", "$", LOOK(htw__look_at_all, htw__serve_stats_list_tubes))     \
    VERB(LIST_TUBE_USED, "list-tube-used", "$", { .start = start_list })                         \
    VERB(LIST_TUBES_WATCHED, "list-tubes-watched", "$", { .start = start_list })                 \
    VERB(PAUSE_TUBE, "pause-tube", " nd$", { .start = start_pause })                             \
    VERB(RESERVE_JOB, "reserve-job ", "i$", { start_reserve, .finish = finish_reserve })         \
    VERB(KICK_JOB, "kick-job ", "i$", STEP(NULL, "KICKED\r\n", HTW_JOB_KICK, false))             \
    VERB(QUIT, "quit", "", { .start = start_quit })

enum htw__verb {
#define HTW__VERB_ENUMERATOR(name, ...) HTW__VERB_##name,
    HTW__SERVE_VERBS(HTW__VERB_ENUMERATOR) HTW__VERBS
#undef HTW__VERB_ENUMERATOR
};

/* The word of a command; a blank may follow it. */
const char *htw__serve_word(enum htw__verb verb);

struct htw__serve_line {
    enum htw__verb verb;
    uint64_t id;
    uint32_t priority, delay_s, ttr_s;
    uint32_t size;                     /* of the body that follows the line of a put, */
    const char *body;                  /* ... which connection.c sets */
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
