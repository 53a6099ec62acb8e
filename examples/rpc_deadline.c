/* SPDX-License-Identifier: MIT */
/*
 * rpc_deadline.c - a chain of RPC servers that pass on how much time is left, so that none of them works for an answer that
 * nobody waits for any more.
 *
 * client -> front -> middle -> store, over sockets. The client gives its call 100 ms; front and middle give theirs
 * 300 and 40 ms, or what is left. On the wire is the time that is left, not the deadline: the clocks of machines differ.
 */
#define _POSIX_C_SOURCE 200809L
#include <htw/scope.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct question {
    int64_t left_ns;
    int steps; /* of work, of 5 ms each */
};

/* The client is one, too, which makes a call and has no thread. */
struct server {
    const char *name;
    int64_t limit_ns;      /* of the call that it makes; 0: it makes none, and does the work */
    struct htw_scope call; /* whose end wakes the thread that waits for the answer */
    int from, to;          /* sockets */
    pthread_t thread;
};

static struct htw_scheduler *scheduler;

static void hang_up(struct htw_scope *call, enum htw_scope_end why) {
    (void)why;
    shutdown(HTW_CONTAINER_OF(call, struct server, call)->to, SHUT_RDWR);
}

/* Asks the next server, in a scope or in none. Returns its answer; -1: it did not come in time. */
static int ask(struct server *self, struct htw_scope *rpc, int steps) {
    int answer = -1;
    if (htw_scope_enter(&self->call, scheduler, rpc, self->limit_ns, hang_up) == HTW_SCOPE_OPEN) {
        struct question question = { htw_scope_left_ns(&self->call), steps };
        if (send(self->to, &question, sizeof(question), MSG_NOSIGNAL) != sizeof(question) ||
            recv(self->to, &answer, sizeof(answer), 0) != sizeof(answer))
            answer = -1;
    }
    htw_scope_exit(&self->call); /* from now on hang_up() does not run */
    return answer;
}

/* Returns how many steps were done in time. */
static int work(struct htw_scope *rpc, int steps) {
    int done = 0;
    for (; done < steps && htw_scope_why(rpc) == HTW_SCOPE_OPEN; done++)
        nanosleep(&(struct timespec) { .tv_nsec = 5 * HTW_MILLISECOND }, NULL);
    return done;
}

static void *serve(void *arg) {
    struct server *self = arg;
    struct question question;
    while (recv(self->from, &question, sizeof(question), 0) == sizeof(question)) {
        struct htw_scope rpc;
        int answer = -1;
        if (htw_scope_enter(&rpc, scheduler, NULL, question.left_ns, NULL) == HTW_SCOPE_OPEN)
            answer =
                self->limit_ns > 0 ? ask(self, &rpc, question.steps) : work(&rpc, question.steps);
        htw_scope_exit(&rpc);
        printf("%s had %.0f ms, and answers %d\n", self->name, (double)question.left_ns / 1e6,
               answer);
        send(self->from, &answer, sizeof(answer), MSG_NOSIGNAL);
    }
    if (self->limit_ns > 0)
        close(self->to);
    return NULL;
}

int main(void) {
    struct server all[] = { { .name = "client", .limit_ns = 100 * HTW_MILLISECOND },
                            { .name = "front", .limit_ns = 300 * HTW_MILLISECOND },
                            { .name = "middle", .limit_ns = 40 * HTW_MILLISECOND },
                            { .name = "store" } };
    if (htw_scheduler_create(&scheduler, NULL) != 0)
        return 1;
    for (int i = 3; i > 0; i--) { /* the last one first: each needs the socket of the next one */
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
            return 1;
        all[i - 1].to = ends[0];
        all[i].from = ends[1];
        if (pthread_create(&all[i].thread, NULL, serve, &all[i]) != 0)
            return 1;
    }
    int quick = ask(&all[0], NULL, 1);
    int long_one = ask(&all[0], NULL, 10000);
    close(all[0].to);
    for (int i = 1; i <= 3; i++) {
        pthread_join(all[i].thread, NULL);
        close(all[i].from);
    }
    htw_scheduler_destroy(scheduler);
    printf("the client has answers %d and %d\n", quick, long_one);
    return long_one == -1 ? 0 : 1;
}
