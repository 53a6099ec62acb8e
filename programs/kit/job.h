/* SPDX-License-Identifier: MIT */
/* job.h - a job of a journal in JSON. */
#ifndef HTW_KIT_JOB_H
#define HTW_KIT_JOB_H

#include "json.h"

#include <htw/journal_inspect.h>

/* By enum htw_job_state. */
#define HTW__JOB_STATES "delayed", "ready", "leased", "buried"

/* When it is due, its lease ends, or it has ended; HTW_NEVER_NS: never; HTW__JOB_NO_DEADLINE: none of these, as of one that is
   BURIED, or is READY and was given none. */
#define HTW__JOB_NO_DEADLINE INT64_MIN
int64_t htw__job_deadline(const struct htw_job_info *job);

/* An object, with at most so many bytes of the payload: "cut":true says that it has more. */
void htw__job_write(struct htw__json *json, const struct htw_job_info *job, size_t payload_max);

#endif /* HTW_KIT_JOB_H */
