/* SPDX-License-Identifier: MIT */
/*
 * probe.h - static probes (USDT) for bpftrace, perf and SystemTap; docs/debugging.md lists them.
 *
 * Without HTW_PROBES there is none. A probe is one nop, and a note in the file that says where its arguments
 * are. So an argument must be a value that is there anyway, or a word of memory: nothing is computed for
 * a probe. Names, numbers and kinds of the arguments are an interface: tests/api/probes.py holds them.
 */
#ifndef HTW_SRC_BASE_PROBE_H
#define HTW_SRC_BASE_PROBE_H

#ifdef HTW_PROBES
#include <sys/sdt.h>

#define HTW__PROBE1(name, a) DTRACE_PROBE1(htw, name, a)
#define HTW__PROBE2(name, a, b) DTRACE_PROBE2(htw, name, a, b)
#define HTW__PROBE3(name, a, b, c) DTRACE_PROBE3(htw, name, a, b, c)
#define HTW__PROBE4(name, a, b, c, d) DTRACE_PROBE4(htw, name, a, b, c, d)
#define HTW__PROBE5(name, a, b, c, d, e) DTRACE_PROBE5(htw, name, a, b, c, d, e)
#define HTW__PROBE6(name, a, b, c, d, e, f) DTRACE_PROBE6(htw, name, a, b, c, d, e, f)
#else
#define HTW__PROBE1(name, a) ((void)(a))
#define HTW__PROBE2(name, a, b) ((void)(a), (void)(b))
#define HTW__PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#define HTW__PROBE4(name, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))
#define HTW__PROBE5(name, a, b, c, d, e) ((void)(a), (void)(b), (void)(c), (void)(d), (void)(e))
#define HTW__PROBE6(name, a, b, c, d, e, f) \
    ((void)(a), (void)(b), (void)(c), (void)(d), (void)(e), (void)(f))
#endif

#endif /* HTW_SRC_BASE_PROBE_H */
