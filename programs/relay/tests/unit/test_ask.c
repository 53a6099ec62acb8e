/* SPDX-License-Identifier: MIT */
/* test_relay_ask.c - requests to `htw relay http`: what they ask for, and whether they may. */
#include "../../src/command/http.h"

#include "unit/unit.h"

#define TOKEN "0123456789abcdef"

static const struct htw__http_guard local = { .token = TOKEN, .is_local = true };

/* A request that may do everything. */
static const struct htw__http_ask good = { .method = "GET",
                                           .path = "/waiting",
                                           .host = "localhost:8480",
                                           .type = "application/json",
                                           .authorization = "Bearer " TOKEN };

UNIT_TEST(relay_ask_paths_and_methods_lead_to_actions) {
    static const struct {
        const char *method, *path, *id;
        enum htw__relay_action action;
        unsigned status;
    } cases[] = {
        { "GET", "/", NULL, HTW__RELAY_NO_ACTION, 0 },
        { "GET", "/waiting", NULL, HTW__RELAY_LIST, 0 },
        { "GET", "/waiting/a", "a", HTW__RELAY_SHOW, 0 },
        { "GET", "/waiting/a/b", "a/b", HTW__RELAY_SHOW, 0 },
        { "DELETE", "/waiting/a", "a", HTW__RELAY_CANCEL, 0 },
        { "PATCH", "/waiting/a", "a", HTW__RELAY_MOVE, 0 },
        { "POST", "/", NULL, HTW__RELAY_NO_ACTION, 405 },
        { "DELETE", "/waiting", NULL, HTW__RELAY_NO_ACTION, 405 },
        { "GET", "/waiting/", NULL, HTW__RELAY_NO_ACTION, 404 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct htw__http_ask ask = good;
        ask.method = cases[i].method;
        ask.path = cases[i].path;
        struct htw__http_target target = htw__http_find(&htw__ask_routes, &ask, &local);
        assert_int_equal(target.status, cases[i].status);
        assert_true((target.route != NULL) == (target.status == 0));
        if (target.route != NULL)
            assert_int_equal(target.route->action, cases[i].action);
        if (cases[i].id != NULL)
            assert_string_equal(target.name, cases[i].id);
        assert_true((target.status == 0) == (target.why == NULL));
        assert_true((target.status == 405) == (target.methods[0] != '\0'));
    }
}

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
