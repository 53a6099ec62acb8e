/* SPDX-License-Identifier: MIT */
/* job.c - a job of a journal in JSON. */
#include "job.h"

/* No character of UTF-8 is cut in two, or the bytes would be no text. */
static size_t cut(const char *bytes, size_t size, size_t most) {
    if (size <= most)
        return size;
    for (size_t i = 0; i < 4 && i <= most; i++)
        if (((unsigned char)bytes[most - i] & 0xc0) != 0x80)
            return most - i;
    return most;
}

int64_t htw__job_deadline(const struct htw_job_info *job) {
    bool has_none =
        job->state == HTW_JOB_BURIED || (job->state == HTW_JOB_READY && job->deadline_ns <= 0);
    return has_none ? HTW__JOB_NO_DEADLINE : job->deadline_ns;
}

void htw__job_write(struct htw__json *json, const struct htw_job_info *job, size_t payload_max) {
    static const char *const states[] = { HTW__JOB_STATES };
    size_t shown = cut(job->payload, job->payload_size, payload_max);
    htw__json_begin(json, NULL, '{');
    htw__json_exact(json, "id", (int64_t)job->id);
    htw__json_word(json, "state", states[job->state]);
    htw__json_text(json, "queue", job->queue);
    htw__json_number(json, "priority", job->priority);
    htw__json_instant(json, "deadline", htw__job_deadline(job), HTW__JOB_NO_DEADLINE);
    htw__json_instant(json, "put", job->put_ns, INT64_MIN);
    if (job->lease_ns == 0)
        htw__json_null(json, "lease_ns");
    else
        htw__json_exact(json, "lease_ns", job->lease_ns);
    htw__json_number(json, "attempts", job->attempts);
    htw__json_number(json, "releases", job->releases);
    htw__json_number(json, "timeouts", job->timeouts);
    htw__json_number(json, "buries", job->buries);
    htw__json_number(json, "kicks", job->kicks);
    htw__json_bytes(json, "key", job->key, job->key_size);
    htw__json_number(json, "size", job->payload_size);
    if (shown < job->payload_size)
        htw__json_bool(json, "cut", true);
    htw__json_bytes(json, "payload", job->payload, shown);
    htw__json_end(json, '}');
}
