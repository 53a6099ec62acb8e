/* SPDX-License-Identifier: MIT */
/* observe.c - what is observed of a scheduler, as words. */
#include "sample.h"
#include "writers.h"

#include <string.h>

static const struct {
    const char *word;
    uint32_t bit;
} words[] = {
    { "sites", HTW_OBSERVE_SITES },
    { "events", HTW_OBSERVE_EVENTS },
    { "stacks", HTW_OBSERVE_STACKS },
};

#define WORD_COUNT (sizeof(words) / sizeof(words[0]))

void htw__observed_write(uint32_t observed, struct htw__answer_text *text) {
    htw__text_add(text, "[");
    for (size_t i = 0; i < WORD_COUNT; i++)
        if ((observed & words[i].bit) != 0) {
            htw__text_separate(text);
            htw__text_add(text, "\"%s\"", words[i].word);
        }
    htw__text_add(text, "]");
}

/* What a client asks for. */
struct change {
    const char *name; /* of a scheduler, or "*" */
    uint32_t on, off;
    struct htw__answer_text *text;
};

/* Reads a word. Without a sign it switches all others off. */
static bool read_word(struct change *change, const char *word) {
    char sign = *word;
    bool has_sign = sign == '+' || sign == '-';
    word += has_sign;
    if (!has_sign)
        change->off = UINT32_MAX;
    if (!has_sign && strcmp(word, "off") == 0)
        return true;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (strcmp(words[i].word, word) != 0)
            continue;
        *(sign == '-' ? &change->off : &change->on) |= words[i].bit;
        return true;
    }
    return false;
}

/* False: it is not `NAME WORD...`. */
static bool read_change(struct change *change, char *arguments) {
    char *rest, *word;
    change->name = strtok_r(arguments, " ", &rest);
    if (change->name == NULL || (word = strtok_r(NULL, " ", &rest)) == NULL)
        return false;
    while (word != NULL && read_word(change, word))
        word = strtok_r(NULL, " ", &rest);
    return word == NULL;
}

static void apply(void *context, const struct htw__sample *sample) {
    struct change *change = context;
    struct htw_scheduler *scheduler = sample->source->of.scheduler;
    if (strcmp(change->name, sample->source->name) != 0 && strcmp(change->name, "*") != 0)
        return;
    int error = htw_scheduler_observe(
        scheduler, (htw_scheduler_observed(scheduler) & ~change->off) | change->on);
    htw__text_separate(change->text);
    htw__text_add(change->text, "{\"name\":\"%s\",\"observed\":", sample->source->name);
    htw__observed_write(htw_scheduler_observed(scheduler), change->text);
    if (error != 0)
        htw__text_add(change->text, ",\"error\":\"%s\"", htw_strerror(error));
    htw__text_add(change->text, "}");
}

const char *htw__observe(struct htw_monitor *monitor, char *arguments,
                         struct htw__answer_text *text) {
    struct change change = { .text = text };
    if (!read_change(&change, arguments))
        return "observe needs the name of a scheduler, or *, and words: off, sites, events, stacks, "
               "+sites, -sites ...";
    htw__text_add(text, "{\"schedulers\":[");
    htw__sources_visit(monitor, HTW__SOURCE_SCHEDULER, apply, &change);
    if (htw__text_ends_with(text, '['))
        return "there is no scheduler of this name";
    htw__text_add(text, "]}\n");
    return NULL;
}
