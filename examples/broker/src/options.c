/* SPDX-License-Identifier: MIT */
/* options.c - parses the command line. */
#include "options.h"

#include "number.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: broker [OPTION VALUE]...\n"
    "\n"
    "  --bind ADDRESS       IPv4 address to listen on (127.0.0.1)\n"
    "  --port PORT          0: any free port (6379)\n"
    "  --threads N          threads that serve clients, up to 64 (1)\n"
    "  --max-clients N      further clients are refused (10000)\n"
    "  --max-request BYTES  longest request, up to 2g (64m)\n"
    "  --max-output BYTES   a client with so many bytes of unsent replies must read them before\n"
    "                       its next request is executed (64m)\n"
    "  --max-memory BYTES   limit of keys and values, beyond which writes are refused, and again\n"
    "                       limit of requests, replies and names of clients, beyond which the\n"
    "                       client with the most memory is closed; 0: no limit (1g)\n"
    "  --journal FILE       keep the values of LPUSHIN and LPUSHAT in FILE until they are pushed, "
    "so\n"
    "                       that they survive a restart; OK means that the value is on the disk\n"
    "  --monitor yes        let `htw top` watch the broker; a PATH instead of yes: through this "
    "socket\n"
    "  --reuse-port yes     other servers may listen on the same port (no)\n"
    "  --help\n"
    "\n"
    "BYTES may end in k, m or g. When the broker listens, it prints `ready on ADDRESS:PORT`.\n"
    "SIGTERM and SIGINT end it: blocked clients get the reply of a timeout.\n";

static bool parse_unsigned(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value) {
    int64_t value;
    if (!number_parse(text, strlen(text), &value) || value < 0)
        return false;
    *ret_value = (uint64_t)value;
    return *ret_value >= min && *ret_value <= max;
}

static bool parse_option(struct options *options, const char *name, const char *value) {
    uint64_t number;
    if (strcmp(name, "--bind") == 0) {
        options->bind = value;
    } else if (strcmp(name, "--port") == 0) {
        if (!parse_unsigned(value, 0, UINT16_MAX, &number))
            return false;
        options->port = (uint16_t)number;
    } else if (strcmp(name, "--threads") == 0) {
        if (!parse_unsigned(value, 1, THREADS_MAX, &number))
            return false;
        options->threads = (unsigned)number;
    } else if (strcmp(name, "--max-clients") == 0) {
        if (!parse_unsigned(value, 1, 10000000, &number))
            return false;
        options->max_clients = (unsigned)number;
    } else if (strcmp(name, "--max-request") == 0) {
        return number_parse_size(value, &options->max_request) && options->max_request >= 1024 &&
               options->max_request <= (uint64_t)1 << 31;
    } else if (strcmp(name, "--max-output") == 0) {
        return number_parse_size(value, &options->max_output) && options->max_output >= 1024;
    } else if (strcmp(name, "--reuse-port") == 0) {
        options->reuse_port = strcmp(value, "yes") == 0;
        return options->reuse_port || strcmp(value, "no") == 0;
    } else if (strcmp(name, "--max-memory") == 0) {
        return number_parse_size(value, &options->max_memory);
    } else if (strcmp(name, "--monitor") == 0) {
        options->monitor = value;
        return strcmp(value, "yes") == 0 || strchr(value, '/') != NULL;
    } else if (strcmp(name, "--journal") == 0) {
        options->journal = value;
    } else {
        return false;
    }
    return true;
}

bool options_parse(struct options *options, int argc, char **argv, int *ret_status) {
    *options = (struct options) { .bind = "127.0.0.1",
                                  .port = 6379,
                                  .threads = 1,
                                  .max_clients = 10000,
                                  .max_request = 64 << 20,
                                  .max_output = 64 << 20,
                                  .max_memory = 1 << 30 };
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            *ret_status = 0;
            return false;
        }
        if (i + 1 == argc || !parse_option(options, argv[i], argv[i + 1])) {
            fprintf(stderr, "broker: %s %s: no such option or value; see --help\n", argv[i],
                    i + 1 == argc ? "" : argv[i + 1]);
            *ret_status = 2;
            return false;
        }
    }
    return true;
}
