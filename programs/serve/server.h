/* SPDX-License-Identifier: MIT */
/*
 * server.h - struct htw__server, and an overview: start here.
 *
 * PARTS. One thread, the LOOP (loop.c), has all CONNECTIONS (connection.c). They read lines (line.c) and start their
 * commands (commands.c). A job is in a journal, a tube is a queue of it. What needs the journal is an OPERATION
 * (operation.c): a change that is made later, and comes back by a notice, or a look, which a READER does, a thread
 * (reader.h). Both go back to the loop through its mailbox. So many connections share a commit, and no connection waits for
 * the disk but those whose commands have changed something. Without a file, and for a lone client of a quick disk, the loop
 * itself makes the commit, when the connections have had their turns.
 *
 * ORDER. The answers of a connection come in the order of its commands. A command starts when those before have
 * their answers, except that changes of one kind, such as puts, may wait for the disk together. Where one of those is refused,
 * its answer waits for the answers of the others, and no command starts before.
 *
 * TIME. Delays and pauses are the journal's, by the wall clock. A job that is reserved is leased from the journal for
 * ever, and is a RESERVATION (reservation.c) here: its end, and those of waits, are timers of the same scheduler, by
 * the clock that also counts while the machine sleeps, and is never set.
 */
#ifndef HTW_SERVE_SERVER_H
#define HTW_SERVE_SERVER_H

#include "buffer.h"
#include "line.h"
#include "options.h"

#include "../../src/base/key_table.h"
#include "../../src/base/list.h"
#include "../kit/listen.h"

#include <htw/journal_inspect.h>
#include <htw/scheduler.h>
#include <htw/timer.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define HTW__SERVE_VERSION "1.12" /* of the protocol */
#define HTW__SERVE_INPUT 65536    /* the size of a read */

struct htw__connection;
struct htw__operation;
struct htw__server;

/* What the page tells of the server. */
struct htw__server_numbers {
    uint64_t connections, producers, workers, waiting;
    bool is_draining;
};

/* A thread that reads: reader.h. */
struct htw__serve_reader {
    pthread_t thread;
    pthread_mutex_t mutex; /* for all that follows */
    pthread_cond_t changed;
    struct htw__operation *first, **last; /* those that wait */
    size_t bytes;                         /* that were read, and are in no output yet */
    bool has_begun, is_over;
};

struct htw__server {
    struct htw__serve_options options;
    /* Of all timers, also of the journal's, by the boottime clock; embedded: the loop runs it. The wheel has all levels
       (start.c), so a timer that is pending, or rings now, can always be moved. */
    struct htw_scheduler *scheduler;
    struct htw_journal *journal;
    int epoll, signals;
    struct htw__listener listeners[HTW__SERVE_LISTENERS];
    uint32_t listener_count;
    htw_handle pause;      /* the timer of the end of a pause of listening */
    struct htw__link kept; /* reservations that have ended, and could not be given back */

    pthread_t loop;

    /* The mailbox. */
    pthread_mutex_t mutex;
    struct htw__operation *done, **last_done; /* guarded by the mutex */
    struct htw__server_numbers numbers;       /* those of the last round, for the page; likewise */
    int wake; /* an eventfd, which ends a wait: by each write, so nothing reads it (EPOLLET) */

    struct htw__link connections;
    struct htw__connection *turns, **last_turn; /* those that wait for a turn, the oldest first */
    struct htw__link held;          /* those that wait until fewer bytes are under way */
    struct htw__connection *unused; /* closed ones, which are freed at the end of the round */
    uint64_t connection_count, producers, workers, waiting, total_connections;
    uint64_t operations;    /* under way */
    size_t bytes_under_way; /* of their bodies */
    size_t memory;          /* of input and output of all connections */
    char *input;

    struct htw__key_table tubes; /* those that are used, watched or have counts: tube.h */
    struct htw__link all_tubes;
    struct htw__key_table reservations; /* by the id of the job */
    uint64_t seed;

