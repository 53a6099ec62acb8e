/* SPDX-License-Identifier: MIT */
/* implementations.c - the list of implementations, and plugins. */
#include "implementations.h"

#include <dlfcn.h>
#include <string.h>

#define IMPLEMENTATIONS_MAX 64

/* NULL ends the list. Plugins are appended. */
static const struct bench_implementation *list[IMPLEMENTATIONS_MAX + 1] = {
    &bench_null,     &bench_relink, &bench_htw, &bench_htw_strict, &bench_htw_kafka, &bench_heap,
#ifdef BENCH_WITH_RBTREE
    &bench_rbtree,
#endif
#ifdef BENCH_WITH_LIBEV
    &bench_libev,
#endif
#ifdef BENCH_WITH_LIBEVENT
    &bench_libevent,
#endif
#ifdef BENCH_WITH_LIBUV
    &bench_libuv,
#endif
};

const struct bench_implementation *const *implementations(void) {
    return list;
}

static const char *append(const struct bench_implementation *implementation) {
    size_t count = 0;
    for (; list[count] != NULL; count++)
        if (strcmp(list[count]->name, implementation->name) == 0)
            return "an implementation of this name is there already";
    if (count == IMPLEMENTATIONS_MAX)
        return "there are too many implementations";
    list[count] = implementation;
    return NULL;
}

const char *implementations_load(const char *path) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* never closed */
    if (object == NULL)
        return dlerror();
    const struct bench_implementation *implementation = dlsym(object, "bench_plugin");
    if (implementation == NULL)
        return "it does not define bench_plugin";
    return append(implementation);
}

const struct bench_implementation *implementation_named(const char *name) {
    for (size_t i = 0; list[i] != NULL; i++)
        if (strcmp(list[i]->name, name) == 0)
            return list[i];
    return NULL;
}
