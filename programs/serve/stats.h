/* SPDX-License-Identifier: MIT */
/* stats.h - answers in YAML: statistics and lists of tubes, with the names and the order of beanstalkd 1.12. */
#ifndef HTW_SERVE_STATS_H
#define HTW_SERVE_STATS_H

#include "operation.h"

void htw__serve_stats_server(const struct htw__operation *operation, struct htw__buffer *output);
void htw__serve_stats_tube(const struct htw__operation *operation, struct htw__buffer *output);
void htw__serve_stats_job(const struct htw__operation *operation, struct htw__buffer *output);

void htw__serve_stats_list_tubes(const struct htw__operation *operation,
                                 struct htw__buffer *output);
void htw__serve_stats_list_watched(struct htw__connection *connection);

#endif /* HTW_SERVE_STATS_H */
