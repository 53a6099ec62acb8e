/* SPDX-License-Identifier: MIT */
/*
 * system_windows.c - what Windows has its own way for: see system.h.
 *
 * What came after Windows 8 is looked up when it is first used: the precise clocks of Windows 10, names of threads, and
 * timers of high resolution.
 */
#include "system.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <ntsecapi.h>
#include <process.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION /* Windows 10, version 1803 */
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 2
#endif

/* The unit of Windows. */
#define UNIT_NS 100
#define UNITS_PER_SECOND 10000000

/* 1970-01-01 in the time of Windows, which begins in 1601. */
#define EPOCH INT64_C(116444736000000000)

/* Of any type, to which it is converted. */
typedef void any_function(void);

/* NULL: this Windows does not have it. */
static any_function *look_up(const char *function) {
    HMODULE library = GetModuleHandleW(L"kernelbase");
    return library == NULL ? NULL : (any_function *)GetProcAddress(library, function);
}

/* ---- clocks */

typedef void WINAPI read_clock(ULONGLONG *ret_units);

/* In place of a precise clock. */
static void WINAPI read_counter(ULONGLONG *ret_units) {
    LARGE_INTEGER count, per_second;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&per_second);
    LONGLONG seconds = count.QuadPart / per_second.QuadPart;
    LONGLONG rest = count.QuadPart % per_second.QuadPart;
    *ret_units =
        (ULONGLONG)(seconds * UNITS_PER_SECOND + rest * UNITS_PER_SECOND / per_second.QuadPart);
}

static int64_t read_ns(read_clock *_Atomic *known, const char *name) {
    /* order: All threads find the same. */
    read_clock *function = atomic_load_explicit(known, memory_order_relaxed);
    if (HTW__UNLIKELY(function == NULL)) {
        function = (read_clock *)look_up(name);
        function = function == NULL ? read_counter : function;
        atomic_store_explicit(known, function, memory_order_relaxed);
    }
    ULONGLONG units;
    function(&units);
    return (int64_t)units * UNIT_NS;
}

static int64_t read_wall_clock_ns(void) {
    FILETIME time;
    GetSystemTimePreciseAsFileTime(&time);
    int64_t units = (int64_t)time.dwHighDateTime << 32 | (int64_t)time.dwLowDateTime;
    return (units - EPOCH) * UNIT_NS;
}

int64_t htw__system_now_ns(htw__system_clock clock) {
    static read_clock *_Atomic monotonic, *_Atomic boot;
    switch (clock) {
    case HTW__SYSTEM_MONOTONIC:
        return read_ns(&monotonic, "QueryUnbiasedInterruptTimePrecise");
    case HTW__SYSTEM_BOOTTIME:
        return read_ns(&boot, "QueryInterruptTimePrecise");
    case HTW__SYSTEM_REALTIME:
        break;
    }
    return read_wall_clock_ns();
}

/* ---- locks and conditions */

void htw__system_mutex_lock(htw__system_mutex *mutex) {
    AcquireSRWLockExclusive((SRWLOCK *)&mutex->state);
}

void htw__system_mutex_unlock(htw__system_mutex *mutex) {
    ReleaseSRWLockExclusive((SRWLOCK *)&mutex->state);
}

void htw__system_condition_signal(htw__system_condition *condition) {
    WakeConditionVariable((CONDITION_VARIABLE *)&condition->state);
}

void htw__system_condition_broadcast(htw__system_condition *condition) {
    WakeAllConditionVariable((CONDITION_VARIABLE *)&condition->state);
}

static void sleep_on(htw__system_mutex *mutex, htw__system_condition *condition, DWORD time_ms) {
    SleepConditionVariableSRW((CONDITION_VARIABLE *)&condition->state, (SRWLOCK *)&mutex->state,
                              time_ms, 0);
}

void htw__system_mutex_wait(htw__system_mutex *mutex, htw__system_condition *condition) {
    sleep_on(mutex, condition, INFINITE);
}

void htw__system_mutex_wait_until(htw__system_mutex *mutex, htw__system_condition *condition,
                                  int64_t deadline_ns) {
    static const int64_t most_ms = INT64_C(24) * 3600 * 1000; /* then the caller waits again */
    int64_t now_ns = htw__system_now_ns(HTW__SYSTEM_MONOTONIC);
    int64_t left_ms = deadline_ns <= now_ns ? 0 : (deadline_ns - now_ns) / 1000000 + 1;
    sleep_on(mutex, condition, (DWORD)(left_ms < most_ms ? left_ms : most_ms));
}

