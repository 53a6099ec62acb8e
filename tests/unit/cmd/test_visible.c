/* SPDX-License-Identifier: MIT */
/* test_visible.c - bytes as text that cannot change a terminal. */
#include "../../../programs/kit/visible.h"

#include "../unit.h"

static void assert_shown(const char *bytes, size_t size, const char *wanted) {
    char text[64];
    bool is_cut;
    size_t length = htw__visible_format(bytes, size, text, sizeof(text), &is_cut);
    assert_false(is_cut);
    assert_string_equal(text, wanted);
    assert_int_equal(length, strlen(wanted));
}

UNIT_TEST(visible_text_is_as_it_was) {
    assert_shown("", 0, "");
    assert_shown("a b~\\", 5, "a b~\\");
    assert_shown("\xc2\xa0\xc3\xbc\xe2\x82\xac\xf0\x9f\x95\x90", 11,
                 "\xc2\xa0\xc3\xbc\xe2\x82\xac\xf0\x9f\x95\x90");
}

UNIT_TEST(visible_controls_are_escaped) {
    assert_shown("\0\t\n\x1b[2J\x7f", 8, "\\x00\\x09\\x0a\\x1b[2J\\x7f");
    assert_shown("\xc2\x80\xc2\x9f\xc2\x9b", 6, "\\xc2\\x80\\xc2\\x9f\\xc2\\x9b");
}

/* U+202E reverses what follows, U+200B has no width, U+E0041 is a tag. */
/* holds: commands-1 */
UNIT_TEST(visible_format_characters_are_escaped) {
    static const struct {
        const char *character, *text, *json;
    } cases[] = {
        { "\xe2\x80\xae", "\\xe2\\x80\\xae", "\"\\u202e\"" },
        { "\xe2\x80\x8b", "\\xe2\\x80\\x8b", "\"\\u200b\"" },
        { "\xe2\x81\xa6", "\\xe2\\x81\\xa6", "\"\\u2066\"" },
        { "\xc2\xad", "\\xc2\\xad", "\"\\u00ad\"" },
        { "\xef\xbb\xbf", "\\xef\\xbb\\xbf", "\"\\ufeff\"" },
        { "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81", "\"\\udb40\\udc41\"" },
        { "\xe2\x80\xaf", "\xe2\x80\xaf", "\"\xe2\x80\xaf\"" }, /* a space */
        { "\xf0\x9f\x95\x90", "\xf0\x9f\x95\x90", "\"\xf0\x9f\x95\x90\"" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *json = NULL;
        size_t size;
        FILE *stream = open_memstream(&json, &size);
        assert_non_null(stream);
        htw__visible_write_json(stream, cases[i].character, strlen(cases[i].character));
        assert_int_equal(fclose(stream), 0);
        assert_string_equal(json, cases[i].json);
        free(json);
        assert_shown(cases[i].character, strlen(cases[i].character), cases[i].text);
    }
}

/* Cut short, too long a form, a surrogate, beyond Unicode: a terminal may take them for something else. */
UNIT_TEST(visible_bytes_of_no_character_are_escaped) {
    assert_shown("\x9b\xff\xc3", 3, "\\x9b\\xff\\xc3");
    assert_shown("\xc0\x9b\xe0\x80\x9b", 5, "\\xc0\\x9b\\xe0\\x80\\x9b");
    assert_shown("\xed\xa0\x80\xf4\x90\x80\x80", 7, "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
    assert_shown("\xe2\x82x", 3, "\\xe2\\x82x");
}
