/* SPDX-License-Identifier: MIT */
/* main.c - the program `htw-serve`, which `htw serve` runs. */
#include "server.h"

#include "../kit/command_line.h"
#include "../kit/terminal.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

/* False: standard output cannot be written. */
static bool say_ready(const struct htw__server *server) {
    for (uint32_t i = 0; i < server->listener_count; i++)
        htw__terminal_print("ready: %s", server->listeners[i].name);
    if (htw__serve_http_name() != NULL)
        htw__terminal_print("ready: %s", htw__serve_http_name());
    return fflush(stdout) == 0;
}

int main(int argc, char *argv[]) {
    static struct htw__server server; /* static: what a failed start leaves counts as reachable */
    struct htw__serve_options options;
    enum htw__wish wish = htw__serve_options_parse(argc, argv, &options);
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&htw__serve_command_line, wish);
    signal(SIGPIPE, SIG_IGN);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* which takes a lock for each allocation */
    bool is_well =
        htw__server_open(&server, &options) && htw__serve_http_start(&server) && say_ready(&server);
    if (is_well)
        htw__serve_loop(&server);
    if (!htw__serve_http_stop())
        _exit(HTW__EXIT_FAILED);
    return htw__server_close(&server) && is_well ? 0 : HTW__EXIT_FAILED;
}
