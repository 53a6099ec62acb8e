/* SPDX-License-Identifier: MIT */
/* test_delay_report - the picture of the lateness that `htw delay --stats` draws. */
#include "../../../src/cmd/delay/report.h"

#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct htw__report report; /* too large for the stack */

/* The report on messages that were late by each of these; to be freed. */
static char *printed(const htw__nanos *late_ns, size_t count) {
    struct htw_wheel *wheel;
    char *text = NULL;
    size_t size;
    assert_int_equal(htw_wheel_create(&wheel, NULL), 0);
    htw__report_init(&report);
    for (size_t i = 0; i < count; i++)
        htw__report_released(&report, 1, 1000, 1000 + late_ns[i], 1000 + late_ns[i]);
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    htw__report_print(&report, wheel, stream);
    assert_int_equal(fclose(stream), 0);
    htw_wheel_destroy(wheel);
    return text;
}

static void delay_report_begins_its_picture_at_a_round_step(void **state) {
    (void)state;
    htw__nanos late_ns[100];
    for (size_t i = 0; i < 100; i++)
        late_ns[i] = 5340000 + (htw__nanos)i * 1000;
    char *text = printed(late_ns, 100);
    assert_non_null(strstr(text, "  from   5.30 ms            100  ###"));
    assert_non_null(strstr(text, "released 100, unreleased 0\n"));
    free(text);
}

static void delay_report_takes_no_step_too_fine_for_its_labels(void **state) {
    (void)state;
    const htw__nanos late_ns = 101;
    char *text = printed(&late_ns, 1);
    assert_non_null(
        strstr(text, "  from    100 ns              1  ###")); /* steps of 2 ns, not of 1 */
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delay_report_begins_its_picture_at_a_round_step),
        cmocka_unit_test(delay_report_takes_no_step_too_fine_for_its_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
