/* SPDX-License-Identifier: MIT */
/*
 * application_malloc - a program that links to htw keeps the C library's malloc, also where htw
 * has a jemalloc inside; and what htw allocates then is not in the C library's heap. It is built
 * against the shared and against the static library.
 */
#include <htw/htw.h>

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int condition, const char *sentence) {
    printf("%s %s\n", condition ? "ok" : "FAILED", sentence);
    if (!condition)
        failures++;
}

static size_t in_heap(void) {
    return mallinfo2().uordblks;
}

/* A function's address as data, for which ISO C has no cast. */
static int is_of_libc(const void *function, size_t size) {
    void *address = NULL;
    Dl_info info;
    memcpy(&address, function, size);
    return dladdr(address, &info) != 0 && strstr(info.dli_fname, "/libc.so") != NULL;
}

int main(void) {
    void *(*linked_malloc)(size_t) = malloc;
    void (*linked_free)(void *) = free;
    void *found = dlsym(RTLD_DEFAULT, "malloc");
    expect(is_of_libc(&linked_malloc, sizeof linked_malloc), "malloc is the C library's");
    expect(is_of_libc(&linked_free, sizeof linked_free), "free is the C library's");
    expect(is_of_libc(&found, sizeof found), "malloc is the C library's for who looks it up");
    expect(dlsym(RTLD_DEFAULT, "mallocx") == NULL, "there is no mallocx to be found");
    expect(dlsym(RTLD_DEFAULT, "htw__je_mallocx") == NULL, "nor one of the library's");

    size_t before = in_heap();
    void *volatile block = malloc(50000);
    expect(in_heap() >= before + 50000, "what the program allocates is in the C library's heap");
    before = in_heap();
    struct htw_wheel *wheel;
    if (htw_wheel_create(&wheel, NULL) != 0 || htw_wheel_reserve(wheel, HTW_NEVER_TICK) != 0)
        return 1;
    expect(in_heap() == before, "what the library allocates is not");
    htw_wheel_destroy(wheel);
    free(block);
    return failures != 0;
}
