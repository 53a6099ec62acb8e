/* SPDX-License-Identifier: MIT */
/* log.c - htw/log.h: calls the function of the program, also with the message with which the process ends. */
#include "log.h"

#include "clock.h"
#include "lock.h"
#include "user_code.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* The most bytes of a message, with its NUL. */
#define MESSAGE_MAX 600
#define PERIOD_NS 1000000000

static _Atomic(htw_log_function *) receiver;

htw_log_function *htw_set_log(htw_log_function *function) {
    /* order: What a function uses must be visible to it, and to who gets it back. [acquire: not played, as no scene sets
       a function; release: not played, as no scene sets a function] */
    return atomic_exchange_explicit(&receiver, function, memory_order_acq_rel);
}

bool htw__report_is_due(_Atomic int64_t *due_ns) {
    /* order: The function is not called here. */
    if (atomic_load_explicit(&receiver, memory_order_relaxed) == NULL)
        return false;
    if (due_ns == NULL)
        return true;
    int64_t now_ns = htw__clock_monotonic_ns();
    /* order: A number alone. */
    int64_t due = atomic_load_explicit(due_ns, memory_order_relaxed);
    /* order: Of several threads one reports, and nothing else depends on which. */
    return due <= now_ns &&
           atomic_compare_exchange_strong_explicit(due_ns, &due, now_ns + PERIOD_NS,
                                                   memory_order_relaxed, memory_order_relaxed);
}

void htw__report(enum htw_log_level level, const char *subsystem, const char *format, ...) {
    const struct {
        unsigned fork_count;
    } here = { htw__fork_count() }, *owner = &here; /* this process */
    char message[MESSAGE_MAX];
    va_list values;
    HTW__LOCK_RANK_PASS(HTW__RANK_JOURNAL); /* the first one: so no lock is held */
    /* order: What the function uses must be visible. [relaxed: not played, as no scene sets a function] */
    htw_log_function *function = atomic_load_explicit(&receiver, memory_order_acquire);
    if (function == NULL)
        return;
    va_start(values, format);
    vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    HTW__CALL_USER("the function of htw_set_log()", owner, function,
                   function(level, subsystem, message));
}

/* ---- the end of the process */

struct ending {
    const char *message;
    bool is_told;
};

/* Also when the function throws, or ends its thread. */
static _Noreturn void end_process(const struct ending *ending) {
    if (!ending->is_told)
        fprintf(stderr, "htw: %s\n", ending->message);
    abort();
}

/* The function is taken away, so that what fails in it is written to standard error. */
void htw__fatal(const char *format, ...) {
    char message[MESSAGE_MAX];
    struct ending ending __attribute__((cleanup(end_process))) = { message, false };
    htw_log_function *function = htw_set_log(NULL);
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    if (function != NULL) {
        function(HTW_LOG_FATAL, "htw", message);
        ending.is_told = true;
    }
    end_process(&ending);
}
