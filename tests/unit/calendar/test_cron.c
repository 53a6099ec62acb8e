/* SPDX-License-Identifier: MIT */
/* test_cron.c - cron expressions: what is read, what is refused and where, and how it is written. */
#include "../../support/random.h"
#include "../unit.h"

#include <htw/calendar.h>

static struct htw_calendar cron(const char *expression) {
    struct htw_calendar calendar;
    size_t position = 0;
    if (htw_calendar_cron(&calendar, expression, &position) != 0)
        fail_msg("'%s' is refused at %zu", expression, position);
    return calendar;
}

static void assert_same(const char *one, const char *other) {
    struct htw_calendar first = cron(one), second = cron(other);
    if (memcmp(&first, &second, sizeof(first)) != 0)
        fail_msg("'%s' is not '%s'", one, other);
}

UNIT_TEST(cron_writings_of_the_same_expression_are_the_same_calendar) {
    assert_same("0 3 * * 1-5", "  0\t3  *  *  MON-Fri ");
    assert_same("0,5,10-12 3 * * *", "10-12,5,0,5 3 * * *");
    assert_same("*/20 3 * * *", "0,20,40 3 * * *");
    assert_same("5/20 3 * * *", "5,25,45 3 * * *");
    assert_same("0 3 * * 0", "0 3 * * 7");
    assert_same("0 3 * * fri-sun", "0 3 * * 5-7");
    assert_same("0 3 * * 6-7", "0 3 * * 0,6");
    assert_same("0 3 * * sun-sun", "0 3 * * 0");
    assert_same("0 3 * jan,DEC *", "0 3 * 1,12 *");
    assert_same("0 3 * APR,AUG SAT", "0 3 * apr,aug sat");
    assert_same("0 3 l * *", "0 3 L * *");
    assert_same("0 3 * * 5l", "0 3 * * friL");
    assert_same("0 3 * * 7L,7#2", "0 3 * * 0L,0#2");
    assert_same("0 3 * * mon-sun", "0 3 * * 1-7");
    assert_same("0 3 * * 5#1,5#2,5#3,5#4,5#5", "0 3 * * 5");
    assert_same("0 0 3 * * *", "0 3 * * *");
    assert_same("*/60 3 * * *", "0 3 * * *");
}

UNIT_TEST(cron_macros_are_their_expressions) {
    assert_same("@yearly", "0 0 1 1 *");
    assert_same("@annually", "0 0 1 1 *");
    assert_same("@monthly", "0 0 1 * *");
    assert_same("@weekly", "0 0 * * 0");
    assert_same("@daily", "0 0 * * *");
    assert_same("@midnight", "0 0 * * *");
    assert_same(" @hourly\t", "0 * * * *");
}

UNIT_TEST(cron_calls_for_common_calendars_are_expressions) {
    struct htw_calendar calendar, expected = cron("30 3 * * *");
    assert_int_equal(htw_calendar_daily(&calendar, 3, 30, 0), 0);
    assert_memory_equal(&calendar, &expected, sizeof(calendar));
    expected = cron("15 30 3 * * mon-fri");
    assert_int_equal(htw_calendar_weekly(&calendar, HTW_WEEKDAYS, 3, 30, 15), 0);
    assert_memory_equal(&calendar, &expected, sizeof(calendar));
    expected = cron("0 0 * * *");
    assert_int_equal(htw_calendar_weekly(&calendar, HTW_EVERY_DAY, 0, 0, 0), 0);
    assert_memory_equal(&calendar, &expected, sizeof(calendar));
    expected = cron("59 23 L * *");
    assert_int_equal(htw_calendar_monthly(&calendar, -1, 23, 59, 0), 0);
    assert_memory_equal(&calendar, &expected, sizeof(calendar));
    expected = cron("0 12 31 * *");
    assert_int_equal(htw_calendar_monthly(&calendar, 31, 12, 0, 0), 0);
    assert_memory_equal(&calendar, &expected, sizeof(calendar));
}

