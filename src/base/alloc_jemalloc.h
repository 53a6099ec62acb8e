/* SPDX-License-Identifier: MIT */
/*
 * alloc_jemalloc - the default allocator of a build with the option `jemalloc`: an arena of the
 * library's own, in a jemalloc of the library's own.
 *
 * How that jemalloc comes in. The application's malloc must stay what it is, and the common ways
 * replace it: with libjemalloc.so among the libraries of a program, and with libjemalloc.a in
 * it, every malloc of the process becomes jemalloc's. To open libjemalloc.so.2 at run time would
 * not, but it fails: its thread-local storage (2 632 bytes, of the model initial-exec) does not
 * fit into what glibc keeps free for libraries that come late ("cannot allocate memory in static
 * TLS block"). So meson.build links libjemalloc_pic.a into one object, makes every symbol in it
 * local, malloc's and free's among them, and leaves out only the functions below, under names of
 * the library's own. That object is part of libhtw.so and of libhtw.a alike. The declarations
 * below are hidden, which makes the definitions hidden wherever they are linked to.
 *
 * What follows from it:
 *  - The application may use any malloc, a jemalloc too: it shares nothing with this one.
 *  - A thread that was here keeps a destructor of jemalloc's until it ends, so the library must
 *    never be unloaded: libhtw.so is linked with -z nodelete, and so must be a plugin that takes
 *    libhtw.a in (pkg-config --static says so).
 *  - What keeps libjemalloc.so.2 from being opened late holds for such a libhtw.so too: programs
 *    link to it, or run with GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096.
 *  - This jemalloc, too, heeds MALLOC_CONF and /etc/malloc.conf.
 */
#ifndef HTW_SRC_BASE_ALLOC_JEMALLOC_H
#define HTW_SRC_BASE_ALLOC_JEMALLOC_H

#include <jemalloc/jemalloc.h>

#define HTW__HIDDEN __attribute__((visibility("hidden")))

/* jemalloc's manual (jemalloc(3)) holds for them as it is. */
extern __typeof__(mallocx) htw__je_mallocx HTW__HIDDEN;
extern __typeof__(sdallocx) htw__je_sdallocx HTW__HIDDEN;
extern __typeof__(mallctl) htw__je_mallctl HTW__HIDDEN;

#endif /* HTW_SRC_BASE_ALLOC_JEMALLOC_H */
