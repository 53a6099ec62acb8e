/* SPDX-License-Identifier: MIT */
/* search.c - plays the schedules of a scene. */
#include "search.h"

#include "machine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHOICES_MAX 20000u

/* A choice at which a schedule may deviate. */
struct point {
    unsigned choice, answers;
};

static const struct schedule *played;
static unsigned next_deviation;

/* What a schedule could do after its last deviation. */
static struct point points[CHOICES_MAX];
static unsigned point_count;

static struct {
    bool is_on;
    uint64_t state;
    unsigned one_in; /* so rarely it deviates */
    struct schedule *record;
} chance;

static uint64_t draw(void) {
    chance.state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = (chance.state ^ chance.state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static unsigned choose_by_chance(unsigned choice, unsigned useful) {
    struct schedule *record = chance.record;
    if (useful < 2 || record->count == DEVIATIONS_MAX || draw() % chance.one_in != 0)
        return 0;
    unsigned answer = 1 + (unsigned)(draw() % (useful - 1));
    record->deviations[record->count++] = (struct deviation) { choice, answer };
    return answer;
}

unsigned explore_choose(unsigned choice, unsigned count, unsigned useful) {
    if (chance.is_on)
        return choose_by_chance(choice, useful);
    if (next_deviation < played->count) {
        const struct deviation *next = &played->deviations[next_deviation];
        if (next->choice != choice)
            return 0;
        next_deviation++;
        return next->answer < count ? next->answer : 0;
    }
    if (useful > 1 && point_count < CHOICES_MAX)
        points[point_count++] = (struct point) { choice, useful };
    return 0;
}

static double now_s(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC); /* the machine has the other clocks */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const char *play(void (*scene)(void), const struct schedule *schedule) {
    played = schedule;
    next_deviation = 0;
    point_count = 0;
    return machine_run(scene);
}

/* ---- all of them */

struct search {
    void (*scene)(void);
    double end_s;
    struct search_result *result;
    bool is_over;
    struct schedule schedule;
};

static void extend(struct search *search, unsigned bound);

static void extend_at(struct search *search, struct point point, unsigned bound) {
    struct schedule *schedule = &search->schedule;
    for (unsigned answer = 1; answer < point.answers && !search->is_over; answer++) {
        schedule->deviations[schedule->count++] = (struct deviation) { point.choice, answer };
        extend(search, bound);
        schedule->count--;
    }
}

/* Plays the schedule, and all that deviate after its last deviation up to `bound` in all. */
static void extend(struct search *search, unsigned bound) {
    const char *failure = play(search->scene, &search->schedule);
    /* Those that follow have points of their own. As few bytes as there are: millions of schedules do this. */
    unsigned count = search->schedule.count == bound ? 0 : point_count;
    struct point *own = malloc((count + 1) * sizeof(*own));
    memcpy(own, points, count * sizeof(*own));
    search->result->schedules++;
    if (failure != NULL) {
        search->result->failure = failure;
        search->result->schedule = search->schedule;
        search->is_over = true;
    } else if (now_s() > search->end_s || machine_found_shared) {
        search->is_over = true;
    }
    for (unsigned i = 0; i < count && !search->is_over; i++)
        extend_at(search, own[i], bound);
    free(own);
}

/* With fewer deviations first, so that the first failure is a short one. */
struct search_result search_all(void (*scene)(void), unsigned bound, double seconds) {
    struct search_result result = { 0 };
    double begin_s = now_s();
    machine_forget_shared();
    unsigned reached = 0;
    uint64_t before = 0; /* schedules with fewer deviations */
    while (reached <= bound && result.failure == NULL && now_s() <= begin_s + seconds) {
        struct search search = { .scene = scene, .end_s = begin_s + seconds, .result = &result };
        machine_found_shared = false;
        result.schedules = 0;
        extend(&search, reached);
        if (!search.is_over) /* if it found no more of them, these are all that there are */
            reached = result.schedules == before ? bound + 1 : reached + 1;
        before = search.is_over ? 0 : result.schedules;
    }
    result.is_exhaustive = reached > bound;
    result.seconds = now_s() - begin_s;
    return result;
}

/* ---- random ones */

struct search_result search_random(void (*scene)(void), uint64_t seed, double seconds) {
    struct search_result result = { 0 };
    double begin_s = now_s();
    machine_forget_shared();
    chance.is_on = true;
    chance.record = &result.schedule;
    while (result.failure == NULL && now_s() <= begin_s + seconds) {
        chance.state = seed + result.schedules++;
        chance.one_in = 4u << draw() % 5;
        result.schedule.count = 0;
        result.failure = play(scene, &result.schedule);
    }
    chance.is_on = false;
    result.seconds = now_s() - begin_s;
    return result;
}

/* ---- one */

const char *search_replay(void (*scene)(void), const struct schedule *schedule, bool tell) {
    if (tell)
        play(scene, schedule); /* from which the machine learns what is shared: only that is told */
    machine_tells = tell;
    const char *failure = play(scene, schedule);
    machine_tells = false;
    return failure;
}

static struct schedule without(const struct schedule *schedule, unsigned index) {
    struct schedule less = *schedule;
    less.count--;
    for (unsigned i = index; i < less.count; i++)
        less.deviations[i] = less.deviations[i + 1];
    return less;
}

void search_shrink(struct schedule *schedule, bool (*fails)(const struct schedule *less)) {
    for (unsigned i = 0; i < schedule->count;) {
        struct schedule less = without(schedule, i);
        bool is_needless = fails(&less);
        *schedule = is_needless ? less : *schedule;
        i = is_needless ? 0 : i + 1;
    }
}
