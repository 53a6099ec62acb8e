/* SPDX-License-Identifier: MIT */
/*
 * shim.c - the few functions between htw and the package that are better written in C: those that
 * need a FILE, and the callbacks, which pass scalars on to Python. Python calls the functions py_...(), which
 * build_native.py finds here.
 *
 * cffi releases the GIL around each function that Python calls, and takes it around each that is
 * declared `extern "Python"`, in whatever thread that is. So nothing here holds it, and a call that
 * blocks in C blocks no Python thread.
 *
 * The argument of a timer is a handle of cffi to its Python object. The object is kept
 * alive until the release hook, which the library calls exactly once.
 */
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* written in Python; cffi defines them below, in the same file */
static void py_expired(void *object, htw_handle handle, int64_t deadline_ns, int64_t late_ns,
                       uint64_t missed);
static void py_ended(void *object);
static void py_handed_back(void *list, void *object, int64_t deadline_ns);
static void py_scope_ended(struct htw_scope *scope, int why);

/* Reports an exception as sys.unraisablehook is told of one. Both are id() of objects that the
   caller keeps alive. */
static void py_unraisable(uintptr_t exception, uintptr_t object) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *value = (PyObject *)exception;
    PyErr_SetObject((PyObject *)Py_TYPE(value), value);
    PyErr_WriteUnraisable((PyObject *)object);
    PyGILState_Release(state);
}

static void py_free(void *memory) {
    free(memory);
}

/* Hides an object from the collector of cycles. `object` is its id(). */
static void py_untrack(uintptr_t object) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject_GC_UnTrack((void *)object);
    PyGILState_Release(state);
}

static void run(void *arg, const struct htw_expiration *expiration) {
    PY_CALL(py_expired(arg, expiration->handle, expiration->deadline_ns, expiration->late_ns,
                       expiration->missed));
}

static void ended(void *arg) {
    PY_CALL(py_ended(arg));
}

static struct py_library library = {
    .schedule_spec = htw_schedule_spec,
    .reschedule_at = htw_reschedule_at,
#ifdef PY_BUNDLED
    .refuse = htw__refuse,
#endif
    .timer_info = htw_scheduler_timer_info,
    .now_by = htw_scheduler_now_by,
    .cancel_wait = htw_cancel_wait,
    .clock = htw_scheduler_clock,
    .now = htw_scheduler_now,
    .keep_site = htw_scheduler_keep_site,
    .run = run,
    .release = ended,
};

static void *py_library(void) {
    return &library;
}

/* The Timer of a timer: its argument, or that of the job of a calendar. NULL: a timer of the library's own. */
static void *timer_of(const struct htw_unexpired *unexpired) {
    if (unexpired->callback == run)
        return unexpired->arg;
    void *arg = library.arg_of != NULL ? library.arg_of(unexpired) : unexpired->arg;
    return arg != unexpired->arg ? arg : NULL;
}

static void hand_back(void *context, const struct htw_unexpired *unexpired) {
    void *timer = context != NULL ? timer_of(unexpired) : NULL;
    if (timer != NULL)
        PY_CALL(py_handed_back(context, timer, unexpired->deadline_ns));
}

static int py_scheduler_stop(struct htw_scheduler *scheduler, void *list) {
    return htw_scheduler_stop(scheduler, hand_back, list);
}

/* A site that stays until the process ends. A text may be NULL. NULL: no memory. */
static const struct htw_site *py_site(const char *name, const char *file, const char *function,
                                      uint32_t line) {
    const char *texts[] = { name, file, function };
    char *copies[3] = { NULL, NULL, NULL };
    struct htw_site *site = malloc(sizeof(*site));
    bool failed = site == NULL;
    for (size_t i = 0; i < 3; i++) {
        copies[i] = texts[i] != NULL ? strdup(texts[i]) : NULL;
        failed = failed || (texts[i] != NULL && copies[i] == NULL);
    }
    if (!failed) {
        *site = (struct htw_site) { run, copies[0], copies[1], copies[2], line };
        return site;
    }
    for (size_t i = 0; i < 3; i++)
        free(copies[i]);
    free(site);
    return NULL;
}

/* Schedules a timer whose argument is a Timer. Returns 0 and sets errno on failure. */
static htw_handle py_schedule_spec(struct htw_scheduler *scheduler, struct htw_spec *spec,
                                   void *object) {
    htw_handle handle = 0;
    spec->callback = run;
    spec->arg = object;
    spec->release = ended;
    int result = htw_schedule_spec(scheduler, spec, &handle, NULL);
    if (result == 0)
        return handle;
    errno = -result;
    return 0;
}

/* The same for a timer that has a delay, and nothing else. */
static htw_handle py_schedule(struct htw_scheduler *scheduler, int64_t delay_ns,
                              const struct htw_site *site, void *object) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.when_ns = delay_ns;
    spec.latest_ns = delay_ns;
    spec.site = site;
    return py_schedule_spec(scheduler, &spec, object);
}

static void scope_ended(struct htw_scope *scope, enum htw_scope_end why) {
    PY_CALL(py_scope_ended(scope, (int)why));
}

static int py_scope_enter(struct htw_scope *scope, struct htw_scheduler *scheduler,
                          struct htw_scope *parent, int64_t delay_ns) {
    return htw_scope_enter(scope, scheduler, parent, delay_ns, scope_ended);
}

static int64_t py_group_cancel(struct htw_group *group, void *list) {
    return htw_group_cancel(group, hand_back, list);
}

static char *py_scheduler_prometheus(struct htw_scheduler *scheduler) {
    PY_TEXT_OF(htw_scheduler_prometheus(scheduler, stream));
}

static char *py_scheduler_dump(struct htw_scheduler *scheduler) {
    PY_TEXT_OF(htw_scheduler_dump(scheduler, stream));
}
