/* SPDX-License-Identifier: MIT */
/*
 * answer.h - the answer of a monitor, which is JSON, and may come from any program.
 *
 * Members that are missing, or of another kind, count as 0 or as empty: a monitor of another version can be shown.
 */
#ifndef HTW_TOP_ANSWER_H
#define HTW_TOP_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads an answer. NULL, or why it is none, a static sentence. */
const char *htw__answer_read(const char *bytes, size_t size, json_t **ret_answer);

/* A number; a negative one counts as 0. */
uint64_t htw__answer_number(const json_t *object, const char *name);

/* A string as it is. */
const char *htw__answer_string(const json_t *object, const char *name);

/* The beginning of a string, as text of which a terminal shows each character. Returns `text`. */
#define HTW__ANSWER_TEXT_SIZE 256
char *htw__answer_text(const json_t *object, const char *name, char text[HTW__ANSWER_TEXT_SIZE]);

/* Makes a text such a one. */
void htw__answer_clean(char *text);

/* Whether an array, as far as it is looked at, has a word. */
bool htw__answer_has(const json_t *words, const char *word);

#endif /* HTW_TOP_ANSWER_H */
