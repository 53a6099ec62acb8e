/* SPDX-License-Identifier: MIT */
/*
 * litmus.c - what the machine's memory allows and forbids: small programs, all of whose schedules are played.
 *
 *   litmus [NAME]...
 *
 * Each program must have exactly the outcomes that C11 (RC11) gives it: one that is missing makes the memory too strong,
 * and mistakes are not found; one too many makes it too weak, and correct code fails. An outcome is the values of the
 * registers that the program sets, in their order, then those of the words whose end it shows.
 */
#include "explore.h"
#include "machine.h"
#include "search.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4
#define REGISTERS 4
#define OUTCOMES 32
#define NONE (-1)

static _Atomic int x, y, z;
static int data; /* plain */
static int r[REGISTERS];
static pthread_mutex_t mutex;

#define STORE(word, value, order) atomic_store_explicit(&(word), (value), memory_order_##order)
#define LOAD(word, order) atomic_load_explicit(&(word), memory_order_##order)
#define ADD(word, value, order) atomic_fetch_add_explicit(&(word), (value), memory_order_##order)
#define FENCE(order) atomic_thread_fence(memory_order_##order)

/* From `from` to `to`; the value that was there. */
#define SWAP(word, from, to, order, failed) \
    swap(&(word), (from), (to), memory_order_##order, memory_order_##failed)
static inline __attribute__((always_inline)) int swap(_Atomic int *word, int from, int to,
                                                      memory_order order, memory_order failed) {
    atomic_compare_exchange_strong_explicit(word, &from, to, order, failed);
    return from;
}

#define BODY(name, ...)      \
    static void name(void) { \
        __VA_ARGS__;         \
    }

/* ---- store buffering: each thread stores, then loads what the other one stores */

#define BUFFERING(name, store, between, load)                         \
    BODY(name##_1, STORE(x, 1, store); between; r[0] = LOAD(y, load)) \
    BODY(name##_2, STORE(y, 1, store); between; r[1] = LOAD(x, load))

BUFFERING(sb_relaxed, relaxed, (void)0, relaxed)
BUFFERING(sb_acq_rel, release, (void)0, acquire)
BUFFERING(sb_seq_cst, seq_cst, (void)0, seq_cst)
BUFFERING(sb_fences, relaxed, FENCE(seq_cst), relaxed)
BUFFERING(sb_weak_fences, relaxed, FENCE(acq_rel), relaxed)
BUFFERING(sb_changes, relaxed, ADD(z, 0, acq_rel), relaxed) /* the second sees the first */
BUFFERING(sb_acquiring, relaxed, ADD(z, 0, acquire), relaxed)
BUFFERING(sb_store_only, seq_cst, (void)0, acquire)

/* ---- a message: data, then a flag */

#define MESSAGE(name, store, before, after, load)                    \
    BODY(name##_1, STORE(x, 1, relaxed); before; STORE(y, 1, store)) \
    BODY(name##_2, r[0] = LOAD(y, load); after; r[1] = LOAD(x, relaxed))

MESSAGE(mp_relaxed, relaxed, (void)0, (void)0, relaxed)
MESSAGE(mp_acq_rel, release, (void)0, (void)0, acquire)
MESSAGE(mp_release, release, (void)0, (void)0, relaxed)
MESSAGE(mp_acquire, relaxed, (void)0, (void)0, acquire)
MESSAGE(mp_fences, relaxed, FENCE(release), FENCE(acquire), relaxed)
MESSAGE(mp_one_fence, relaxed, FENCE(release), (void)0, relaxed)
MESSAGE(mp_fence_acquire, relaxed, FENCE(release), (void)0, acquire)
MESSAGE(mp_release_fence, release, (void)0, FENCE(acquire), relaxed)

/* A consistent load may see what a store that is not left behind. */
BODY(mp_mixed_2, r[0] = LOAD(y, relaxed); r[1] = LOAD(x, seq_cst))

#define DATA(name, store, load)                  \
    BODY(name##_1, data = 1; STORE(y, 1, store)) \
    BODY(name##_2, r[0] = LOAD(y, load); if (r[0]) r[1] = data)

DATA(data_acq_rel, release, acquire)
DATA(data_release, release, relaxed)
DATA(data_acquire, relaxed, acquire)

/* Sequentially consistent fences order no plain accesses, unless a load before the second sees a store behind the first. If
   thread 2 sees z, thread 1 has seen no y, so its fence is the first. */
BODY(data_fence_1, data = 1; FENCE(seq_cst); r[0] = LOAD(y, relaxed);
     if (r[0] == 0) STORE(z, 1, relaxed))
BODY(data_fence_2, STORE(y, 1, relaxed); FENCE(seq_cst); if (LOAD(z, relaxed)) r[1] = data)
BODY(data_fences_1, data = 1; FENCE(seq_cst); STORE(x, 1, relaxed))
BODY(data_fences_2, r[0] = LOAD(x, relaxed); FENCE(seq_cst); if (r[0]) r[1] = data)

/* ---- two writers, two readers */

BODY(set_x, STORE(x, 1, relaxed))
BODY(set_y, STORE(y, 1, relaxed))
BODY(release_x, STORE(x, 1, release))
BODY(release_y, STORE(y, 1, release))
BODY(consistent_x, STORE(x, 1, seq_cst))
BODY(consistent_y, STORE(y, 1, seq_cst))

#define READERS(name, first, between, second)                              \
    BODY(name##_1, r[0] = LOAD(x, first); between; r[1] = LOAD(y, second)) \
    BODY(name##_2, r[2] = LOAD(y, first); between; r[3] = LOAD(x, second))

READERS(iriw_acquire, acquire, (void)0, acquire)
READERS(iriw_seq_cst, seq_cst, (void)0, seq_cst)
READERS(iriw_fences, relaxed, FENCE(seq_cst), relaxed)

/* ---- the order of stores to two words */

#define WRITERS(name, first, between, second)                        \
    BODY(name##_1, STORE(x, 1, first); between; STORE(y, 2, second)) \
    BODY(name##_2, STORE(y, 1, first); between; STORE(x, 2, second))

WRITERS(w22_relaxed, relaxed, (void)0, relaxed)
WRITERS(w22_release, relaxed, (void)0, release)
WRITERS(w22_seq_cst, seq_cst, (void)0, seq_cst)
WRITERS(w22_fences, relaxed, FENCE(seq_cst), relaxed)

#define STORE_AND_LOAD(name, store, between, load)                  \
    BODY(name##_1, STORE(x, 1, store); between; STORE(y, 1, store)) \
    BODY(name##_2, STORE(y, 2, store); between; r[0] = LOAD(x, load))

STORE_AND_LOAD(r_acq_rel, release, (void)0, acquire)
STORE_AND_LOAD(r_seq_cst, seq_cst, (void)0, seq_cst)
STORE_AND_LOAD(r_fences, relaxed, FENCE(seq_cst), relaxed)

/* Consistent stores beside a fence. */
BODY(r_mixed_1, STORE(x, 1, seq_cst); STORE(y, 1, seq_cst))
BODY(r_mixed_2, STORE(y, 2, relaxed); FENCE(seq_cst); r[0] = LOAD(x, relaxed))

BODY(s_relaxed_1, STORE(x, 2, relaxed); STORE(y, 1, relaxed))
BODY(s_release_1, STORE(x, 2, relaxed); STORE(y, 1, release))
BODY(s_relaxed_2, r[0] = LOAD(y, relaxed); STORE(x, 1, relaxed))
BODY(s_acquire_2, r[0] = LOAD(y, acquire); STORE(x, 1, relaxed))

/* ---- loads before stores: no value comes from the future */

BODY(lb_1, r[0] = LOAD(x, relaxed); STORE(y, 1, relaxed))
BODY(lb_2, r[1] = LOAD(y, relaxed); STORE(x, 1, relaxed))

/* ---- one word */

BODY(store_1_2, STORE(x, 1, relaxed); STORE(x, 2, relaxed))
BODY(load_twice, r[0] = LOAD(x, relaxed); r[1] = LOAD(x, relaxed))
BODY(store_3_load, STORE(x, 3, relaxed); r[0] = LOAD(x, relaxed))

/* ---- what one thread has seen, a third one sees */

BODY(wrc_2, r[0] = LOAD(x, acquire); STORE(y, 1, release))
BODY(wrc_relaxed_2, r[0] = LOAD(x, relaxed); STORE(y, 1, relaxed))
BODY(wrc_3, r[1] = LOAD(y, acquire); r[2] = LOAD(x, relaxed))

/* ---- release sequences */

BODY(rs_1, data = 1; STORE(x, 1, release))
BODY(rs_change, ADD(x, 2, relaxed))
BODY(rs_store, STORE(x, 3, relaxed))
BODY(rs_reader, r[0] = LOAD(x, acquire); if (r[0] & 1) r[1] = data)
BODY(rs_own_store, data = 1; STORE(x, 1, release); STORE(x, 3, relaxed))
BODY(rs_fence, data = 1; FENCE(release); STORE(x, 1, relaxed))

/* ---- read-modify-writes */

BODY(add_1, r[0] = ADD(x, 1, relaxed))
BODY(add_2, r[1] = ADD(x, 1, relaxed))
BODY(swap_1, r[0] = SWAP(x, 0, 1, relaxed, relaxed))
BODY(swap_2, r[1] = SWAP(x, 0, 2, relaxed, relaxed))
/* One that sees an old value comes right behind it. */
BODY(late_1, STORE(x, 5, relaxed); STORE(y, 1, relaxed))
BODY(late_release_1, STORE(x, 5, relaxed); STORE(y, 1, release))
BODY(late_2, r[0] = LOAD(y, relaxed); r[1] = ADD(x, 1, relaxed))
BODY(late_acquire_2, r[0] = LOAD(y, acquire); r[1] = ADD(x, 1, relaxed))
BODY(bound_1, ADD(x, 5, relaxed); STORE(y, 1, relaxed))
BODY(fail_2, r[0] = LOAD(y, relaxed); r[1] = SWAP(x, 7, 8, relaxed, relaxed))
/* One that fails acquires as its second order says. */
BODY(failed_acquire, r[0] = SWAP(y, 7, 8, release, acquire); r[1] = LOAD(x, relaxed))
BODY(failed_relaxed, r[0] = SWAP(y, 7, 8, acquire, relaxed); r[1] = LOAD(x, relaxed))
BODY(swapped_acquire, r[0] = SWAP(y, 1, 2, acquire, relaxed); r[1] = LOAD(x, relaxed))
BODY(swapped_release, STORE(x, 1, relaxed); SWAP(y, 0, 1, release, relaxed))
BODY(swapped_relaxed, STORE(x, 1, relaxed); SWAP(y, 0, 1, relaxed, relaxed))

/* ---- mutexes */

static void locked(void) {
    pthread_mutex_lock(&mutex);
    data++;
    pthread_mutex_unlock(&mutex);
}

BODY(not_locked, data++)

/* ---- all of them */

struct litmus {
    const char *name;
    void (*bodies[THREADS])(void);
    const char *ends; /* words whose last value is part of the outcome */
    const char *outcomes;
    unsigned deviations; /* of its schedules, at most; 0: all are played */
    bool races;          /* one of them has a race */
};

#define TWO(name) \
    { name##_1, name##_2 }

static const struct litmus all[] = {
    { "sb-relaxed", TWO(sb_relaxed), "", "00 01 10 11", 0, false },
    { "sb-acq-rel", TWO(sb_acq_rel), "", "00 01 10 11", 0, false },
    { "sb-seq-cst", TWO(sb_seq_cst), "", "01 10 11", 0, false },
    { "sb-fences", TWO(sb_fences), "", "01 10 11", 0, false },
    { "sb-weak-fences", TWO(sb_weak_fences), "", "00 01 10 11", 0, false },
    { "sb-one-fence", { sb_fences_1, sb_relaxed_2 }, "", "00 01 10 11", 0, false },
    { "sb-changes", TWO(sb_changes), "", "01 10 11", 0, false },
    { "sb-acquiring", TWO(sb_acquiring), "", "00 01 10 11", 0, false },
    { "sb-store-only", TWO(sb_store_only), "", "00 01 10 11", 0, false },
    { "sb-fence-and-seq-cst", { sb_fences_1, sb_seq_cst_2 }, "", "01 10 11", 0, false },
    { "mp-relaxed", TWO(mp_relaxed), "", "00 01 10 11", 0, false },
    { "mp-acq-rel", TWO(mp_acq_rel), "", "00 01 11", 0, false },
    { "mp-release", TWO(mp_release), "", "00 01 10 11", 0, false },
    { "mp-acquire", TWO(mp_acquire), "", "00 01 10 11", 0, false },
    { "mp-fences", TWO(mp_fences), "", "00 01 11", 0, false },
    { "mp-one-fence", TWO(mp_one_fence), "", "00 01 10 11", 0, false },
    { "mp-fence-acquire", TWO(mp_fence_acquire), "", "00 01 11", 0, false },
    { "mp-release-fence", TWO(mp_release_fence), "", "00 01 11", 0, false },
    { "mp-mixed", { mp_relaxed_1, mp_mixed_2 }, "", "00 01 10 11", 0, false },
    { "data-acq-rel", TWO(data_acq_rel), "", "0- 11", 0, false },
    { "data-release", TWO(data_release), "", NULL, 0, true },
    { "data-acquire", TWO(data_acquire), "", NULL, 0, true },
    { "data-fence", TWO(data_fence), "", NULL, 0, true },
    { "data-fences", TWO(data_fences), "", "0- 11", 0, false },
    { "iriw-acquire",
      { release_x, release_y, iriw_acquire_1, iriw_acquire_2 },
      "",
      "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111",
      7,
      false },
    { "iriw-seq-cst",
      { consistent_x, consistent_y, iriw_seq_cst_1, iriw_seq_cst_2 },
      "",
      "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111",
      7,
      false },
    { "iriw-fences",
      { set_x, set_y, iriw_fences_1, iriw_fences_2 },
      "",
      "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111",
      7,
      false },
    { "2+2w-relaxed", TWO(w22_relaxed), "xy", "11 12 21 22", 0, false },
    { "2+2w-release", TWO(w22_release), "xy", "11 12 21 22", 0, false },
    { "2+2w-seq-cst", TWO(w22_seq_cst), "xy", "12 21 22", 0, false },
    { "2+2w-fences", TWO(w22_fences), "xy", "12 21 22", 0, false },
    { "r-acq-rel", TWO(r_acq_rel), "y", "01 02 11 12", 0, false },
    { "r-seq-cst", TWO(r_seq_cst), "y", "01 11 12", 0, false },
    { "r-fences", TWO(r_fences), "y", "01 11 12", 0, false },
    { "r-mixed", { r_mixed_1, r_mixed_2 }, "y", "01 11 12", 0, false },
    { "s-relaxed", TWO(s_relaxed), "x", "01 02 11 12", 0, false },
    { "s-release", { s_release_1, s_acquire_2 }, "x", "01 02 11", 0, false },
    { "lb-relaxed", TWO(lb), "", "00 01 10", 0, false },
    { "one-word", { store_1_2, load_twice }, "", "00 01 02 11 12 22", 0, false },
    { "one-word-own", { store_1_2, store_3_load }, "x", "12 22 32 33", 0, false },
    { "wrc-acq-rel", { release_x, wrc_2, wrc_3 }, "", "000 001 010 011 100 101 111", 0, false },
    { "wrc-relaxed",
      { set_x, wrc_relaxed_2, wrc_3 },
      "",
      "000 001 010 011 100 101 110 111",
      0,
      false },
    { "sequence-of-changes", { rs_1, rs_change, rs_reader }, "", "0- 11 2- 31", 0, false },
    { "sequence-broken", { rs_1, rs_store, rs_reader }, "", NULL, 0, true },
    { "sequence-own-store", { rs_own_store, rs_reader }, "", NULL, 0, true },
    { "sequence-of-fence", { rs_fence, rs_change, rs_reader }, "", "0- 11 2- 31", 0, false },
    { "add-twice", { add_1, add_2 }, "x", "012 102", 0, false },
    { "swap-twice", { swap_1, swap_2 }, "x", "011 202", 0, false },
    { "change-of-old", { late_1, late_2 }, "x", "005 056 105 156", 0, false },
    { "change-of-new", { late_release_1, late_acquire_2 }, "x", "005 056 156", 0, false },
    { "fail-with-old", { late_1, fail_2 }, "x", "005 055 105 155", 0, false },
    { "fail-with-bound", { bound_1, fail_2 }, "", "00 05 10 15", 0, false },
    { "failed-acquires", { mp_acq_rel_1, failed_acquire }, "", "00 01 11", 0, false },
    { "failed-relaxed", { mp_acq_rel_1, failed_relaxed }, "", "00 01 10 11", 0, false },
    { "swapped-acquires", { mp_acq_rel_1, swapped_acquire }, "", "00 01 11", 0, false },
    { "swapped-releases", { swapped_release, mp_acq_rel_2 }, "", "00 01 11", 0, false },
    { "swapped-relaxed", { swapped_relaxed, mp_acq_rel_2 }, "", "00 01 10 11", 0, false },
    { "mutex", { locked, locked }, "d", "2", 0, false },
    { "mutex-of-one", { locked, not_locked }, "", NULL, 0, true },
};

static const struct litmus *played;
static char outcomes[OUTCOMES][8];
static unsigned outcome_count;

static void *run(void *body) {
    (*(void (**)(void))body)();
    return NULL;
}

static int end_of(char word) {
    return word == 'x' ? LOAD(x, relaxed) : word == 'y' ? LOAD(y, relaxed) : data;
}

static unsigned registers_of(const struct litmus *litmus) {
    const char *first = litmus->outcomes;
    return first == NULL ? 0 : (unsigned)(strcspn(first, " ") - strlen(litmus->ends));
}

static void note_outcome(void) {
    char text[8] = "";
    unsigned count = 0;
    for (unsigned i = 0; i < registers_of(played); i++)
        text[count++] = r[i] == NONE ? '-' : (char)('0' + r[i]);
    for (const char *word = played->ends; *word != '\0'; word++)
        text[count++] = (char)('0' + end_of(*word));
    for (unsigned i = 0; i < outcome_count; i++)
        if (strcmp(outcomes[i], text) == 0)
            return;
    if (outcome_count < OUTCOMES)
        strcpy(outcomes[outcome_count++], text);
}

static void play(void) {
    pthread_t threads[THREADS];
    unsigned count = 0;
    x = y = z = 0;
    data = 0;
    for (unsigned i = 0; i < REGISTERS; i++)
        r[i] = NONE;
    pthread_mutex_init(&mutex, NULL);
    for (; count < THREADS && played->bodies[count] != NULL; count++)
        pthread_create(&threads[count], NULL, run, (void *)&played->bodies[count]);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    note_outcome();
}

/* ---- what must be */

static bool has(const char *list, const char *outcome) {
    size_t size = strlen(outcome);
    for (; list != NULL && *list != '\0'; list += strcspn(list, " "), list += *list == ' ')
        if (strncmp(list, outcome, size) == 0 && (list[size] == ' ' || list[size] == '\0'))
            return true;
    return false;
}

static unsigned count_of(const char *list) {
    unsigned count = 1;
    for (; *list != '\0'; list++)
        count += *list == ' ';
    return count;
}

static bool is_right(const struct litmus *litmus, const struct search_result *result) {
    if (litmus->races)
        return result->failure != NULL;
    if (result->failure != NULL || !result->is_exhaustive)
        return false;
    for (unsigned i = 0; i < outcome_count; i++)
        if (!has(litmus->outcomes, outcomes[i]))
            return false;
    return outcome_count == count_of(litmus->outcomes);
}

static bool try_one(const struct litmus *litmus) {
    played = litmus;
    outcome_count = 0;
    unsigned deviations = litmus->deviations == 0 ? DEVIATIONS_MAX : litmus->deviations;
    struct search_result result = search_all(play, deviations, 60);
    bool right = is_right(litmus, &result);
    printf("%-22s %7llu schedules, ", litmus->name, (unsigned long long)result.schedules);
    if (result.failure != NULL)
        printf("%s: %s\n", right ? "a race" : "FAILED", result.failure);
    else
        printf("%s\n", right ? litmus->outcomes : "FAILED");
    if (right || result.failure != NULL)
        return right;
    printf("   must be: %s\n   were:   ", litmus->races ? "a race" : litmus->outcomes);
    for (unsigned i = 0; i < outcome_count; i++)
        printf(" %s", outcomes[i]);
    printf("%s\n", result.is_exhaustive ? "" : ", NOT all");
    return false;
}

void explore_tell(unsigned step, unsigned thread, const char *what, const volatile void *object,
                  const void *code) {
    printf("%u %u %s %p %p\n", step, thread, what, (const void *)(uintptr_t)object, code);
}

int main(int argc, char **argv) {
    unsigned failed = 0, count = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        bool is_wanted = argc < 2;
        for (int k = 1; k < argc; k++)
            is_wanted |= strcmp(argv[k], all[i].name) == 0;
        count += is_wanted;
        failed += is_wanted && !try_one(&all[i]);
    }
    printf("%u programs, %u failed\n", count, failed);
    return count == 0 || failed != 0;
}
