/* SPDX-License-Identifier: MIT */
/* test_replay_flight.c - flight records: their lines, what is counted, the table and the page. */
#include "../../../programs/replay/flight.h"

#include "../unit.h"

#include <htw/base.h>

static struct htw__flight flight;

static void setup(void) {
    htw__flight_init(&flight);
}

static void teardown(void) {
    htw__flight_fini(&flight);
}

#define FLIGHT_TEST(name) UNIT_TEST_BETWEEN(setup, teardown, name)

/* NULL, or what is wrong with the first bad line. */
static const char *take(const char *lines) {
    const char *why = NULL;
    while (*lines != '\0' && why == NULL) {
        size_t size = strcspn(lines, "\n");
        why = htw__flight_take(&flight, lines, size);
        lines += size + (lines[size] == '\n');
    }
    return why;
}

#define HEAD                                                                                    \
    "{\"htw\":\"1\",\"kind\":\"events\",\"format\":1,\"program\":\"p\",\"pid\":7,\"clock_ns\":" \
    "9000000000,\"wall_ns\":1000000000000,\"schedulers\":[{\"name\":\"s\",\"tick_ns\":1000000," \
    "\"wheel_size\":4},{\"name\":\"t\",\"tick_ns\":1000,\"wheel_size\":8}]}\n"
#define SITES                                                                         \
    "{\"site\":0,\"name\":\"idle\",\"file\":\"a.c\",\"line\":3,\"function\":\"f\"}\n" \
    "{\"site\":1,\"name\":null,\"symbol\":\"on_retry\",\"address\":\"0x12\"}\n"       \
    "{\"site\":2,\"address\":\"0x34\"}\n"                                             \
    "{\"site\":3,\"name\":\"poll\",\"symbol\":\"on_poll\"}\n"

/* Two schedulers, one after the other: handle 5 is of both. Time goes from 1000 ms to 1300 ms. */
#define EVENTS                                         \
    "[1000000000,\"armed\",0,0,\"5\",1005000000]\n"    \
    "[1001000000,\"armed\",0,1,\"6\",1050000000]\n"    \
    "[1002000000,\"moved\",0,1,\"6\",1100000000]\n"    \
    "[1005100000,\"woken\",0,0,\"5\",100000]\n"        \
    "[1005200000,\"started\",0,0,\"5\",200000]\n"      \
    "[1006200000,\"ended\",0,0,\"5\",1000000]\n"       \
    "[1020000000,\"cancelled\",0,1,\"6\"]\n"           \
    "[1200000000,\"something\",0,1,\"6\",{\"a\":1}]\n" \
    "[1300000000,\"armed\",0,3,\"a0\",null]\n"         \
    "[1003000000,\"ended\",1,2,\"5\",2000000]\n"       \
    "[1211000000,\"started\",1,2,\"5\",11000000]\n"    \
    "[1215000000,\"woken\",1,-1,0]\n"

FLIGHT_TEST(flight_counts_by_site) {
    assert_null(take(HEAD SITES EVENTS "{\"events\":12,\"lost\":3}"));
    assert_int_equal(htw__flight_finish(&flight), 0);
    assert_int_equal(flight.event_count, 11);
    assert_int_equal(flight.lost, 3);
    assert_int_equal(flight.earlier, 1);
    assert_true(flight.is_whole);
    assert_int_equal(flight.begin_ns, 1000000000);
    assert_int_equal(flight.end_ns, 1300000000);
    assert_int_equal(flight.site_count, 5);
    static const struct {
        const char *name, *place;
        uint64_t armed, moved, cancelled, expired, late, callback_ns, wakeups;
    } wanted[] = {
        { "idle", "f() a.c:3", 1, 0, 0, 1, 0, 1000000, 1 },
        { "nothing due", "the timer had been cancelled or moved", 0, 0, 0, 0, 0, 0, 1 },
        { "0x34", "", 0, 0, 0, 2, 1, 2000000, 0 },
        { "on_retry", "", 1, 1, 1, 0, 0, 0, 0 },
        { "poll", "callback on_poll", 1, 0, 0, 0, 0, 0, 0 },
    };
    for (size_t i = 0; i < flight.site_count; i++) {
        const struct htw__flight_site *site = &flight.sites[i];
        assert_string_equal(site->name, wanted[i].name);
        assert_string_equal(site->place, wanted[i].place);
        assert_int_equal(site->armed, wanted[i].armed);
        assert_int_equal(site->moved, wanted[i].moved);
        assert_int_equal(site->cancelled, wanted[i].cancelled);
        assert_int_equal(site->expired, wanted[i].expired);
        assert_int_equal(site->late, wanted[i].late);
        assert_int_equal(site->callback_ns, wanted[i].callback_ns);
        assert_int_equal(site->wakeups, wanted[i].wakeups);
    }
}

