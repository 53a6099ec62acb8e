/* SPDX-License-Identifier: MIT */
/* test_relay_ask.c - requests to `htw relay http`: what a move asks for. */
#include "../../src/command/http.h"

#include "unit/unit.h"

UNIT_TEST(relay_ask_the_body_of_a_move_is_read) {
    static const struct {
        const char *body;
        int64_t at_ms; /* -1: wrong */
    } cases[] = {
        { "{\"at\":\"12.5\"}", 12500 },
        { " {\n\t\"at\" : \"1970-01-01T00:00:10Z\" }\r\n", 10000 },
        { "", -1 },
        { "{}", -1 },
        { "{\"at\":12}", -1 },
        { "{\"at\":\"\"}", -1 },
        { "{\"at\":\"soon\"}", -1 },
        { "{\"at\":\"12\"", -1 },
        { "{\"at\":\"12\"} x", -1 },
        { "{\"at\":\"12", -1 },
        { "{\"at\":\"1\\u0032\"}", -1 },
        { "{\"to\":\"12\"}", -1 },
        { "{\"at\":\"12\",\"at\":\"13\"}", -1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[512];
        int64_t at_ms = -1;
        snprintf(body, sizeof(body), "%s", cases[i].body);
        const char *why = htw__ask_when(body, &at_ms);
        assert_true((why == NULL) == (cases[i].at_ms >= 0));
        assert_int_equal(at_ms, cases[i].at_ms);
    }
}
