/* SPDX-License-Identifier: MIT */
/* observe.c - what is observed of a scheduler, as words. */
#include "observe.h"

#include "sample.h"

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
    size_t name_length;
    uint32_t on, off;
    struct htw__answer_text *text;
};

/* Reads a word, of which `sign` is '+', '-' or neither: then all others are switched off. */
static bool read_word(struct change *change, const char *word, size_t length, char sign) {
    if (sign != '+' && sign != '-')
        change->off = UINT32_MAX;
    if (length == 3 && memcmp(word, "off", 3) == 0)
        return change->off == UINT32_MAX;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (strlen(words[i].word) != length || memcmp(words[i].word, word, length) != 0)
            continue;
        if (sign == '-')
            change->off |= words[i].bit;
        else
            change->on |= words[i].bit;
        return true;
    }
    return false;
}

/* False: it is not `NAME WORD...`. */
static bool read_change(struct change *change, const char *arguments) {
    const char *word = arguments + strcspn(arguments, " ");
    change->name = arguments;
    change->name_length = (size_t)(word - arguments);
    if (change->name_length == 0 || *word == '\0')
        return false;
    while (*word == ' ') {
        char sign = *++word;
        word += sign == '+' || sign == '-';
        size_t length = strcspn(word, " ");
        if (!read_word(change, word, length, sign))
            return false;
        word += length;
    }
    return true;
}

static void apply(void *context, const struct htw__sample *sample) {
    struct change *change = context;
    struct htw_scheduler *scheduler = sample->source->of.scheduler;
    bool is_named = strlen(sample->name) == change->name_length &&
                    strncmp(sample->name, change->name, change->name_length) == 0;
    if (!is_named && strncmp(change->name, "* ", 2) != 0)
        return;
    int error = htw_scheduler_observe(
        scheduler, (htw_scheduler_observed(scheduler) & ~change->off) | change->on);
    htw__text_separate(change->text);
    htw__text_add(change->text, "{\"name\":\"%s\",\"observed\":", sample->name);
    htw__observed_write(htw_scheduler_observed(scheduler), change->text);
    if (error != 0)
        htw__text_add(change->text, ",\"error\":\"%s\"", htw_strerror(error));
    htw__text_add(change->text, "}");
}

const char *htw__observe(struct htw_monitor *monitor, const char *arguments,
                         struct htw__answer_text *text) {
    struct change change = { .text = text };
    struct htw__sources sources = htw__sources_now(monitor);
    if (!read_change(&change, arguments))
        return "observe needs the name of a scheduler, or *, and words: off, sites, events, stacks, "
               "+sites, -sites ...";
    htw__text_add(text, "{\"schedulers\":[");
    htw__sources_visit(&sources, HTW__SOURCE_SCHEDULER, apply, &change);
    if (htw__text_ends_with(text, '['))
        return "there is no scheduler of this name";
    htw__text_add(text, "]}\n");
    return NULL;
}
