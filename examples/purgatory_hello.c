/* SPDX-License-Identifier: MIT */
/* purgatory_hello.c - a long poll: readers wait for words on a topic, with a timeout. */
#include <htw/purgatory.h>

#include <semaphore.h>
#include <stdio.h>
#include <string.h>

struct reader {
    const char *name, *topic;
    const char *word;           /* what it has got */
    struct htw_request request; /* in the user's own struct; nothing is allocated */
};

static const char *posted; /* the only word there is, if any: here one thread posts and takes */
static sem_t ended;

static struct reader *reader_of(struct htw_request *request) {
    return HTW_CONTAINER_OF(request, struct reader, request);
}

static bool take_word(void *context, struct htw_request *request) { /* can it be completed now? */
    (void)context;
    struct reader *reader = reader_of(request);
    if (posted == NULL || strcmp(reader->topic, "news") != 0)
        return false;
    reader->word = posted;
    posted = NULL; /* taken: a yes is final */
    return true;
}

static void answer(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    struct reader *reader = reader_of(request);
    printf("%s: %s\n", reader->name, reason == HTW_REASON_COMPLETED ? reader->word : "timed out");
}

static void release(void *context, struct htw_request *request) { /* it could be freed here */
    (void)context;
    (void)request;
    sem_post(&ended);
}

static int wait_for_word(struct htw_purgatory *purgatory, struct reader *reader, int64_t limit_ns) {
    struct htw_key key = { reader->topic, strlen(reader->topic) };
    return htw_purgatory_try_complete_else_watch(purgatory, &reader->request, &key, 1, limit_ns);
}

int main(void) {
    struct reader ann = { .name = "ann", .topic = "news" };
    struct reader bob = { .name = "bob", .topic = "weather" };
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = take_word;
    options.on_complete = answer;
    options.release = release;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    if (sem_init(&ended, 0, 0) != 0 || htw_scheduler_create(&scheduler, NULL) != 0 ||
        htw_purgatory_create(&purgatory, scheduler, &options) != 0)
        return 1;
    if (wait_for_word(purgatory, &ann, 60 * HTW_SECOND) != HTW_WATCHED ||
        wait_for_word(purgatory, &bob, 50 * HTW_MILLISECOND) != HTW_WATCHED)
        return 1;
    posted = "hello";
    int64_t served = htw_purgatory_check(purgatory, "news", 4); /* ann has her word */
    sem_wait(&ended);
    sem_wait(&ended); /* and bob, 50 ms later, none: a thread of the scheduler says so */
    htw_purgatory_destroy(purgatory);
    htw_scheduler_destroy(scheduler);
    return served == 1 && ann.word != NULL && bob.word == NULL ? 0 : 1;
}
