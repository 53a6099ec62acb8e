/* SPDX-License-Identifier: MIT */
/* test_relay_ask.c - requests to `htw relay http`: what they ask for, and whether they may. */
#include "../../../src/cmd/relay/ask.h"

#include "../unit.h"

#include <inttypes.h>
#include <string.h>

#define TOKEN "0123456789abcdef"

static const struct htw__ask_guard local = { TOKEN, true }, remote = { TOKEN, false },
                                   without = { "", true };

/* A request that may do everything. */
static const struct htw__ask good = { .method = "GET",
                                      .path = "/waiting",
                                      .host = "localhost:8480",
                                      .type = "application/json",
                                      .authorization = "Bearer " TOKEN };

static unsigned status_of(const struct htw__ask *ask, const struct htw__ask_guard *guard) {
    return htw__ask_route(ask, guard).status;
}

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
        { "POST", "/waiting/a", NULL, HTW__RELAY_NO_ACTION, 405 },
        { "OPTIONS", "/waiting/a", NULL, HTW__RELAY_NO_ACTION, 405 },
        { "GET", "/waiting/", NULL, HTW__RELAY_NO_ACTION, 404 },
        { "GET", "/waitings", NULL, HTW__RELAY_NO_ACTION, 404 },
        { "GET", "", NULL, HTW__RELAY_NO_ACTION, 404 },
        { "GET", "//", NULL, HTW__RELAY_NO_ACTION, 404 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct htw__ask ask = good;
        ask.method = cases[i].method;
        ask.path = cases[i].path;
        struct htw__ask_target target = htw__ask_route(&ask, &local);
        assert_int_equal(target.status, cases[i].status);
        assert_int_equal(target.action, cases[i].action);
        if (cases[i].id == NULL)
            assert_null(target.id);
        else
            assert_string_equal(target.id, cases[i].id);
        assert_true((target.status == 0) == (target.why == NULL));
        assert_true((target.status == 405) == (target.methods != NULL));
    }
}

UNIT_TEST(relay_ask_changes_need_the_token_and_reads_do_where_others_come) {
    static const char *const wrong[] = { NULL,
                                         "",
                                         "Bearer",
                                         "Bearer ",
                                         TOKEN,
                                         "Basic " TOKEN,
                                         "Bearer 0123456789abcde",
                                         "Bearer " TOKEN "0",
                                         "Bearer " TOKEN TOKEN,
                                         "Bearer 0123456789abcdeF" };
    struct htw__ask ask = good;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        ask = good;
        ask.authorization = wrong[i];
        assert_int_equal(status_of(&ask, &local), 0);
        assert_int_equal(status_of(&ask, &remote), 401);
        ask.path = "/waiting/a";
        ask.method = "DELETE";
        assert_int_equal(status_of(&ask, &local), 401);
        assert_int_equal(status_of(&ask, &remote), 401);
        assert_int_equal(status_of(&ask, &without), 403);
        ask.method = "PATCH";
        assert_int_equal(status_of(&ask, &local), 401);
        ask.path = "/";
        ask.method = "GET"; /* the page says nothing of Kafka */
        assert_int_equal(status_of(&ask, &remote), 0);
    }
    ask = good;
    ask.authorization = "bearer " TOKEN;
    assert_int_equal(status_of(&ask, &remote), 0);
    ask.method = "DELETE";
    ask.path = "/waiting/a";
    assert_int_equal(status_of(&ask, &without), 403);
}

UNIT_TEST(relay_ask_hosts_that_could_be_led_here_are_refused) {
    static const char *const right[] = { "localhost",      "LOCALHOST:80", "127.0.0.1",
                                         "127.0.0.1:8480", "10.1.2.3:1",   "[::1]:8480" };
    static const char *const wrong[] = { "",
                                         "evil.example",
                                         "evil.example:8480",
                                         "127.0.0.1.evil.example",
                                         "1.evil.example:8480",
                                         "localhost.evil.example",
                                         "localhost:80.evil.example",
                                         "localhostile",
                                         "[::1].evil.example" };
    struct htw__ask ask = good;
    for (size_t i = 0; i < COUNT_OF(right); i++) {
        ask.host = right[i];
        assert_int_equal(status_of(&ask, &local), 0);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        ask.host = wrong[i];
        assert_int_equal(status_of(&ask, &local), 403);
        assert_int_equal(status_of(&ask, &remote), 0); /* the token decides */
    }
    ask.host = NULL;
    assert_int_equal(status_of(&ask, &local), 403);
}

