/* SPDX-License-Identifier: MIT */
/* test_api - what the headers offer to languages without macros, and the words for results. */
#include "../unit.h"

#include <htw/htw.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The function sets the same bytes as the macro, padding included, and ignores NULL. */
#define assert_init(name, macro)                                        \
    do {                                                                \
        struct name by_macro, by_function;                              \
        static const struct name initial = macro;                       \
        memset(&by_function, 0xff, sizeof(by_function));                \
        memset(&by_macro, 0xff, sizeof(by_macro));                      \
        by_macro = initial;                                             \
        name##_init(&by_function);                                      \
        name##_init(NULL);                                              \
        assert_int_equal(by_function.struct_size, sizeof(by_macro));    \
        assert_memory_equal(&by_function, &by_macro, sizeof(by_macro)); \
    } while (false)

UNIT_TEST(api_init_function_sets_what_the_macro_does) {
    assert_init(htw_backoff_options, HTW_BACKOFF_OPTIONS_INIT);
    assert_init(htw_wheel_options, HTW_WHEEL_OPTIONS_INIT);
    assert_init(htw_wheel_stats, HTW_WHEEL_STATS_INIT);
    assert_init(htw_scheduler_options, HTW_SCHEDULER_OPTIONS_INIT);
    assert_init(htw_scheduler_stats, HTW_SCHEDULER_STATS_INIT);
    assert_init(htw_spec, HTW_SPEC_INIT);
    assert_init(htw_purgatory_options, HTW_PURGATORY_OPTIONS_INIT);
    assert_init(htw_purgatory_stats, HTW_PURGATORY_STATS_INIT);
}

UNIT_TEST(api_size_function_returns_the_size_of_the_struct) {
    assert_int_equal(htw_timer_size(), sizeof(struct htw_timer));
    assert_int_equal(htw_request_size(), sizeof(struct htw_request));
    assert_int_equal(htw_backoff_size(), sizeof(struct htw_backoff));
}

UNIT_TEST(api_units_are_nanoseconds) {
    assert_int_equal(HTW_MILLISECOND, 1000 * HTW_MICROSECOND);
    assert_int_equal(HTW_SECOND, INT64_C(1000000000));
    assert_int_equal(HTW_SECOND, 1000 * HTW_MILLISECOND);
    assert_int_equal(HTW_MINUTE, 60 * HTW_SECOND);
    assert_int_equal(HTW_HOUR, 60 * HTW_MINUTE);
    assert_int_equal(HTW_DAY, 24 * HTW_HOUR);
}

UNIT_TEST(api_version_is_that_of_the_header) {
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", HTW_VERSION_MAJOR, HTW_VERSION_MINOR,
             HTW_VERSION_PATCH);
    size_t length = strcspn(HTW_VERSION, "~");
    assert_int_equal(length, strlen(version));
    assert_memory_equal(HTW_VERSION, version, length);
#if HTW_VERSION_NUMBER < 0x000200 || HTW_VERSION_NUMBER >= 0x010000
#error "a number that #if compares"
#endif
    assert_int_equal(HTW_VERSION_NUMBER,
                     HTW_VERSION_MAJOR * 65536 + HTW_VERSION_MINOR * 256 + HTW_VERSION_PATCH);
    assert_string_equal(htw_version(), HTW_VERSION);
}

UNIT_TEST(api_strerror_has_a_line_for_each_result) {
    static const int results[] = {
        0,          1,           -EINVAL,   -ENOMEM,       -EAGAIN,
        -ESHUTDOWN, -EOWNERDEAD, -EDEADLK,  -EBUSY,        -EEXIST,
        -ENOENT,    -ENOTSUP,    -EIO,      -EMFILE,       -ENFILE,
        -EALREADY,  -ENOSPC,     -EMSGSIZE, -EBADMSG,      -EPROTONOSUPPORT,
        -EISDIR,    -EACCES,     -EROFS,    -ENAMETOOLONG, -EXDEV,
    };
    size_t count = sizeof(results) / sizeof(*results);
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(htw_strerror(results[i])) > 5);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(htw_strerror(results[i]), htw_strerror(results[j]));
    }
    assert_string_equal(htw_strerror(0), "success");
    assert_ptr_equal(htw_strerror(INT_MAX), htw_strerror(HTW_CANCELLED));
    assert_ptr_equal(htw_strerror(INT_MIN), htw_strerror(-EXDEV));
}
