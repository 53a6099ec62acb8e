/* SPDX-License-Identifier: MIT */
/*
 * alloc_jemalloc.h - the jemalloc of the library's own, in builds with the option `jemalloc`.
 *
 * The application keeps its malloc. The usual ways to use jemalloc replace it: a program with
 * libjemalloc.so or libjemalloc.a gets every malloc from jemalloc. Opening libjemalloc.so.2 at run
 * time would not, but fails: its thread-local storage (2 632 bytes, initial-exec) does not fit into
 * what glibc reserves for libraries that are loaded later. So meson.build links libjemalloc_pic.a
 * into one object, makes all its symbols local, and keeps only the functions below under names of
 * the library. Both libhtw.so and libhtw.a contain that object. The declarations below are hidden,
 * which hides the definitions too.
 *
 * Consequences:
 *  - The application may use any malloc, also a jemalloc, and shares nothing with this one.
 *  - A thread that has used this jemalloc has a destructor of it until it ends. So the library
 *    must never be unloaded: libhtw.so is linked with -z nodelete, and a plugin that contains
 *    libhtw.a must be too (pkg-config --static says so).
 *  - Such a libhtw.so cannot be loaded late either: programs link to it, or run with
 *    GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096.
 *  - This jemalloc reads MALLOC_CONF and /etc/malloc.conf, too.
 */
#ifndef HTW_SRC_BASE_ALLOC_JEMALLOC_H
#define HTW_SRC_BASE_ALLOC_JEMALLOC_H

#include <jemalloc/jemalloc.h>

#define HTW__HIDDEN __attribute__((visibility("hidden")))

/* See jemalloc(3). */
extern __typeof__(mallocx) htw__je_mallocx HTW__HIDDEN;
extern __typeof__(sdallocx) htw__je_sdallocx HTW__HIDDEN;
extern __typeof__(mallctl) htw__je_mallctl HTW__HIDDEN;

#endif /* HTW_SRC_BASE_ALLOC_JEMALLOC_H */
