/* SPDX-License-Identifier: MIT */
/* test_memory.c - each allocation is refused in turn: of opening, of sources, of answers. */
#include "../../support/manual_time.h"
#include "monitor_fixture.h"

#include <htw/observe.h>

/* holds: monitor-5 */
MONITOR_TEST(monitor_open_without_memory_leaves_nothing) {
    monitor_close(f);
    f->fail_at = f->calls + 1;
    assert_int_equal(monitor_open(f), -ENOMEM);
    assert_int_not_equal(access(f->path, F_OK), 0);
    f->fail_at = f->calls + 2; /* one block is enough */
    assert_int_equal(monitor_open(f), 0);
    f->fail_at = 0;
}

/* holds: monitor-5 */
MONITOR_TEST(monitor_sources_without_memory_are_refused) {
    struct htw_wheel *wheel;
    struct htw_scheduler *scheduler;
    struct htw_monitor_source *source = NULL;
    assert_int_equal(htw_wheel_create(&wheel, NULL), 0);
    assert_int_equal(htw_scheduler_create(&scheduler, NULL), 0);
    f->fail_at = f->calls + 1;
    assert_int_equal(htw_monitor_add_wheel(f->monitor, "w", wheel, 1, &source), -ENOMEM);
    f->fail_at = f->calls + 1;
    assert_int_equal(htw_monitor_add_scheduler(f->monitor, "s", scheduler, &source), -ENOMEM);
    f->fail_at = f->calls + 1;
    assert_int_equal(
        htw_monitor_add_purgatory(f->monitor, "p", (struct htw_purgatory *)(void *)scheduler, NULL),
        -ENOMEM);
    f->fail_at = 0;
    assert_null(source);
    assert_int_equal(htw_monitor_add_wheel(f->monitor, "w", wheel, 1, &source), 0);
    htw_monitor_remove(source);
    htw_wheel_destroy(wheel);
    htw_scheduler_destroy(scheduler);
}

/* An answer without memory is a sentence, or nothing; the next one is right. */
/* holds: monitor-5 */
MONITOR_TEST(monitor_answers_without_memory_say_so) {
    struct htw_wheel *wheel;
    struct htw_scheduler *scheduler;
    struct htw_scheduler_options options = manual_options(0);
    struct htw_monitor_source *source;
    options.allocator = &f->allocator; /* whose statistics need memory as well */
    assert_int_equal(htw_wheel_create(&wheel, NULL), 0);
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    assert_int_equal(htw_monitor_add_wheel(f->monitor, "w", wheel, 1, &source), 0);
    assert_int_equal(htw_monitor_add_scheduler(f->monitor, "s", scheduler, NULL), 0);
    static const char *const requests[] = {
        "json\n",    "json sites\n", "metrics\n", "events\n", "GET /json HTTP/1.0\r\n\r\n",
        "nonsense\n"
    };
    assert_int_equal(htw_scheduler_observe(scheduler, HTW_OBSERVE_SITES | HTW_OBSERVE_EVENTS), 0);
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        unsigned refused = 0;
        for (long nth = 1;; nth++) {
            f->fail_at = f->calls + nth;
            const char *answer = client_ask(f->path, requests[i]);
            bool was_refused = f->calls >= f->fail_at;
            f->fail_at = 0;
            if (!was_refused)
                break;
            refused++;
            if (strstr(answer, "no memory") == NULL && *answer != '\0' &&
                strstr(answer, "\"error\":") == NULL &&
                strstr(answer, "\"lost\":0}") == NULL &&     /* what is only faster with memory */
                strncmp(answer, "# HELP htw_info", 15) != 0) /* the scheduler is missing */
                fail_msg("%s", answer);
        }
        assert_true(refused > 0);
    }
    monitor_close(f);
    htw_scheduler_destroy(scheduler);
    htw_wheel_destroy(wheel);
}