UNIT_TEST(cron_calls_with_values_out_of_range_are_refused) {
    struct htw_calendar calendar = cron("1 2 3 4 5"), untouched = calendar;
    static const int times[][3] = { { -1, 0, 0 }, { 24, 0, 0 }, { 0, -1, 0 },
                                    { 0, 60, 0 }, { 0, 0, -1 }, { 0, 0, 60 } };
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        const int *at = times[i];
        assert_int_equal(htw_calendar_daily(&calendar, at[0], at[1], at[2]), -EINVAL);
        assert_int_equal(htw_calendar_weekly(&calendar, HTW_MONDAY, at[0], at[1], at[2]), -EINVAL);
        assert_int_equal(htw_calendar_monthly(&calendar, 1, at[0], at[1], at[2]), -EINVAL);
    }
    assert_int_equal(htw_calendar_weekly(&calendar, 0, 0, 0, 0), -EINVAL);
    assert_int_equal(htw_calendar_weekly(&calendar, 0x80, 0, 0, 0), -EINVAL);
    static const int days[] = { 0, 32, -2 };
    for (size_t i = 0; i < COUNT_OF(days); i++)
        assert_int_equal(htw_calendar_monthly(&calendar, days[i], 0, 0, 0), -EINVAL);
    assert_int_equal(htw_calendar_daily(NULL, 0, 0, 0), -EINVAL);
    assert_int_equal(htw_calendar_weekly(NULL, HTW_MONDAY, 0, 0, 0), -EINVAL);
    assert_int_equal(htw_calendar_monthly(NULL, 1, 0, 0, 0), -EINVAL);
    assert_memory_equal(&calendar, &untouched, sizeof(calendar));
}

/* holds: calendar-5 */
UNIT_TEST(cron_what_is_no_expression_is_refused_where_it_is_wrong) {
    static const struct {
        const char *expression;
        size_t position;
    } wrong[] = {
        { "", 0 },
        { "   ", 3 },
        { "* * * *", 7 },
        { "* * * * * * *", 10 },
        { "60 * * * *", 0 },
        { "590 * * * *", 0 },
        { "* 24 * * *", 2 },
        { "* * 0 * *", 4 },
        { "* * 32 * *", 4 },
        { "* * * 13 *", 6 },
        { "* * * 0 *", 6 },
        { "* * * * 8", 8 },
        { "99999999999999999999 * * * *", 0 },
        { "-1 * * * *", 0 },
        { "5-3 * * * *", 0 },
        { "* 22-2 * * *", 2 },
        { "*/0 * * * *", 2 },
        { "*/61 * * * *", 2 },
        { "* */25 * * *", 4 },
        { "1- * * * *", 2 },
        { "1,, * * * *", 2 },
        { "1, * * * *", 2 },
        { "** * * * *", 1 },
        { "1x * * * *", 1 },
        { "* * * foo *", 6 },
        { "* * * jux *", 6 },
        { "* * * * ma", 8 },
        { "L * * * *", 0 },
        { "* * L-2 * *", 5 },
        { "* * W * *", 4 },
        { "* * 15W * *", 6 },
        { "* * 5L * *", 5 },
        { "* * 5#1 * *", 5 },
        { "* * * * L", 8 },
        { "* * * * 5#0", 10 },
        { "* * * * 5#6", 10 },
        { "* * * * 8L", 8 },
        { "* * * * 5L-6", 10 },
        { "? * * * *", 0 },
        { "* * * * *\n", 9 },
        { "@reboot", 0 },
        { "@dailyx", 0 },
        { "@daily x", 0 },
        { "@", 0 },
        { "@Daily", 0 },
        { "* * * * 1/9", 10 },
        { "* * * * */9", 10 },
        { "* * 1/32 * *", 6 },
        { "* * * 1/13 *", 8 },
        { "1/ * * * *", 2 },
        { "*/ * * * *", 2 },
        { "1-3/ * * * *", 4 },
        { "1/", 2 },
        { "1-", 2 },
        { "1,", 2 },
        { "*/", 2 },
        { "* * * * 1/", 10 },
        { "* * * * 5#", 10 },
        { "* * * ja", 6 },
        { "* * * j", 6 },
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct htw_calendar calendar = { 0 }, untouched = calendar;
        size_t position = 1000;
        char *expression = strdup(wrong[i].expression); /* so that reading behind it shows */
        assert_non_null(expression);
        if (htw_calendar_cron(&calendar, expression, &position) != -EINVAL)
            fail_msg("'%s' is accepted", expression);
        if (position != wrong[i].position)
            fail_msg("'%s' is refused at %zu", expression, position);
        assert_memory_equal(&calendar, &untouched, sizeof(calendar));
        assert_int_equal(htw_calendar_cron(&calendar, expression, NULL), -EINVAL);
        free(expression);
    }
    struct htw_calendar calendar;
    assert_int_equal(htw_calendar_cron(NULL, "* * * * *", NULL), -EINVAL);
    assert_int_equal(htw_calendar_cron(&calendar, NULL, NULL), -EINVAL);
}

static void assert_written(const char *expression, const char *expected) {
    char text[HTW_CALENDAR_TEXT_MAX];
    struct htw_calendar calendar = cron(expression);
    assert_int_equal(htw_calendar_format(&calendar, text, sizeof(text)), strlen(expected));
    assert_string_equal(text, expected);
    struct htw_calendar again = cron(text);
    assert_memory_equal(&calendar, &again, sizeof(calendar));
}

