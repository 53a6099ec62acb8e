/* SPDX-License-Identifier: MIT */
/* options.h - the command line of `htw serve`. */
#ifndef HTW_SERVE_OPTIONS_H
#define HTW_SERVE_OPTIONS_H

#include "../kit/listen.h"
#include "../kit/command_line.h"

#include <stdbool.h>
#include <stdint.h>

#define HTW__SERVE_LISTENERS 8 /* --listen may be given so often; with the sockets of systemd */

struct htw__serve_options {
    const char *path; /* of the journal; NULL: --memory */
    bool in_memory;
    uint32_t synchronous; /* enum htw_synchronous */
    struct htw__serve_places {
        const char *of[HTW__SERVE_LISTENERS];
        uint32_t count;
    } listen;
    uint32_t passed; /* sockets of systemd */
    uint32_t socket_mode;
    uint64_t max_job_size, max_jobs, max_memory, max_output;
    uint32_t max_connections;
    const char *http, *token_file, *hosts; /* NULL: none */
    bool monitor;
    const char *monitor_path; /* NULL: the default one */
};

extern const struct htw__command_line htw__serve_command_line;
enum htw__wish htw__serve_options_parse(int argc, char *argv[],
                                        struct htw__serve_options *ret_options);

#endif /* HTW_SERVE_OPTIONS_H */
