/* SPDX-License-Identifier: MIT */
/* owner.c - a request between two events, its cancel and its timeout: one thread owns it at a time and sees what the owners
   before have done; no event is lost; it ends once, for the reason that came first. */
#include "purgatory/check.c"
#include "purgatory/owner.c"

static struct htw_purgatory purgatory;
static struct htw_request request;
static _Atomic bool has_come; /* the event for which the request waits */
static unsigned asked;        /* plain, as all that belongs to the owner */
static unsigned ends;
static enum htw_reason reason;

/* Of fork.c: this process has not forked. */
_Atomic unsigned htw__fork_depth;

static bool try_complete(void *context, struct htw_request *asked_one) {
    (void)context, (void)asked_one;
    asked++;
    return atomic_load_explicit(&has_come, memory_order_relaxed);
}

static void end(enum htw_reason why) {
    ends++;
    reason = why;
}

/* As make_round() and htw__request_end(), for one request. */
static void ask(void) {
    struct htw__frame frame = { .purgatory = &purgatory };
    enum htw_reason why = HTW_REASON_COMPLETED;
    if (!htw__request_own(&request))
        return;
    if (htw__request_is_ready(&frame, &request) ||
        htw__request_must_end(&frame, &request, HTW__REQUEST_PENDING, &why))
        end(why);
}

static void *tell(void *unused) {
    atomic_store_explicit(&has_come, true, memory_order_relaxed);
    ask();
    return unused;
}

/* Another event, for which it does not wait. */
static void *check(void *unused) {
    ask();
    return unused;
}

static void *cancel(void *unused) {
    bool is_marked;
    if (htw__request_own_to_end(&request, HTW__REQUEST_CANCEL, &is_marked))
        end(HTW_REASON_CANCELLED);
    return unused;
}

static void *expire(void *unused) {
    if (htw__request_own_expired(&request)) {
        htw__request_set_done(&request);
        end(HTW_REASON_EXPIRED);
    }
    return unused;
}

int main(void) {
    proof_thread first, second, third;
    purgatory.try_complete = try_complete;
    request._state = HTW__REQUEST_PENDING;
    request._purgatory = &purgatory;
    PROOF_START(first, FIRST);
    PROOF_START(second, SECOND);
    PROOF_START(third, check);
    PROOF_JOIN(first);
    PROOF_JOIN(second);
    PROOF_JOIN(third);
    REQUIRE(ends == 1);
    REQUIRE((request._state & HTW__REQUEST_DONE) != 0);
    return 0;
}