UNIT_TEST(relay_ask_other_pages_are_refused) {
    static const struct {
        const char *origin, *site;
        unsigned status;
    } cases[] = {
        { NULL, NULL, 0 },
        { "http://localhost:8480", "same-origin", 0 },
        { "https://localhost:8480", NULL, 0 }, /* behind a proxy */
        { NULL, "none", 0 },
        { "null", NULL, 403 },
        { "http://localhost:8481", NULL, 403 },
        { "http://evil.example", NULL, 403 },
        { "http://evil.example", "cross-site", 403 },
        { NULL, "cross-site", 403 },
        { NULL, "same-site", 403 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct htw__ask ask = good;
        ask.origin = cases[i].origin;
        ask.site = cases[i].site;
        assert_int_equal(status_of(&ask, &local), cases[i].status);
        assert_int_equal(status_of(&ask, &remote), cases[i].status);
    }
}

UNIT_TEST(relay_ask_moves_are_json) {
    static const char *const wrong[] = { NULL, "", "text/plain",
                                         "application/x-www-form-urlencoded" };
    struct htw__ask ask = good;
    ask.method = "PATCH";
    ask.path = "/waiting/a";
    ask.type = "Application/JSON; charset=utf-8";
    assert_int_equal(status_of(&ask, &local), 0);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        ask.type = wrong[i];
        assert_int_equal(status_of(&ask, &local), 415);
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
        char body[HTW__ASK_BODY_MAX];
        int64_t at_ms = -1;
        snprintf(body, sizeof(body), "%s", cases[i].body);
        const char *why = htw__ask_when(body, &at_ms);
        assert_true((why == NULL) == (cases[i].at_ms >= 0));
        assert_int_equal(at_ms, cases[i].at_ms);
    }
}

UNIT_TEST(relay_ask_parameters_are_those_of_list) {
    struct htw__relay_command command = { .filter = HTW__WAITING_ALL, .limit = 100 };
    assert_null(htw__ask_set(&command, "to", "a"));
    assert_null(htw__ask_set(&command, "key", "b"));
    assert_null(htw__ask_set(&command, "grep", "c"));
    assert_null(htw__ask_set(&command, "from", "1"));
    assert_null(htw__ask_set(&command, "until", "2"));
    assert_null(htw__ask_set(&command, "limit", "1000"));
    assert_null(htw__ask_set(&command, "after", "5.0000000000000001.0000000000000002"));
    assert_string_equal(command.filter.to, "a");
    assert_string_equal(command.filter.key, "b");
    assert_string_equal(command.filter.text, "c");
    assert_int_equal(command.filter.from_ms, 1000);
    assert_int_equal(command.filter.until_ms, 2000);
    assert_int_equal(command.filter.after.wanted_ms, 5);
    assert_int_equal(command.limit, 1000);
    assert_non_null(htw__ask_set(&command, "limit", "1001"));
    assert_non_null(htw__ask_set(&command, "limit", "0"));
    assert_non_null(htw__ask_set(&command, "from", "soon"));
    assert_non_null(htw__ask_set(&command, "until", ""));
    assert_non_null(htw__ask_set(&command, "after", "5"));
    assert_non_null(htw__ask_set(&command, "brokers", "x"));
}

UNIT_TEST(relay_ask_tokens_are_long_and_plain) {
    static const char *const wrong[] = {
        "", "\n", "short", "0123456789abcde", TOKEN " more", "0123456789\xc3\xa4-abcdef"
    };
    struct htw__ask_guard guard = { "", true };
    char text[HTW__ASK_TOKEN_MAX + 2];
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_non_null(htw__ask_set_token(&guard, wrong[i]));
    assert_string_equal(guard.token, "");
    memset(text, 'x', sizeof(text));
    text[HTW__ASK_TOKEN_MAX + 1] = '\0';
    assert_non_null(htw__ask_set_token(&guard, text));
    assert_null(htw__ask_set_token(&guard, text + 1));
    assert_string_equal(guard.token, text + 1);
    assert_null(htw__ask_set_token(&guard, " " TOKEN "\r\n"));
    assert_string_equal(guard.token, TOKEN);
}
