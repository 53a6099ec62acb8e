/* SPDX-License-Identifier: MIT */
/* test_http_ask.c - requests over HTTP: which route they take, and whether they may. */
/* holds: serve-12, relay-19 */
#include "../../../programs/kit/http/ask.h"

#include "../unit.h"

#define TOKEN "0123456789abcdef"

static const struct htw__http_guard local = { .token = TOKEN, .is_local = true },
                                    remote = { .token = TOKEN }, without = { .is_local = true },
                                    owners = { .is_local = true, .is_owners = true };

static const struct htw__http_route all[] = {
    { "GET", "/", HTW__HTTP_PAGE, 0, false },
    { "GET", "/health", HTW__HTTP_HEALTH, 6, false },
    { "GET", "/a", HTW__HTTP_READ, 1, false },
    { "GET", "/a/*", HTW__HTTP_READ, 2, false },
    { "DELETE", "/a/*", HTW__HTTP_CHANGE, 3, false },
    { "PATCH", "/a/*", HTW__HTTP_CHANGE, 4, false },
    { "POST", "/b/*/kick", HTW__HTTP_CHANGE, 5, false },
};
static const struct htw__http_routes routes = { all, COUNT_OF(all), "other paths" };

/* A request that may do everything. */
static const struct htw__http_ask good = {
    .method = "GET", .path = "/a", .host = "localhost:8480", .authorization = "Bearer " TOKEN
};

static unsigned status_of(const struct htw__http_ask *ask, const struct htw__http_guard *guard) {
    return htw__http_find(&routes, ask, guard).status;
}

UNIT_TEST(http_ask_paths_and_methods_lead_to_routes) {
    static const struct {
        const char *method, *path;
        int action; /* -1: none */
        const char *name, *methods;
    } cases[] = {
        { "GET", "/", 0, "", "" },
        { "GET", "/a", 1, "", "" },
        { "HEAD", "/a", 1, "", "" },
        { "HEAD", "/a/x", 2, "x", "" },
        { "GET", "/health", 6, "", "" },
        { "HEAD", "/b/x/kick", -1, "", "POST" },
        { "GET", "/a/b/kick", 2, "b/kick", "" },
        { "POST", "/b/x/kick", 5, "x", "" },
        { "POST", "/b/x/y/kick", 5, "x/y", "" },
        { "POST", "/a/b", -1, "", "GET, HEAD, DELETE, PATCH" },
        { "get", "/a", -1, "", "GET, HEAD" },
        { "GET", "/b/x/kick", -1, "", "POST" },
        { "POST", "/b//kick", -1, "", "" },
        { "POST", "/b/kick", -1, "", "" },
        { "POST", "/b/x/kicks", -1, "", "" },
        { "GET", "/a/", -1, "", "" },
        { "GET", "", -1, "", "" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct htw__http_ask ask = good;
        ask.method = cases[i].method;
        ask.path = cases[i].path;
        struct htw__http_target target = htw__http_find(&routes, &ask, &local);
        assert_string_equal(target.methods, cases[i].action < 0 ? cases[i].methods : "");
        if (cases[i].action < 0) {
            assert_int_equal(target.status, cases[i].methods[0] == '\0' ? 404 : 405);
            continue;
        }
        assert_int_equal(target.status, 0);
        assert_int_equal(target.route->action, cases[i].action);
        assert_int_equal(target.name_size, strlen(cases[i].name));
        assert_memory_equal(target.name, cases[i].name, target.name_size);
    }
}

UNIT_TEST(http_ask_changes_need_no_token_where_only_the_owner_comes) {
    struct htw__http_ask ask = good;
    ask.method = "DELETE";
    ask.path = "/a/x";
    ask.authorization = NULL;
    assert_int_equal(status_of(&ask, &owners), 0);
    assert_int_equal(status_of(&ask, &without), 403);
    assert_int_equal(status_of(&ask, &local), 401);
    ask.origin = "http://evil.example";
    assert_int_equal(status_of(&ask, &owners), 403);
}

UNIT_TEST(http_ask_changes_need_the_token_and_reads_do_where_others_come) {
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
    struct htw__http_ask ask = good;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        ask = good;
        ask.authorization = wrong[i];
        assert_int_equal(status_of(&ask, &local), 0);
        assert_int_equal(status_of(&ask, &remote), 401);
        ask.path = "/a/b";
        ask.method = "DELETE";
        assert_int_equal(status_of(&ask, &local), 401);
        assert_int_equal(status_of(&ask, &remote), 401);
        assert_int_equal(status_of(&ask, &without), 403);
        ask.method = "PATCH";
        assert_int_equal(status_of(&ask, &local), 401);
        ask.path = "/";
        ask.method = "GET"; /* the page tells nothing */
        assert_int_equal(status_of(&ask, &remote), 0);
    }
    ask = good;
    ask.authorization = "bearer " TOKEN;
    assert_int_equal(status_of(&ask, &remote), 0);
    ask.method = "DELETE";
    ask.path = "/a/b";
    assert_int_equal(status_of(&ask, &without), 403);
}

UNIT_TEST(http_ask_hosts_that_could_be_led_here_are_refused) {
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
    struct htw__http_ask ask = good;
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

UNIT_TEST(http_ask_hosts_that_are_listed_are_taken) {
    static const char *const right[] = { "relay.tools.svc", "RELAY.tools.svc:8480", "b",
                                         "localhost" };
    static const char *const wrong[] = {
        "", ":80", ",", "relay", "relay.tools.svc.evil.example", "relay.tools.svc,b", "c"
    };
    struct htw__http_guard guard = local;
    struct htw__http_ask ask = good;
    guard.hosts = "relay.tools.svc,,b";
    for (size_t i = 0; i < COUNT_OF(right); i++) {
        ask.host = right[i];
        assert_int_equal(status_of(&ask, &guard), 0);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        ask.host = wrong[i];
        assert_int_equal(status_of(&ask, &guard), 403);
    }
}

/* What asks for it has neither a token nor a name that anybody knows. */
UNIT_TEST(http_ask_health_is_for_all) {
    const struct htw__http_ask ask = { .method = "HEAD", .path = "/health", .host = "10-1.pod" };
    assert_int_equal(status_of(&ask, &local), 0);
    assert_int_equal(status_of(&ask, &remote), 0);
}

UNIT_TEST(http_ask_other_pages_are_refused) {
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
        struct htw__http_ask ask = good;
        ask.origin = cases[i].origin;
        ask.site = cases[i].site;
        assert_int_equal(status_of(&ask, &local), cases[i].status);
        assert_int_equal(status_of(&ask, &remote), cases[i].status);
    }
}

UNIT_TEST(http_ask_tokens_are_long_and_plain) {
    static const char *const wrong[] = {
        "", "\n", "short", "0123456789abcde", TOKEN " more", "0123456789\xc3\xa4-abcdef"
    };
    struct htw__http_guard guard = { .is_local = true };
    char text[HTW__HTTP_TOKEN_MAX + 2];
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_non_null(htw__http_set_token(&guard, wrong[i]));
    assert_string_equal(guard.token, "");
    memset(text, 'x', sizeof(text));
    text[HTW__HTTP_TOKEN_MAX + 1] = '\0';
    assert_non_null(htw__http_set_token(&guard, text));
    assert_null(htw__http_set_token(&guard, text + 1));
    assert_string_equal(guard.token, text + 1);
    assert_null(htw__http_set_token(&guard, " " TOKEN "\r\n"));
    assert_string_equal(guard.token, TOKEN);
}
