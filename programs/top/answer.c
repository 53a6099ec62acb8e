/* SPDX-License-Identifier: MIT */
/* answer.c - reads the answer of a monitor. */
#include "answer.h"

#include <stdio.h>
#include <string.h>

#define FORMAT 1
#define WORDS_MAX 64

/* Its tree takes up to a hundred times as much. Thousands of shards fit. */
#define ANSWER_MAX ((size_t)2 << 20)

const char *htw__answer_read(const char *bytes, size_t size, json_t **ret_answer) {
    *ret_answer = NULL;
    if (size > ANSWER_MAX)
        return "the answer is larger than htw top reads";
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

bool htw__answer_has(const json_t *words, const char *word) {
    for (size_t i = 0; i < json_array_size(words) && i < WORDS_MAX; i++) {
        const char *one = json_string_value(json_array_get(words, i));
        if (one != NULL && strcmp(one, word) == 0)
            return true;
    }
    return false;
}
