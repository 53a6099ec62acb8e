/* SPDX-License-Identifier: MIT */
/*
 * words.c - atomic words: which of its values an operation may see, and where among them a new one comes.
 *
 * The values of a word are in the order of their modification, which need not be the one in which the stores are played. An
 * operation sees or follows each value that is no older than one which the thread knows: one that was written, or seen,
 * by a step that happened before. A read-modify-write comes right behind the value that it has seen, and nothing comes
 * between the two.
 */
#include "machine.h"
#include "memory.h"
#include "orders.h"

#include "../support/access_hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 4096u /* a power of 2 */
#define VALUES 8u   /* the last ones of a word that are known */

struct value {
    uint64_t value;
    unsigned writer;
    uint32_t seen[MACHINE_THREADS]; /* the first step at which a thread wrote or saw it; 0: none */
    uint32_t consistent;            /* the number of a sequentially consistent write; 0: another */
    bool is_bound;                  /* to the one before: a read-modify-write has changed that */
    bool releases;
    struct machine_past past; /* what a load with acquire learns, if it releases */
};

struct word {
    const volatile void *address;
    unsigned run;
    size_t size;
    unsigned count; /* at least one */
    struct value values[VALUES];
};

static struct word *words;         /* where the search for races sees no access */
static struct machine_past fenced; /* by sequentially consistent fences */
static uint32_t consistent_count;  /* sequentially consistent writes */
static unsigned changed;           /* which value the read-modify-write sees that has begun */

void memory_reset_words(void) {
    if (words == NULL)
        words = calloc(WORDS, sizeof(*words));
    if (words == NULL) {
        perror("explore: calloc");
        exit(1);
    }
    fenced = (struct machine_past) { 0 };
    consistent_count = 0;
}

static struct value *latest_of(struct word *word) {
    return &word->values[word->count - 1];
}

/* What has been written plainly happened before: no older value can be seen. */
static struct word *word_at(const volatile void *address, size_t size) {
    size_t i = (uintptr_t)address / 4 * 0x9e3779b1u % WORDS, probes = 0;
    while (words[i].run == memory_run && words[i].address != address) {
        i = (i + 1) % WORDS;
        if (++probes == WORDS)
            machine_fail("too many atomic words");
    }
    struct word *word = &words[i];
    uint64_t present = access_word(address, size);
    if (word->run != memory_run || word->size != size || latest_of(word)->value != present) {
        *word = (struct word) { .address = address, .run = memory_run, .size = size, .count = 1 };
        word->values[0].value = present;
    }
    return word;
}