/* ---- timers */

void *htw__system_open_timer(void) {
    static const DWORD kind = CREATE_WAITABLE_TIMER_MANUAL_RESET;
    HANDLE timer = CreateWaitableTimerExW(NULL, NULL, kind | CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
                                          TIMER_ALL_ACCESS);
    return timer != NULL ? timer : CreateWaitableTimerExW(NULL, NULL, kind, TIMER_ALL_ACCESS);
}

/* A negative time is relative, and does not pass while the machine is suspended. Rounded up. */
void htw__system_set_timer(void *timer, int64_t delay_ns) {
    LARGE_INTEGER time;
    time.QuadPart = -(delay_ns / UNIT_NS + (delay_ns % UNIT_NS != 0));
    SetWaitableTimer(timer, &time, 0, NULL, NULL, FALSE);
}

void htw__system_sleep(int64_t duration_ns) {
    HANDLE timer = htw__system_open_timer();
    if (timer == NULL) {
        Sleep((DWORD)(duration_ns / 1000000 + 1));
        return;
    }
    htw__system_set_timer(timer, duration_ns);
    WaitForSingleObject(timer, INFINITE);
    CloseHandle(timer);
}

/* ---- threads and processors */

struct start {
    void *(*main)(void *);
    void *arg;
};

static unsigned __stdcall run(void *memory) {
    struct start start = *(struct start *)memory;
    free(memory);
    start.main(start.arg);
    return 0;
}

/* Windows 10, version 1607. */
static void name_thread(HANDLE thread, const char *owner, const char *role, unsigned index) {
    typedef HRESULT WINAPI describe(HANDLE thread, const WCHAR *text);
    describe *function = (describe *)look_up("SetThreadDescription");
    char name[64];
    WCHAR text[64];
    snprintf(name, sizeof(name), "%.32s-%s-%u", owner, role, index);
    if (function != NULL && MultiByteToWideChar(CP_UTF8, 0, name, -1, text, 64) > 0)
        function(thread, text);
}

int htw__thread_start(htw__system_thread *thread, const char *owner, const char *role,
                      unsigned index, void *(*main)(void *), void *arg) {
    struct start *start = malloc(sizeof(*start));
    if (start == NULL)
        return -ENOMEM;
    *start = (struct start) { main, arg };
    uintptr_t handle = _beginthreadex(NULL, 0, run, start, 0, NULL);
    if (handle == 0) {
        free(start);
        return -ENOMEM;
    }
    *thread = (HANDLE)handle;
    name_thread(*thread, owner, role, index);
    return 0;
}

void htw__thread_join(htw__system_thread thread) {
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

void htw__system_yield(void) {
    SwitchToThread();
}

uint32_t htw__cpu_count(uint32_t max) {
    uint32_t count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return count < 1 ? 1 : count > max ? max : count;
}

uint32_t htw__cpu_current(void) {
    PROCESSOR_NUMBER number;
    GetCurrentProcessorNumberEx(&number);
    return number.Group * 64u + number.Number;
}

/* ---- the rest */

bool htw__system_random(void *to, size_t size) {
    return RtlGenRandom(to, (ULONG)size);
}

bool htw__system_find_code(const htw__system_reader *reader, uintptr_t address,
                           struct htw__code *ret_code) {
    (void)reader, (void)address, (void)ret_code;
    return false;
}

bool htw__system_reader_open(htw__system_reader *reader) {
    *reader = 0;
    return true;
}

void htw__system_reader_close(htw__system_reader *reader) {
    (void)reader;
}

/* Wine copies what has no access, too, and a guard page is not to be touched. */
static bool has_access(const void *address) {
    MEMORY_BASIC_INFORMATION area;
    return VirtualQuery(address, &area, sizeof(area)) != 0 && area.State == MEM_COMMIT &&
           (area.Protect & (PAGE_NOACCESS | PAGE_GUARD)) == 0;
}

bool htw__system_copy(const htw__system_reader *reader, void *to, const void *from, size_t size) {
    SIZE_T copied;
    (void)reader;
    if (!has_access(from) || !has_access((const char *)from + size - 1)) /* on one page or two */
        return false;
    return ReadProcessMemory(GetCurrentProcess(), from, to, size, &copied) && copied == size;
}

HTW__NOINLINE uint32_t htw__system_capture_stack(const void **frames, uint32_t max, uint32_t skip) {
    return RtlCaptureStackBackTrace(skip + 1, max, (void **)frames, NULL);
}
#endif
