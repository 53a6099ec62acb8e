/* SPDX-License-Identifier: MIT */
/*
 * unload_site - a dump shows the site of a library, and does not crash when the library was unloaded while its
 * timer was pending.
 * usage: unload_site LIBRARY
 */
#include <htw/scheduler.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the dump has a text. */
static bool dump_has(struct htw_scheduler *scheduler, const char *text) {
    char *dump = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&dump, &size);
    if (stream == NULL || htw_scheduler_dump(scheduler, stream) != 0 || fclose(stream) != 0)
        return false;
    bool has = strstr(dump, text) != NULL;
    if (!has)
        fprintf(stderr, "unload_site: no \"%s\" in\n%s", text, dump);
    free(dump);
    return has;
}

/* Returns a status of Meson's: 77 says that the test was skipped. */
static int play(struct htw_scheduler *scheduler, void *library, const char *path) {
    int (*arm)(struct htw_scheduler *, htw_handle *);
    void *found = dlsym(library, "plugin_arm");
    htw_handle handle;
    memcpy(&arm, &found, sizeof(arm));
    if (found == NULL || arm(scheduler, &handle) != 0 ||
        !dump_has(scheduler, "plugged plugin_arm() ") || dlclose(library) != 0)
        return 1;
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != NULL) {
        fprintf(stderr, "unload_site: this C library unloads no libraries\n");
        return 77;
    }
    return dump_has(scheduler, ", which cannot be read") &&
                   htw_cancel(scheduler, handle) == HTW_CANCELLED &&
                   dump_has(scheduler, " 0 pending")
               ? 0
               : 1;
}

int main(int argc, char **argv) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "unload_site: %s\n", argc == 2 ? dlerror() : "usage: unload_site LIBRARY");
        return 1;
    }
    options.clock = HTW_CLOCK_MANUAL;
    if (htw_scheduler_create(&scheduler, &options) != 0)
        return 1;
    int status = play(scheduler, library, argv[1]);
    htw_scheduler_destroy(scheduler);
    return status;
}
