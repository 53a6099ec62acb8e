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

struct server {
    const char *name;
    int64_t limit_ns; /* of the call that it makes; 0: it makes none, and does the work */
    int from, to;     /* sockets */
    pthread_t thread;
};

/* A call to the next server. If its scope ends, the thread that waits for the answer is woken. */
struct call {
    struct htw_scope scope;
    int socket;
};

static struct htw_scheduler *scheduler;

static void hang_up(struct htw_scope *scope, enum htw_scope_end why) {
    (void)why;
    shutdown(HTW_CONTAINER_OF(scope, struct call, scope)->socket, SHUT_RDWR);
}

/* Asks the next server, for `limit_ns` at most, in a scope or in none. Returns its answer; -1: it did not come in time. */
static int ask(int socket, struct htw_scope *rpc, int64_t limit_ns, int steps) {
    struct call call = { .socket = socket };
    int answer = -1;
    if (htw_scope_enter(&call.scope, scheduler, rpc, limit_ns, hang_up) == HTW_SCOPE_OPEN) {
        struct question question = { htw_scope_left_ns(&call.scope), steps };
        if (send(socket, &question, sizeof(question), MSG_NOSIGNAL) != sizeof(question) ||
            recv(socket, &answer, sizeof(answer), 0) != sizeof(answer))
            answer = -1;
    }
    htw_scope_exit(&call.scope); /* from now on hang_up() does not run */
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
    struct server *server = arg;
    struct question question;
    while (recv(server->from, &question, sizeof(question), 0) == sizeof(question)) {
        struct htw_scope rpc;
        int answer = -1;
        if (htw_scope_enter(&rpc, scheduler, NULL, question.left_ns, NULL) == HTW_SCOPE_OPEN)
            answer = server->limit_ns > 0 ? ask(server->to, &rpc, server->limit_ns, question.steps)
                                          : work(&rpc, question.steps);
        htw_scope_exit(&rpc);
        printf("%s had %.0f ms, and answers %d\n", server->name, (double)question.left_ns / 1e6,
               answer);
        send(server->from, &answer, sizeof(answer), MSG_NOSIGNAL);
    }
    if (server->limit_ns > 0)
        close(server->to);
    return NULL;
}

int main(void) {
    struct server servers[] = { { .name = "front", .limit_ns = 300 * HTW_MILLISECOND },
                                { .name = "middle", .limit_ns = 40 * HTW_MILLISECOND },
                                { .name = "store" } };
    int to = -1;
    if (htw_scheduler_create(&scheduler, NULL) != 0)
        return 1;
    for (unsigned i = 3; i-- > 0;) { /* the last one first: each needs the socket of the next one */
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
            return 1;
        servers[i].from = ends[1];
        servers[i].to = to;
        to = ends[0];
        if (pthread_create(&servers[i].thread, NULL, serve, &servers[i]) != 0)
            return 1;
    }
    int quick = ask(to, NULL, 100 * HTW_MILLISECOND, 1);
    int long_one = ask(to, NULL, 100 * HTW_MILLISECOND, 10000);
    close(to);
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(servers[i].thread, NULL);
        close(servers[i].from);
    }
    htw_scheduler_destroy(scheduler);
    printf("the client has answers %d and %d\n", quick, long_one);
    return long_one == -1 ? 0 : 1;
}
