/* SPDX-License-Identifier: MIT */
/*
 * fuzz_top.c - answers of a monitor as `htw top` reads and draws them: two, with a zero byte between, or one
 * twice. The first byte says how they are drawn. Nothing but text gets to the terminal.
 */
#include "fuzz.h"

#include "../../programs/top/draw.h"

static void check_page(struct htw__page *page) {
    size_t lines = 0;
    FUZZ_CHECK(!page->has_failed);
    for (const char *line = htw__page_first(page); line != NULL;
         line = htw__page_next(page, line)) {
        for (const unsigned char *at = (const unsigned char *)line; *at != '\0'; at++) {
            FUZZ_CHECK(*at < HTW__STYLE_END || (*at >= ' ' && *at != 127));
            FUZZ_CHECK(at[0] != 0xc2 || at[1] >= 0xa0); /* the second set of control characters */
        }
        lines++;
    }
    FUZZ_CHECK(lines == page->line_count);
}

/* Nothing is cut off where there is room for what cannot be parted. */
static void check_width(struct htw__page *page, unsigned width) {
    for (const char *line = htw__page_first(page); width > 40 && line != NULL;
         line = htw__page_next(page, line)) {
        size_t end = htw__page_width(line);
        for (const char *last = line + strlen(line);
             last > line && (last[-1] == ' ' || last[-1] < HTW__STYLE_END); last--)
            end -= last[-1] == ' ';
        FUZZ_CHECK(end <= width);
    }
}

static void draw(uint8_t form, const json_t *before, const json_t *now) {
    struct htw__view view = {
        .page = (enum htw__page_kind)(form % HTW__PAGE_COUNT),
        .sort = (enum htw__sort)(form % 5),
        .is_ascii = form >> 4 & 1,
    };
    struct htw__page page = { .stream = NULL };
    htw__page_clear(&page, 20u + (form >> 5) * 40u);
    htw__draw(&view, before, now, &page);
    check_page(&page);
    check_width(&page, page.width);
    htw__page_free(&page);
}

static void run(const uint8_t *data, size_t size) {
    json_t *first, *second;
    if (size == 0)
        return;
    const char *text = (const char *)data + 1;
    const char *end = memchr(text, '\0', size - 1);
    size_t length = end == NULL ? size - 1 : (size_t)(end - text);
    const char *why = htw__answer_read(text, length, &first);
    FUZZ_CHECK((why == NULL) == (first != NULL));
    if (why == NULL)
        draw(*data, NULL, first);
    if (end != NULL) {
        text = end + 1;
        length = size - 2 - length;
    }
    if (htw__answer_read(text, length, &second) == NULL)
        draw(*data, first, second);
    json_decref(first);
    json_decref(second);
}

/* Sorted by the rate. */
#define HEAD "\2{\"format\":1,"

static const struct fuzz_attack attacks[] = {
    { "empty sources", HEAD "\"wheels\":[{}", "]}", { ",{}" } },
    { "sources of different names", HEAD "\"wheels\":[{}", "]}", { ",{\"name\":\"%zu\"}" } },
    { "sources of one name", HEAD "\"schedulers\":[{}", "]}", { ",{\"name\":\"a\"}" } },
    { "empty shards", HEAD "\"schedulers\":[{\"shards\":[{}", "]}]}", { ",{}" } },
    { "numbers", HEAD "\"wheels\":[0", "]}", { ",0" } },
    { "members", HEAD "\"a\":0", "}", { ",\"%zu\":0" } },
    { "levels", HEAD "\"wheels\":[{\"levels\":[{}", "]}]}", { ",{}" } },
    { "sites", HEAD "\"schedulers\":[{\"sites\":[{}", "]}]}", { ",{}" } },
    { "sites of different names",
      HEAD "\"schedulers\":[{\"sites\":[{}",
      "]}]}",
      { ",{\"name\":\"%zu\"}" } },
    { "words of what is observed",
      HEAD "\"schedulers\":[{\"observed\":[\"a\"",
      "]}]}",
      { ",\"sites\"" } },
    { "parts of a level", HEAD "\"wheels\":[{\"levels\":[{\"timers\":[0", "]}]}]}", { ",0" } },
    { "arrays in arrays", HEAD "\"wheels\":", "", { "[" } },
    { "objects in objects", "\2", "", { "{\"\":" } },
    { "a long name", HEAD "\"program\":\"", "\"}", { "a" } },
    { "escapes", HEAD "\"program\":\"", "\"}", { "\\u0041" } },
    { "digits", HEAD "\"pid\":", "", { "9" } },
    { "blanks", "\2", "", { " " } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "top",
    .run = run,
    .memory = { 12 << 20, 250 },
    .steps = { 4000000, 110 },
    .attacks = attacks,
};
