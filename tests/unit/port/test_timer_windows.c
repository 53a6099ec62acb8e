/* SPDX-License-Identifier: MIT */
/*
 * test_timer_windows - the library on a Windows without what came after Windows 8, and what any Windows may refuse. The
 * pointers by which functions of DLLs are called are replaced (-Wl,--wrap).
 */
#include "../../../src/base/clock.h"
#include "../../../src/port/alarm.h"

#include "../unit.h"

#include <process.h>
#include <windows.h>

#define MS_NS 1000000
#define HIGH_RESOLUTION 2u /* of CreateWaitableTimerExW() */

static bool refuses;            /* all that follows */
static unsigned asked, refused; /* timers */

typedef HANDLE WINAPI create_timer(SECURITY_ATTRIBUTES *attributes, const WCHAR *name, DWORD flags,
                                   DWORD access);
extern create_timer *__real___imp_CreateWaitableTimerExW, *__wrap___imp_CreateWaitableTimerExW;

static HANDLE WINAPI create_ordinary(SECURITY_ATTRIBUTES *attributes, const WCHAR *name,
                                     DWORD flags, DWORD access) {
    asked++;
    if (!refuses && (flags & HIGH_RESOLUTION) == 0)
        return __real___imp_CreateWaitableTimerExW(attributes, name, flags, access);
    refused++;
    return NULL;
}

create_timer *__wrap___imp_CreateWaitableTimerExW = create_ordinary;

typedef unsigned __stdcall thread_main(void *arg);
typedef uintptr_t start(void *security, unsigned stack, thread_main *main, void *arg,
                        unsigned flags, unsigned *ret_id);
extern start *__real___imp__beginthreadex, *__wrap___imp__beginthreadex;

static uintptr_t start_thread(void *security, unsigned stack, thread_main *main, void *arg,
                              unsigned flags, unsigned *ret_id) {
    return refuses ? 0 : __real___imp__beginthreadex(security, stack, main, arg, flags, ret_id);
}

start *__wrap___imp__beginthreadex = start_thread;

typedef FARPROC WINAPI look_up(HMODULE library, const char *function);
extern look_up *__wrap___imp_GetProcAddress;

static FARPROC WINAPI find_nothing(HMODULE library, const char *function) {
    (void)library, (void)function;
    return NULL;
}

look_up *__wrap___imp_GetProcAddress = find_nothing;

UNIT_TEST(clocks_of_an_old_windows_go_on) {
    int64_t monotonic_ns = htw__clock_monotonic_ns(), boot_ns = htw__clock_boottime_ns();
    Sleep(30);
    assert_in_range(htw__clock_monotonic_ns() - monotonic_ns, 10 * MS_NS, 60000 * INT64_C(1000000));
    assert_in_range(htw__clock_boottime_ns() - boot_ns, 10 * MS_NS, 60000 * INT64_C(1000000));
}

UNIT_TEST(alarm_without_timers_of_high_resolution_is_not_early) {
    struct htw__alarm alarm;
    asked = refused = 0;
    assert_int_equal(htw__alarm_init(&alarm, HTW__SYSTEM_MONOTONIC, true), 0);
    assert_int_equal(asked, 2);
    assert_int_equal(refused, 1);
    int64_t at_ns = htw__clock_monotonic_ns() + 3 * MS_NS;
    do {
        htw__alarm_reset(&alarm);
        htw__alarm_plan(&alarm, at_ns, at_ns);
        htw__alarm_wait(&alarm);
    } while (htw__clock_monotonic_ns() < at_ns);
    htw__alarm_fini(&alarm);
    int64_t before_ns = htw__clock_monotonic_ns();
    htw__system_sleep(3 * MS_NS);
    assert_true(htw__clock_monotonic_ns() > before_ns);
}

static void *note(void *arg) {
    *(bool *)arg = true;
    return NULL;
}

UNIT_TEST(alarm_and_thread_that_windows_refuses_are_out_of_memory) {
    struct htw__alarm alarm;
    htw__system_thread thread;
    bool has_run = false;
    refuses = true;
    assert_int_equal(htw__alarm_init(&alarm, HTW__SYSTEM_MONOTONIC, false), -ENOMEM);
    assert_int_equal(htw__thread_start(&thread, "htw", "test", 0, note, &has_run), -ENOMEM);
    int64_t before_ns = htw__clock_monotonic_ns();
    htw__system_sleep(3 * MS_NS);
    assert_true(htw__clock_monotonic_ns() > before_ns);
    refuses = false;
    assert_int_equal(htw__thread_start(&thread, "htw", "test", 0, note, &has_run), 0);
    htw__thread_join(thread);
    assert_true(has_run);
}
