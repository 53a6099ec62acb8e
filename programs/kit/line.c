/* SPDX-License-Identifier: MIT */
/* line.c - divides a record of the input into delay and message. */
#include "line.h"

#include "duration.h"
#include "instant.h"
#include "terminal.h"
#include "visible.h"

#include <inttypes.h>

/* As much of a bad word as the error message repeats. */
#define WORD_SHOWN 40

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

const char *htw__line_parse(const char *bytes, size_t size, struct htw__line *ret_line) {
    const char *end = bytes + size;
    while (bytes < end && is_blank(*bytes))
        bytes++;
    const char *word_end = bytes;
    while (word_end < end && !is_blank(*word_end))
        word_end++;

    struct htw__line *line = ret_line;
    line->word = bytes;
    line->word_size = (size_t)(word_end - bytes);
    line->message = word_end < end ? word_end + 1 : end;
    line->message_size = (size_t)(end - line->message);
    if (line->word_size == 0)
        return "empty line";
    line->is_instant = *bytes == '@';
    if (line->is_instant)
        return htw__instant_parse(bytes + 1, line->word_size - 1, &line->when_ns);
    return htw__duration_parse(bytes, line->word_size, &line->when_ns);
}

void htw__line_report(const struct htw__line *line, struct htw__input *input, const char *why) {
    char word[WORD_SHOWN + 1];
    bool is_cut;
    if (!htw__terminal_shows(&input->errors))
        return;
    htw__visible_format(line->word == NULL ? "" : line->word, line->word_size, word, sizeof(word),
                        &is_cut);
    htw__terminal_error("%s:%" PRIu64 ": %s%s%s%s", input->name, htw__input_line(input), why,
                        line->word_size > 0 ? ": " : "", word, is_cut ? "..." : "");
}
