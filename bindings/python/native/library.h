/* SPDX-License-Identifier: MIT */
/* library.h - what the extension htw._native lends to htw._calendar_native and htw._journal_native, and what
   all of them need to call Python and to return text. cffi repeats in them all that htw._native declares. */
#include <htw/htw.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef PY_BUNDLED
int htw__refuse(const char *member);
#endif

struct py_library {
    /* Functions of the library, which is compiled into htw._native alone. */
    int (*schedule_spec)(struct htw_scheduler *, const struct htw_spec *, htw_handle *,
                         struct htw_unexpired *);
    int (*reschedule_at)(struct htw_scheduler *, htw_handle, int64_t);
#ifdef PY_BUNDLED
    int (*refuse)(const char *);
#endif
    int (*timer_info)(struct htw_scheduler *, htw_handle, struct htw_timer_info *);
    int64_t (*now_by)(const struct htw_scheduler *, enum htw_clock);
    int (*cancel_wait)(struct htw_scheduler *, htw_handle);
    enum htw_clock (*clock)(const struct htw_scheduler *);
    int64_t (*now)(const struct htw_scheduler *);
    const struct htw_site *(*keep_site)(struct htw_scheduler *, const struct htw_site *);
    /* The callback and the release hook of timers whose argument is a Timer. */
    htw_callback *run;
    htw_release_hook *release;
    /* Set by the other extension: htw_calendar_arg(). */
    void *(*_Atomic arg_of)(const struct htw_unexpired *);
};

/*
 * Before version 3.14 Python ends each thread that asks for the GIL when the interpreter has ended, by
 * pthread_exit(). But a callback must return to the library, which would abort the process. So such a
 * thread stays here, as it would in 3.14, until the process has ended.
 */
static inline void stay(void *unused) {
    (void)unused;
    for (;;)
        pause();
}

/* Calls a function of Python. */
#define PY_CALL(...)                     \
    do {                                 \
        pthread_cleanup_push(stay, NULL); \
        __VA_ARGS__;                     \
        pthread_cleanup_pop(0);          \
    } while (0)

/* Returns what a function has written to a stream, to be freed; NULL and errno if it failed. */
#define PY_TEXT_OF(call)                             \
    char *text = NULL;                               \
    size_t size = 0;                                 \
    FILE *stream = open_memstream(&text, &size);     \
    if (stream == NULL)                              \
        return NULL;                                 \
    int result = (call);                             \
    if (fclose(stream) != 0 && result == 0)          \
        result = -errno;                             \
    if (result != 0) {                               \
        free(text);                                  \
        errno = -result;                             \
        return NULL;                                 \
    }                                                \
    return text
