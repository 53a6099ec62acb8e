/* SPDX-License-Identifier: MIT */
/* activation.h - sockets that systemd has opened for the program: sd_listen_fds(3). */
#ifndef HTW_KIT_ACTIVATION_H
#define HTW_KIT_ACTIVATION_H

#include <stdint.h>

#define HTW__ACTIVATION_FIRST 3 /* the first of the descriptors, which follow each other */
#define HTW__ACTIVATION_MAX 9

/* Takes the descriptors out of the variables LISTEN_PID and LISTEN_FDS, and removes these: no child has them. Those for another
 * process do not count. To be called once, before there are threads. Returns NULL, or why not (a static phrase). */
const char *htw__activation_take(uint32_t *ret_count);

#endif /* HTW_KIT_ACTIVATION_H */