/* In order of time. A run without its end has no duration, one without its start is known by its end. */
FLIGHT_TEST(flight_marks_are_runs_and_wakeups) {
    static const struct htw__flight_mark wanted[] = {
        { 1001000000, HTW__FLIGHT_NONE, 2000000, 2, false },
        { 1005100000, 100000, HTW__FLIGHT_NONE, 0, true },
        { 1005200000, 200000, 1000000, 0, false },
        { 1211000000, 11000000, HTW__FLIGHT_NONE, 2, false },
        { 1215000000, HTW__FLIGHT_NONE, HTW__FLIGHT_NONE, 1, true },
    };
    assert_null(take(HEAD SITES EVENTS));
    assert_int_equal(htw__flight_finish(&flight), 0);
    assert_false(flight.is_whole);
    assert_int_equal(flight.mark_count, 5);
    for (size_t i = 0; i < flight.mark_count; i++) {
        assert_int_equal(flight.marks[i].time_ns, wanted[i].time_ns);
        assert_int_equal(flight.marks[i].late_ns, wanted[i].late_ns);
        assert_int_equal(flight.marks[i].duration_ns, wanted[i].duration_ns);
        assert_int_equal(flight.marks[i].site, wanted[i].site);
        assert_int_equal(flight.marks[i].is_wakeup, wanted[i].is_wakeup);
    }
}

FLIGHT_TEST(flight_says_of_a_site_what_is_known) {
    static const struct {
        const char *members, *name, *place;
    } table[] = {
        { "", "not known", "" },
        { ",\"name\":\"\",\"function\":\"f\"", "f", "f()" },
        { ",\"name\":\"n\",\"function\":\"f\",\"symbol\":\"s\"", "n", "f()" },
        { ",\"name\":\"n\",\"file\":\"a.c\",\"line\":8", "n", "a.c:8" },
        { ",\"name\":\"n\",\"symbol\":\"s\",\"address\":\"0x1\"", "n", "callback s" },
        { ",\"address\":\"0x1\"", "0x1", "" },
        { ",\"name\":7,\"function\":null,\"file\":[],\"line\":-1", "not known", "" },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char lines[1024];
        snprintf(lines, sizeof(lines), HEAD "{\"site\":0%s}", table[i].members);
        assert_null(take(lines));
        assert_string_equal(flight.sites[0].name, table[i].name);
        assert_string_equal(flight.sites[0].place, table[i].place);
        htw__flight_fini(&flight);
    }
}

FLIGHT_TEST(flight_is_refused_with_a_reason) {
    static const struct {
        const char *lines, *why;
    } table[] = {
        { "", NULL },
        { "x", "not a line of a flight record" },
        { "7", "not a line of a flight record" },
        { "[1,\"woken\",0,-1,0]", "not a flight record" },
        { "{\"site\":0}", "not a flight record" },
        { "{\"htw\":\"1\",\"format\":1}", "not a flight record" },
        { "{\"htw\":\"1\",\"kind\":\"events\",\"format\":2}",
          "the flight record is of a newer version than htw replay" },
        { HEAD HEAD, "another flight record begins" },
        { HEAD "{\"site\":1}", "the number of the site is not the next one" },
        { HEAD "[1,\"woken\",2,-1,0]", "not an event" },
        { HEAD "[1,\"woken\",-1,-1,0]", "not an event" },
        { HEAD "[1,\"woken\",0,0,0]", "not an event" },
        { HEAD "[1,\"woken\",0,-2,0]", "not an event" },
        { HEAD "[1,\"woken\",0,-1,1]", "not an event" },
        { HEAD "[1,\"woken\",0,-1,\"\"]", "not an event" },
        { HEAD "[1,\"woken\",0,-1,\"-1\"]", "not an event" },
        { HEAD "[1,\"woken\",0,-1,\"11111111111111111\"]", "not an event" },
        { HEAD "[1,\"woken\",0,-1,0,\"1\"]", "not an event" },
        { HEAD "[1.5,\"woken\",0,-1,0]", "not an event" },
        { HEAD "[1,2,0,-1,0]", "not an event" },
        { HEAD "[1]", "not an event" },
        { HEAD "{\"events\":1}", "the last line counts other events than there are" },
        { HEAD "{\"events\":0}\n{}", "a line after the last one" },
        { HEAD "{\"more\":0}\n{\"events\":0,\"lost\":-1}", NULL },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const char *why = take(table[i].lines);
        assert_why(why, table[i].why);
        htw__flight_fini(&flight);
    }
}
