/* SPDX-License-Identifier: MIT */
/* site_plugin.c - a library with a site: see unload_site.c. */
#include <htw/scheduler.h>

int plugin_arm(struct htw_scheduler *scheduler, htw_handle *ret_handle);

static void plugin_run(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
}

int plugin_arm(struct htw_scheduler *scheduler, htw_handle *ret_handle) {
    return htw_schedule_here(scheduler, HTW_HOUR, HTW_HERE(plugin_run, "plugged"), NULL,
                             ret_handle);
}
