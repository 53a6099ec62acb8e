/* SPDX-License-Identifier: MIT */
/* job.c - a job of a journal in JSON. */
#include "job.h"

#include "text.h"

#include <inttypes.h>
#include <string.h>

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

void htw__job_print_json(FILE *stream, const struct htw_job_info *job, size_t payload_max) {
    static const char *const states[] = { HTW__JOB_STATES };
    size_t shown = cut(job->payload, job->payload_size, payload_max);
    fprintf(stream, "{\"id\":\"%" PRIu64 "\",\"state\":\"%s\",", job->id, states[job->state]);
    htw__text_print_json(stream, "queue", job->queue, job->queue == NULL ? 0 : strlen(job->queue));
    fprintf(stream, ",\"priority\":%" PRIu32 ",", job->priority);
    htw__text_print_json_instant(stream, "deadline", htw__job_deadline(job), HTW__JOB_NO_DEADLINE);
    putc(',', stream);
    htw__text_print_json_instant(stream, "put", job->put_ns, INT64_MIN);
    if (job->lease_ns == 0)
        fputs(",\"lease_ns\":null", stream);
    else
        fprintf(stream, ",\"lease_ns\":\"%" PRId64 "\"", job->lease_ns);
    fprintf(stream,
            ",\"attempts\":%" PRIu32 ",\"releases\":%" PRIu32 ",\"timeouts\":%" PRIu32
            ",\"buries\":%" PRIu32 ",\"kicks\":%" PRIu32 ",",
            job->attempts, job->releases, job->timeouts, job->buries, job->kicks);
    htw__text_print_json(stream, "key", job->key, job->key_size);
    fprintf(stream, ",\"size\":%zu,%s", job->payload_size,
            shown < job->payload_size ? "\"cut\":true," : "");
    htw__text_print_json(stream, "payload", job->payload, shown);
    putc('}', stream);
}