UNIT_TEST(cron_is_written_in_a_normal_form) {
    assert_written("0 3 * * MON-fri", "0 3 * * 1-5");
    assert_written("@hourly", "0 * * * *");
    assert_written("0-59 0-23 1-31 1-12 0-6", "* 0-23 1-31 * 0-6");
    assert_written("0,15,30,45 */6 */10 1,4,7,10 */2", "*/15 */6 */10 */3 */2");
    assert_written("1,2,3,7 0 * * *", "1-3,7 0 * * *");
    assert_written("0 */6,23 * * *", "0 */24,6,12,18,23 * * *");
    assert_written("0 0 L,LW,3 * *", "0 0 3,L,LW * *");
    assert_written("0 0 */31,L * *", "0 0 */31,L * *");
    assert_written("0 0 * * 5L,1#1,1#3,6", "0 0 * * 6,1#1,1#3,5L");
    assert_written("0 0 * * friL", "0 0 * * 5L");
    assert_written("*/10 * * * * *", "*/10 * * * * *");
    assert_written("7 0 3 * * *", "7 0 3 * * *");
}

UNIT_TEST(cron_text_that_is_cut_has_its_whole_length) {
    struct htw_calendar calendar = cron("0 3 * * 1-5"), empty = { 0 };
    char text[16];
    for (size_t size = 0; size < sizeof(text); size++) {
        memset(text, 'x', sizeof(text));
        assert_int_equal(htw_calendar_format(&calendar, size == 0 ? NULL : text, size), 11);
        if (size > 0) {
            assert_int_equal(strlen(text), size - 1 < 11 ? size - 1 : 11);
            assert_memory_equal(text, "0 3 * * 1-5", strlen(text));
        }
        assert_int_equal(text[size], 'x');
    }
    assert_int_equal(htw_calendar_format(NULL, text, sizeof(text)), -EINVAL);
    assert_int_equal(htw_calendar_format(&calendar, NULL, 1), -EINVAL);
    assert_int_equal(htw_calendar_format(&empty, text, sizeof(text)), -EINVAL);
}

/* A list of random items, some of which are wrong. */
static void random_field(struct random_source *random, char *text) {
    static const char *const items[] = { "*",   "*/2", "*/7", "1",   "2-5", "1-6/2", "3/2",
                                         "5",   "0-6", "7",   "L",   "LW",  "5L",    "2#3",
                                         "sun", "jan", "2-9", "1#5", "0L",  "4-4/3", "" };
    *text = '\0';
    do {
        strcat(text, items[random_below(random, COUNT_OF(items))]);
    } while (random_one_in(random, 3) && strcat(text, ","));
}

/* holds: calendar-5 */
UNIT_TEST(cron_that_is_written_is_read_as_the_same) {
    struct random_source random = { 1 };
    unsigned accepted = 0;
    for (unsigned i = 0; i < 200000; i++) {
        char expression[512] = "", field[128], text[HTW_CALENDAR_TEXT_MAX];
        unsigned fields = random_one_in(&random, 4) ? 6 : 5;
        struct htw_calendar calendar, again;
        for (unsigned j = 0; j < fields; j++) {
            do
                random_field(&random, field);
            while (strlen(field) > 60);
            strcat(strcat(expression, field), " ");
        }
        if (htw_calendar_cron(&calendar, expression, NULL) != 0)
            continue;
        accepted++;
        int length = htw_calendar_format(&calendar, text, sizeof(text));
        assert_in_range(length, 9, sizeof(text) - 1);
        again = cron(text);
        if (memcmp(&calendar, &again, sizeof(calendar)) != 0)
            fail_msg("'%s' is written as '%s'", expression, text);
    }
    assert_true(accepted > 500);
}

/* The longest text: every second value of each field that has no step, and every second bit of the
   days of the week. */
UNIT_TEST(cron_text_of_any_calendar_fits_the_buffer) {
    char expression[2048] = "";
    static const struct {
        unsigned lowest, highest;
    } fields[] = { { 0, 59 }, { 0, 59 }, { 0, 23 }, { 1, 31 }, { 1, 12 } };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        for (unsigned value = fields[i].lowest; value <= fields[i].highest; value += 2)
            sprintf(expression + strlen(expression), "%u,", value);
        sprintf(expression + strlen(expression), "%u ", fields[i].highest);
    }
    for (unsigned weekday = 0; weekday < 7; weekday++)
        sprintf(expression + strlen(expression), "%u#1,%u#2,%u#3,%u#4,%uL%s", weekday, weekday,
                weekday, weekday, weekday, weekday < 6 ? "," : "");
    struct htw_calendar calendar = cron(expression);
    assert_in_range(htw_calendar_format(&calendar, NULL, 0), 400, HTW_CALENDAR_TEXT_MAX - 1);
}
