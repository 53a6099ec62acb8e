/* SPDX-License-Identifier: MIT */
/* search.c - the search, breadth first, and how a difference is printed. */
#include "search.h"

#include "image.h"
#include "states.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 60 };

struct path {
    uint8_t steps[SEARCH_DEPTH_MAX]; /* numbers of operations */
};

struct frontier {
    struct path *paths;
    size_t count, capacity;
};

static const struct search_model *model;
static const char *name;
static unsigned depth;
static struct image places[SEARCH_DEPTH_MAX + 1]; /* the states on the way to the present one */
static struct path place_path;                    /* their steps, */
static char texts[SEARCH_DEPTH_MAX][SEARCH_TEXT]; /* also as texts */
static unsigned place_length;
static struct states states;
static uint64_t histories;

/* The history that is tried: one that crashes, or loops for ever, is printed. */
static struct path trying;
static unsigned trying_length;

static void return_to(unsigned length) {
    image_restore(&places[length]);
}

static bool run_step(size_t operation) {
    image_open();
    bool same = model->run(operation);
    image_close();
    return same;
}

static void begin(void) {
    image_clear();
    histories = 0;
    image_open();
    model->begin();
    image_close();
    image_save(&places[0]);
    place_length = 0;
}

/* ---- what differs */

/* Says what differs after `length` steps, and how to see it again. Always false. */
static bool report(unsigned length, const char *end) {
    printf("enumerate: a difference: %s\n", model->message());
    printf("enumerate: its steps: ./dev enumerate %s \"", name);
    for (unsigned i = 0; i + 1 < length; i++)
        printf("%s, ", texts[i]);
    char text[SEARCH_TEXT];
    model->describe(trying.steps[length - 1], text); /* of the list of the state before it */
    printf("%s\"%s%s\n", text, end == NULL ? "" : " ", end == NULL ? "" : end);
    fflush(stdout);
    return false;
}

static void on_crash(int number) {
    signal(number, SIG_DFL);
    printf("enumerate: signal %d\n", number);
    report(trying_length, NULL);
    _exit(1);
}

/* ---- the search */

/* Goes to the state before the last step of a path that was run before. */
static void go_to(const struct path *path, unsigned length) {
    unsigned common = 0;
    while (common < length && common < place_length &&
           path->steps[common] == place_path.steps[common])
        common++;
    return_to(common);
    for (place_length = common; place_length < length;) {
        uint8_t step = path->steps[place_length];
        model->list();
        model->describe(step, texts[place_length]);
        if (!run_step(step))
            abort(); /* it was the same before */
        place_path.steps[place_length++] = step;
        image_save(&places[place_length]);
    }
}

static void push(struct frontier *frontier, const struct path *path) {
    if (frontier->count == frontier->capacity) {
        frontier->capacity = frontier->capacity * 2 + 1024;
        frontier->paths = realloc(frontier->paths, frontier->capacity * sizeof(*frontier->paths));
        if (frontier->paths == NULL)
            abort();
    }
    frontier->paths[frontier->count++] = *path;
}

/* Brings a history to its end in each way. */
static bool finish(void) {
    static struct image image;
    bool all = trying_length < depth;
    if (all)
        image_save(&image);
    for (size_t end = 0; end < (all ? SIZE_MAX : 1) && model->ends[end] != NULL; end++) {
        if (end > 0)
            image_restore(&image);
        image_open();
        bool same = model->finish(end);
        image_close();
        if (!same)
            return report(trying_length, model->ends[end]);
    }
    return true;
}

/* Compares the state after a step; `next` receives it if it is new. */
static bool visit(struct frontier *next) {
    uint64_t digest;
    bool same = model->read(depth - trying_length, &digest);
    bool is_new = same && states_insert(&states, digest);
    if (!same || !model->compare(is_new))
        return report(trying_length, NULL);
    if (is_new && trying_length < depth)
        push(next, &trying);
    return !is_new || finish();
}

/* Tries each operation after a history of `length` operations. */
static bool extend(const struct path *path, unsigned length, struct frontier *next) {
    go_to(path, length);
    alarm(PATIENCE_S);
    size_t count = model->list();
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            return_to(length);
        histories++;
        trying = *path;
        trying.steps[length] = (uint8_t)i;
        trying_length = length + 1;
        if (!run_step(i))
            return report(trying_length, NULL);
        if (!visit(next))
            return false;
    }
    return true;
}

/* Of the processor, so that other processes do not count. */
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void say(unsigned length, double begun, unsigned differences) {
    printf("enumerate: %s: depth %u, %s%zu states, %" PRIu64 " histories, %.1f s, %u differences\n",
           name, length, states.is_full ? "at most " : "", states.count, histories,
           seconds() - begun, differences);
    fflush(stdout);
}

static void watch_for_crashes(void) {
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        signal(numbers[i], on_crash);
}

static void fini(void) {
    alarm(0);
    for (size_t i = 0; i <= SEARCH_DEPTH_MAX; i++)
        image_fini(&places[i]);
    states_fini(&states);
}

bool search_run(const struct search_model *searched, const char *as, unsigned to_depth) {
    struct frontier now = { NULL, 0, 0 };
    double begun = seconds();
    model = searched;
    name = as;
    depth = to_depth < SEARCH_DEPTH_MAX ? to_depth : SEARCH_DEPTH_MAX;
    watch_for_crashes();
    push(&now, &(struct path) { { 0 } });
    begin();
    bool same = true;
    for (unsigned length = 0; same && length < depth; length++) {
        struct frontier next = { NULL, 0, 0 };
        for (size_t i = 0; same && i < now.count; i++)
            same = extend(&now.paths[i], length, &next);
        free(now.paths);
        now = next;
        say(length + 1, begun, !same);
    }
    free(now.paths);
    fini();
    return same;
}

/* ---- one history */

/* Runs the operation that a text of `size` bytes describes. False: a difference, or there is none. */
static bool replay_step(const char *text, size_t size) {
    uint64_t digest;
    size_t count = model->list();
    for (size_t i = 0; i < count; i++) {
        char described[SEARCH_TEXT];
        model->describe(i, described);
        if (strlen(described) == size && memcmp(described, text, size) == 0) {
            printf("  %s\n", described);
            return model->run(i) && model->read(SEARCH_DEPTH_MAX, &digest) && model->compare(true);
        }
    }
    fprintf(stderr, "enumerate: there is no such step here: %.*s\n", (int)size, text);
    exit(2);
}

static bool replay_end(const char *end) {
    for (size_t i = 0; model->ends[i] != NULL; i++)
        if (strcmp(end, model->ends[i]) == 0) {
            printf("  and to the end by: %s\n", end);
            return model->finish(i);
        }
    fprintf(stderr, "enumerate: no such end: %s\n", end);
    exit(2);
}

static bool replay(const struct search_model *searched, const char *text, const char *end) {
    model = searched;
    begin();
    image_open();
    bool same = true;
    while (same && *text != '\0') {
        size_t size = strcspn(text, ",");
        same = replay_step(text, size);
        text += size;
        text += strspn(text, ", ");
    }
    if (same && end != NULL)
        same = replay_end(end);
    image_close();
    printf("enumerate: %s\n", same ? "no difference" : model->message());
    fini();
    return same;
}

bool search_told(const struct search_model *searched, const char *as, const char *what,
                 const char *end) {
    char *rest;
    unsigned to_depth = (unsigned)strtoul(what, &rest, 10);
    return *rest != '\0' || to_depth == 0 ? replay(searched, what, end)
                                          : search_run(searched, as, to_depth);
}
