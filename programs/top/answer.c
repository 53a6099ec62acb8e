/* SPDX-License-Identifier: MIT */
/* answer.c - reads the answer of a monitor. */
#include "answer.h"

#include <stdio.h>
#include <string.h>

#define FORMAT 1

/*
 * What an answer takes as a tree is estimated before it becomes one: `{},` is three bytes, and 240 in memory. The
 * figures are those of jansson on 64 bits, rounded up. 4 MiB of shards, which take most, are 45 MiB: a monitor
 * of tens of thousands of shards is not shown.
 */
#define TREE_MAX ((size_t)64 * 1024 * 1024)
#define OBJECT_BYTES 256u
#define PLACES_BYTES 128u /* of an array; or of a member, its name included */
#define VALUE_BYTES 32u

static size_t bytes_for(char c) {
    switch (c) {
    case '{':
        return OBJECT_BYTES;
    case '[':
    case ':':
        return PLACES_BYTES;
    case ',':
        return VALUE_BYTES;
    default:
        return 0;
    }
}

/* What stands in strings counts, too: those of a monitor have names only. */
static bool is_tree_small(const char *bytes, size_t size) {
    size_t tree = 0;
    for (size_t i = 0; i < size && tree <= TREE_MAX; i++)
        tree += bytes_for(bytes[i]);
    return tree <= TREE_MAX;
}

const char *htw__answer_read(const char *bytes, size_t size, json_t **ret_answer) {
    *ret_answer = NULL;
    if (!is_tree_small(bytes, size))
        return "the answer is greater than that of any monitor";
    json_t *answer = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, NULL);
    uint64_t format = htw__answer_number(answer, "format");
    if (format == FORMAT) {
        *ret_answer = answer;
        return NULL;
    }
    json_decref(answer);
    return format == 0 ? "the answer is not that of a monitor"
                       : "the monitor is of a newer version than htw top";
}

uint64_t htw__answer_number(const json_t *object, const char *name) {
    json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 ? (uint64_t)value : 0;
}

const char *htw__answer_string(const json_t *object, const char *name) {
    const char *value = json_string_value(json_object_get(object, name));
    return value == NULL ? "" : value;
}

void htw__answer_clean(char *text) {
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

char *htw__answer_text(const json_t *object, const char *name, char text[HTW__ANSWER_TEXT_SIZE]) {
    snprintf(text, HTW__ANSWER_TEXT_SIZE, "%s", htw__answer_string(object, name));
    htw__answer_clean(text);
    return text;
}

bool htw__answer_observes(const json_t *scheduler, const char *what) {
    const json_t *words = json_object_get(scheduler, "observed");
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        if (word != NULL && strcmp(word, what) == 0)
            return true;
    }
    return false;
}
