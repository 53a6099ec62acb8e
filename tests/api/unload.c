/* SPDX-License-Identifier: MIT */
/*
 * unload - a thread that has used the library may end after the library was closed.
 * usage: unload LIBRARY
 */
#include <htw/wheel.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct {
    int (*create)(struct htw_wheel **, const struct htw_wheel_options *);
    void (*destroy)(struct htw_wheel *);
    pthread_barrier_t used, closed;
    int rc;
} shared;

static void *use(void *argument) {
    struct htw_wheel *wheel;
    shared.rc = shared.create(&wheel, NULL);
    if (shared.rc == 0)
        shared.destroy(wheel);
    pthread_barrier_wait(&shared.used);
    pthread_barrier_wait(&shared.closed);
    return argument; /* and now jemalloc's destructor for this thread runs */
}

int main(int argc, char **argv) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "unload: %s\n", argc == 2 ? dlerror() : "usage: unload LIBRARY");
        return 1;
    }
    void *create = dlsym(library, "htw_wheel_create"),
         *destroy = dlsym(library, "htw_wheel_destroy");
    memcpy(&shared.create, &create, sizeof create);
    memcpy(&shared.destroy, &destroy, sizeof destroy);
    pthread_barrier_init(&shared.used, NULL, 2);
    pthread_barrier_init(&shared.closed, NULL, 2);
    pthread_t thread;
    if (pthread_create(&thread, NULL, use, NULL) != 0)
        return 1;
    pthread_barrier_wait(&shared.used);
    dlclose(library);
    pthread_barrier_wait(&shared.closed);
    pthread_join(thread, NULL);
    printf("the thread ended after the library was closed\n");
    return shared.rc;
}
