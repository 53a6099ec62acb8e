/* SPDX-License-Identifier: MIT */
/* test_api - what macros set, units, the version, and the words for results. */
#include "../unit.h"

#include <htw/htw.h>

#include <limits.h>

/* Bindings zero a struct and set its size: this is what the macros do. */
#define assert_zero(name, macro)                                  \
    do {                                                          \
        static const struct name initial = macro;                 \
        struct name by_hand;                                      \
        memset(&by_hand, 0, sizeof(by_hand));                     \
        by_hand.struct_size = sizeof(by_hand);                    \
        assert_memory_equal(&initial, &by_hand, sizeof(by_hand)); \
    } while (false)

UNIT_TEST(api_macros_set_nothing_but_the_size) {
    assert_zero(htw_backoff_options, HTW_BACKOFF_OPTIONS_INIT);
    assert_zero(htw_scheduler_options, HTW_SCHEDULER_OPTIONS_INIT);
    assert_zero(htw_scheduler_stats, HTW_SCHEDULER_STATS_INIT);
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
