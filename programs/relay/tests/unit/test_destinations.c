/* SPDX-License-Identifier: MIT */
/* test_destinations.c - to which topics the relay delivers. */
#include "../../src/destinations.h"

#include "unit/unit.h"

static const char *const patterns[] = { "orders.*", "audit" };
static const char *const own[] = { "in", "in.l0", "orders.dead" };
static char topic[HTW__TOPIC_NAME_SIZE];

static const char *choose(const char *to, const char *default_topic) {
    const struct htw__destinations destinations = { patterns, COUNT_OF(patterns), own,
                                                    COUNT_OF(own), default_topic };
    struct htw__bytes none = { NULL, 0 };
    return htw__destinations_choose(&destinations, to == NULL ? none : htw__bytes_of(to), topic);
}

/* holds: relay-14 */
UNIT_TEST(destinations_that_match_are_allowed) {
    assert_null(choose("orders.eu", NULL));
    assert_string_equal(topic, "orders.eu");
    assert_null(choose("audit", NULL));
    assert_non_null(choose("audit2", NULL));
    assert_non_null(choose("order", NULL));
}

/* holds: relay-14 */
UNIT_TEST(destinations_own_topics_are_never_allowed) {
    assert_non_null(choose("orders.dead", NULL)); /* though it matches */
    assert_non_null(choose("in.l0", "in.l0"));
}

UNIT_TEST(destinations_default_is_allowed) {
    assert_null(choose(NULL, "plain"));
    assert_string_equal(topic, "plain");
    assert_null(choose("plain", "plain"));
    assert_string_equal(choose(NULL, NULL),
                        "no htw-deliver-to, and the relay has no default topic");
}