    struct htw__serve_reader of_jobs, of_tubes;
    atomic_uint given_back; /* jobs that the journal has not taken yet */
    uint64_t commands[HTW__VERBS], timeouts, total_jobs;
    int64_t started_ns;
    char id[17];
    int64_t now_ns; /* when the last turn has ended, by the monotonic clock */
    bool is_draining, is_stopping;
    atomic_bool has_failed; /* the journal: set by its thread */
    bool has_more;          /* to do, for which epoll is not to wait */
    bool is_scheduler_due;  /* timers are due */
};

/* The struct that has `pointer` as its member. */
#define HTW__HOLDER(pointer, type, member) \
    ((struct type *)(void *)((char *)(uintptr_t)(pointer)-offsetof(struct type, member)))

/* ---- a connection */

/* Why a reserve ends without a job. */
enum htw__wait_end { HTW__WAIT_TIMED_OUT, HTW__WAIT_DEADLINE_SOON };

struct htw__connection {
    struct htw__link link; /* in the list of the server */
    struct htw__link held; /* in its list of those that wait for bytes, if it `is_held` */
    struct htw__connection *next_turn; /* in its queue */
    struct htw__server *server;
    int fd;            /* -1: closed, and kept until its operations are back */
    uint32_t interest; /* events that epoll reports */
    uint32_t events;   /* events since its last turn */

    struct htw__buffer input, output;
    size_t sent;      /* of the output */
    uint64_t skipped; /* bytes of a body that is too big, which are still to be thrown away */
    size_t counted;   /* bytes in the server's `memory` */
    struct htw__operation *first, *last; /* under way, in the order of the commands */
    size_t under_way;
    const char *last_answer; /* that follows theirs; NULL: none */

    struct htw__tube *use;
    const char **watched; /* the names of the tubes: tube.h */
    size_t watched_count;

    struct htw__link reservations;
    size_t soon;            /* of them */
    htw_handle timer;       /* of the end of a wait; 0: none */
    uint64_t request;       /* the wait, for the journal; 0: it does not wait */
    enum htw__wait_end end; /* of the wait */

    bool is_queued, is_held, is_in_turn;
    bool skips_line; /* until its end, which a line that is too long has */
    bool is_producer, is_worker;
    bool is_half_closed; /* the other side sends nothing more: seen by epoll, */
    bool has_ended;      /* ... and read */
    bool is_hung_up;     /* it reads nothing either: epoll is not asked any more */
    bool is_blocked;     /* the next command waits for those before, or is held */
    bool is_partial;     /* it is not complete */
    bool is_closing;     /* executes nothing more; is closed when its output is sent */
};

/* In any thread. */
struct htw__server_numbers htw__server_numbers(struct htw__server *server);

/* Further away than all else. */
#define HTW__SERVE_FAR_NS (UINT32_MAX * HTW_SECOND)

/* `*timer` becomes 0, and may be 0. */
void htw__server_stop_timer(struct htw__server *server, htw_handle *timer);

/* Gives the connection a turn, unless it waits for one. */
void htw__server_queue(struct htw__connection *connection);

/* ---- start.c: opens and closes a server, and accepts connections */

/* False: it has said why. In both cases htw__server_close() is due, which says whether all is in the file. */
bool htw__server_open(struct htw__server *server, const struct htw__serve_options *options);
bool htw__server_close(struct htw__server *server);

void htw__server_accept(struct htw__server *server, const struct htw__listener *listener);
void htw__server_stop_listening(struct htw__server *server);

/* ---- loop.c */

/* Runs until a signal ends it, and all connections are closed. */
void htw__serve_loop(struct htw__server *server);

/* ---- http.c: the page (page.h), with --http, and beside its file */

/* False: it has said why. */
bool htw__serve_http_start(struct htw__server *server);

/* Where the page is, for people; NULL: nowhere. */
const char *htw__serve_http_name(void);

/* Ends it, before the journal is closed. False: a request still waits for the disk, and so the process must end as it is. */
bool htw__serve_http_stop(void);

#endif /* HTW_SERVE_SERVER_H */