static bool acquires(int order) {
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(int order) {
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* ---- what a step may see, or follow: a set, one bit for each value */

/* By a sequentially consistent order of all such operations and fences. */
static bool is_consistent_before(const struct value *value) {
    uint32_t written = value->seen[value->writer];
    return value->consistent != 0 || (written != 0 && written <= fenced.steps[value->writer]);
}

static bool is_known(const struct value *value, int order) {
    const struct machine_past *past = &machine_self->past;
    for (unsigned i = 0; i < MACHINE_THREADS; i++)
        if (value->seen[i] != 0 &&
            (value->seen[i] <= past->steps[i] || value->seen[i] <= past->fenced[i]))
            return true;
    if (value->consistent != 0 && value->consistent <= past->consistent)
        return true;
    return order == __ATOMIC_SEQ_CST && is_consistent_before(value);
}

static unsigned visible(const struct word *word, int order) {
    unsigned set = 0;
    for (unsigned i = word->count; i-- > 0;) {
        set |= 1u << i;
        if (is_known(&word->values[i], order))
            break;
    }
    return set;
}

/* Those behind which no other value may come. */
static unsigned bound(const struct word *word) {
    unsigned set = 0;
    for (unsigned i = 1; i < word->count; i++)
        set |= word->values[i].is_bound ? 1u << (i - 1) : 0;
    return set;
}

/* Those with which a compare-and-swap fails. */
static unsigned unlike(const struct word *word, const uint64_t *expected) {
    unsigned set = 0;
    for (unsigned i = 0; expected != NULL && i < word->count; i++)
        set |= word->values[i].value != *expected ? 1u << i : 0;
    return set;
}

/* One of a set that includes the latest, which is the usual one. */
static unsigned choose(const struct word *word, unsigned set) {
    unsigned i = word->count - 1;
    unsigned skipped = machine_choose(word->address, (unsigned)__builtin_popcount(set));
    while (skipped > 0)
        skipped -= set >> --i & 1u;
    return i;
}

/* One of a set that a step sees. */
static unsigned choose_seen(const struct word *word, unsigned set) {
    return machine_must_see_latest() ? word->count - 1 : choose(word, set);
}

/* ---- steps */

static void note_seen(struct value *value) {
    unsigned me = machine_self->number;
    if (value->seen[me] == 0)
        value->seen[me] = machine_self->past.steps[me];
}

static void see(struct word *word, unsigned i, int order) {
    struct value *value = &word->values[i];
    note_seen(value);
    if (value->releases)
        machine_past_join(acquires(order) ? &machine_self->past : &machine_self->pending,
                          &value->past);
    machine_loaded(word->address, i == word->count - 1);
}

/* A value of this thread. */
static struct value make(uint64_t value, int order) {
    static const struct machine_past none;
    struct value made = { .value = value, .writer = machine_self->number };
    note_seen(&made);
    if (memcmp(&machine_self->released, &none, sizeof(none)) != 0) {
        made.releases = true;
        made.past = machine_self->released;
    }
    if (releases(order)) {
        made.releases = true;
        memory_release_to(&made.past);
    }
    if (order == __ATOMIC_SEQ_CST)
        made.consistent = ++consistent_count;
    return made;
}

/* Puts a value behind one of the word, and returns the latest. */
static uint64_t insert(struct word *word, unsigned behind, const struct value *value) {
    if (word->count == VALUES) { /* the oldest is forgotten */
        for (unsigned i = 1; i < VALUES; i++)
            word->values[i - 1] = word->values[i];
        word->count--;
        behind--; /* no less than -1: all that are left are newer then */
    }
    unsigned at = behind + 1;
    for (unsigned i = word->count++; i > at; i--)
        word->values[i] = word->values[i - 1];
    word->values[at] = *value;
    return latest_of(word)->value;
}

uint64_t hook_load(const volatile void *address, size_t size, int order, const void *code) {
    if (!memory_is_recorded())
        return access_word(address, size);
    machine_step(address, "loads", code);
    memory_note_atomic(address, size, false, code);
    struct word *word = word_at(address, size);
    order = orders_of(code, order);
    unsigned i = choose_seen(word, visible(word, order));
    see(word, i, order);
    return word->values[i].value;
}

uint64_t hook_store(const volatile void *address, size_t size, uint64_t value, int order,
                    const void *code) {
    if (!memory_is_recorded())
        return value;
    machine_step(address, "stores", code);
    memory_note_atomic(address, size, true, code);
    struct word *word = word_at(address, size);
    order = orders_of(code, order);
    unsigned behind = choose(word, visible(word, order) & ~bound(word));
    bool is_latest = behind == word->count - 1;
    struct value made = make(value, order);
    uint64_t latest = insert(word, behind, &made);
    if (is_latest)
        machine_changed(address);
    return latest;
}

uint64_t hook_begin_change(const volatile void *address, size_t size, int order,
                           const uint64_t *expected, const void *code) {
    if (!memory_is_recorded())
        return access_word(address, size);
    machine_step(address, "changes", code);
    memory_note_atomic(address, size, false, code);
    struct word *word = word_at(address, size);
    order = orders_of(code, order);
    changed = choose_seen(word, visible(word, order) & (~bound(word) | unlike(word, expected)));
    return word->values[changed].value;
}

uint64_t hook_end_change(const volatile void *address, size_t size, uint64_t value, int order,
                         const void *code) {
    if (!memory_is_recorded())
        return value;
    struct word *word = word_at(address, size);
    order = orders_of(code, order);
    memory_note_atomic(address, size, true, code);
    struct value before = word->values[changed];
    bool is_latest = changed == word->count - 1;
    see(word, changed, order);
    struct value made = make(value, order);
    made.is_bound = true;
    if (before.releases) { /* a release sequence goes on */
        made.releases = true;
        machine_past_join(&made.past, &before.past);
    }
    uint64_t latest = insert(word, changed, &made);
    if (is_latest && value != before.value)
        machine_changed(address);
    return latest;
}

void hook_end_unchanged(const volatile void *address, size_t size, int order, const void *code) {
    if (memory_is_recorded())
        see(word_at(address, size), changed, orders_of(code, order));
}

/* A sequentially consistent one, behind all such fences so far. */
static void pass_fence(struct machine_past *past) {
    machine_past_join(&fenced, past);
    for (unsigned i = 0; i < MACHINE_THREADS; i++)
        past->fenced[i] = fenced.steps[i] > fenced.fenced[i] ? fenced.steps[i] : fenced.fenced[i];
    past->consistent = fenced.consistent = consistent_count;
}

void hook_fence(int order, const void *code) {
    if (!memory_is_recorded())
        return;
    order = orders_of(code, order);
    if (acquires(order))
        machine_past_join(&machine_self->past, &machine_self->pending);
    if (order == __ATOMIC_SEQ_CST)
        pass_fence(&machine_self->past);
    if (releases(order))
        memory_release_to(&machine_self->released);
}
