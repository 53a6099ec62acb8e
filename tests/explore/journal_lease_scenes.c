/* SPDX-License-Identifier: MIT */
/* journal_lease_scenes.c - what a journal promises to threads that ask for jobs, pause queues, and end leases. */
/* holds: journal-10a, journal-10b, journal-10c, journal-10f */
#include "scene_disk.h"
#include "journal_case.h"

#include <string.h>

#define REQUESTS 2u
#define LEASE_NS (4 * MS)

static const char *const queues[] = { "q", "other" };

/* A request: told once. */
static struct request {
    uint64_t number;
    int result; /* of the call, and then of the notice */
    bool was_asked, was_told, has_job;
    unsigned job;
    uint32_t attempt;
    int64_t lease_end_ns;
} requests[REQUESTS];

/* Of each job: the attempt that has it, and when its lease ends. */
static struct hold {
    uint32_t attempt;
    int64_t end_ns;
} holds[SCENE_JOBS];

static void open_queue(void (*change)(struct htw_journal_options *)) {
    memset(requests, 0, sizeof(requests));
    memset(holds, 0, sizeof(holds));
    scene_open_journal(change);
}

static void hold_job(const struct htw_delivery *delivery, struct request *request) {
    unsigned number = scene_number_of(delivery);
    struct hold *hold = &holds[number];
    REQUIRE(disk_is_durable(scene_payloads[number], SCENE_SIZE));
    REQUIRE(delivery->late_ns >= 0 && delivery->deadline_ns <= scene_wall_ns());
    REQUIRE(!atomic_load(&journal_scene.jobs[number].has_ended));
    REQUIRE(delivery->attempt > hold->attempt && scene_wall_ns() >= hold->end_ns);
    *hold = (struct hold) { delivery->attempt, delivery->lease_end_ns };
    request->has_job = true;
    request->job = number;
    request->attempt = delivery->attempt;
    request->lease_end_ns = delivery->lease_end_ns;
    atomic_fetch_add(&journal_scene.stage, 1);
}

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    struct request *request = arg;
    REQUIRE(!request->was_told && !journal_scene.is_closed);
    REQUIRE((result == 0) == (delivery != NULL));
    request->result = result;
    if (result == 0)
        hold_job(delivery, request);
    request->was_told = true;
}

static int ask_with(unsigned number, const struct htw_lease *lease) {
    struct request *request = &requests[number];
    int result =
        htw_journal_lease_later(journal_scene.journal, lease, leased, request, &request->number);
    request->was_asked = result == 0;
    return result;
}

/* A request that waits for ever, or, since time may pass anywhere, for at least so long. */
static struct htw_lease lease_for(bool is_durable, int64_t wait_ns, int64_t lease_ns) {
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = queues;
    lease.queue_count = 1;
    lease.lease_ns = lease_ns;
    lease.is_durable = is_durable;
    lease.wait_until_ns = wait_ns == HTW_NEVER_NS ? HTW_NEVER_NS : scene_wall_ns() + wait_ns;
    return lease;
}

static int ask_for(unsigned number, bool is_durable, int64_t wait_ns, int64_t lease_ns) {
    const struct htw_lease lease = lease_for(is_durable, wait_ns, lease_ns);
    return ask_with(number, &lease);
}

static int ask(unsigned number, bool is_durable) {
    return ask_for(number, is_durable, HTW_NEVER_NS, LEASE_NS);
}

/* A job of a queue that is due now, or some time later. */
static int put_in(const char *queue, unsigned number, int64_t delay_ns) {
    struct one *one = &journal_scene.jobs[number];
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.deadline_ns = scene_wall_ns() + delay_ns;
    job.payload = scene_payloads[number];
    job.payload_size = SCENE_SIZE;
    job.queue = queue;
    change.jobs = &job;
    change.job_count = 1;
    one->put = htw_journal_apply(journal_scene.journal, &change);
    one->id = job.id;
    atomic_store(&one->is_put, one->put == 0);
    return one->put;
}

static int put_in_queue(unsigned number, int64_t delay_ns) {
    return put_in(queues[0], number, delay_ns);
}

static void put_0(void) {
    (void)put_in_queue(0, 0);
}

static int end_attempt(unsigned number, uint32_t attempt) {
    struct one *one = &journal_scene.jobs[number];
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = one->id;
    update.attempt = attempt;
    atomic_store(&one->is_ending, true);
    one->end = htw_journal_update(journal_scene.journal, &update);
    if (one->end == 0)
        atomic_store(&one->has_ended, true);
    return one->end;
}

/* Requests that were accepted were told once, and nothing was forgotten: how many have a job? */
static unsigned count_holders(void) {
    unsigned count = 0;
    for (unsigned i = 0; i < REQUESTS; i++) {
        REQUIRE(requests[i].was_told == requests[i].was_asked);
        count += requests[i].has_job;
    }
    return count;
}

/* Time may pass where a step is under way, so that what ends the wait begins late. */
static bool is_told_at_last(const struct request *request, int64_t step_ns) {
    unsigned tries = 0;
    do
        explore_sleep_ns(step_ns);
    while (!request->was_told && ++tries < 4);
    return request->was_told;
}

static void expect_told(unsigned number, int64_t delay_ns) {
    explore_expect(&requests[number].was_told, explore_now_ns() + delay_ns + MS);
}

/* ---- requests for one job */

static void ask_durably(void) {
    REQUIRE(ask_for(1, true, HTW_NEVER_NS, HTW_NEVER_NS) == 0);
}

static void play_two_requests(void) {
    open_queue(NULL);
    REQUIRE(put_in_queue(0, 0) == 0);
    scene_start(1, ask_durably);
    REQUIRE(ask_for(0, false, HTW_NEVER_NS, HTW_NEVER_NS) == 0);
    scene_join();
    explore_sleep_ns(MS);
    REQUIRE(requests[0].was_told != requests[1].was_told);
    scene_stop_journal();
    REQUIRE(count_holders() == 1);
    REQUIRE(requests[0].result + requests[1].result == -ESHUTDOWN);
}

static void cancel_request_0(void) {
    int result = htw_journal_lease_cancel(journal_scene.journal, requests[0].number);
    REQUIRE(result == 0 || result == -ENOENT);
    atomic_store(&journal_scene.jobs[1].is_ending, result == 0);
}

/* The job is not lost to a request that was cancelled. */
static void play_cancel_request(void) {
    open_queue(NULL);
    REQUIRE(ask(0, false) == 0);
    scene_start(1, cancel_request_0);
    REQUIRE(put_in_queue(0, 0) == 0);
    scene_join();
    bool was_cancelled = atomic_load(&journal_scene.jobs[1].is_ending);
    expect_told(0, 0);
    REQUIRE(is_told_at_last(&requests[0], MS / 4));
    REQUIRE(requests[0].result == (was_cancelled ? -ECANCELED : 0));
    REQUIRE(ask(1, false) == 0);
    expect_told(1, LEASE_NS);
    REQUIRE(is_told_at_last(&requests[1], 2 * LEASE_NS + MS / 4));
    REQUIRE(requests[1].has_job && requests[1].attempt > (was_cancelled ? 0 : 1));
    scene_stop_journal();
}

/* One that waits for what is in the file of another queue holds up those behind it, but not when it is cancelled. */
static void play_cancel_behind(void) {
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = queues;
    lease.queue_count = 2;
    lease.wait_until_ns = HTW_NEVER_NS;
    open_queue(NULL);
    REQUIRE(put_in(queues[1], 1, 0) == 0);
    scene_cut_power();
    scene_stop_journal();
    scene_open_again();
    REQUIRE(ask_with(0, &lease) == 0 && ask(1, false) == 0);
    REQUIRE(put_in_queue(0, 0) == 0);
    cancel_request_0();
    explore_sleep_ns(5 * MS);
    REQUIRE(requests[0].was_told && (requests[0].result == -ECANCELED || requests[0].has_job));
    REQUIRE((requests[0].has_job && requests[0].job == 0) !=
            (requests[1].has_job && requests[1].job == 0));
    scene_stop_journal();
}

/* ---- the end of a lease by time, and by a step */

static void end_in_time(void) {
    scene_sleep_alone(LEASE_NS);
    (void)end_attempt(0, 1);
}

static void judge_ends(void) {
    REQUIRE(put_in_queue(0, 0) == 0);
    REQUIRE(ask(0, false) == 0);
    REQUIRE(is_told_at_last(&requests[0], MS / 4));
    scene_start(1, end_in_time);
    REQUIRE(ask(1, false) == 0);
    scene_join();
    int result = journal_scene.jobs[0].end;
    REQUIRE(result == 0 || result == -ESTALE);
    REQUIRE(is_told_at_last(&requests[1], 2 * LEASE_NS + MS / 4) == (result != 0));
    scene_require_counts(1, result == 0);
    scene_stop_journal();
    REQUIRE(count_holders() == 1 + (result != 0));
}

static void play_lease_ends(void) {
    open_queue(NULL);
    judge_ends();
}

static void play_lease_ends_by_policy(void) {
    struct htw_queue_policy policy = HTW_QUEUE_POLICY_INIT;
    open_queue(NULL);
    policy.attempts_max = 5;
    REQUIRE(htw_journal_set_policy(journal_scene.journal, queues[0], &policy) == 0);
    judge_ends();
}

/* ---- pauses */

static int64_t paused_until_ns;

static void pause_queue(void) {
    REQUIRE(htw_journal_pause(journal_scene.journal, queues[0], paused_until_ns) == 0);
    atomic_fetch_add(&journal_scene.stage, 16);
}

static void play_pause(void) {
    open_queue(NULL);
    paused_until_ns = scene_wall_ns() + 5 * MS;
    scene_start(1, pause_queue);
    REQUIRE(ask(0, false) == 0);
    bool is_paused = atomic_load(&journal_scene.stage) >= 16;
    REQUIRE(put_in_queue(0, 0) == 0);
    scene_join();
    expect_told(0, 5 * MS);
    REQUIRE(is_told_at_last(&requests[0], 7 * MS) && requests[0].has_job);
    REQUIRE(!is_paused || requests[0].lease_end_ns >= paused_until_ns + LEASE_NS);
    scene_stop_journal();
}

/* ---- the end of a journal and of its scheduler */

/* The job of a request is gone when its lease is to be written, and there is no other. */
static void play_close_requests(void) {
    open_queue(NULL);
    REQUIRE(put_in_queue(0, 0) == 0);
    explore_sleep_ns(MS / 2);
    REQUIRE(htw_journal_done_later(journal_scene.journal, journal_scene.jobs[0].id, NULL, NULL) ==
            0);
    REQUIRE(ask(0, true) == 0);
    REQUIRE(ask(1, false) == 0);
    scene_stop_journal();
    REQUIRE(count_holders() == 0);
    REQUIRE(requests[0].result == -ESHUTDOWN && requests[1].result == -ESHUTDOWN);
}

static void play_close_served(void) {
    open_queue(NULL);
    scene_start(0, put_0);
    REQUIRE(ask(0, true) == 0);
    REQUIRE(ask(1, false) == 0);
    scene_join();
    scene_stop_journal();
    REQUIRE(count_holders() <= 1);
    for (unsigned i = 0; i < REQUESTS; i++)
        REQUIRE(requests[i].result == (requests[i].has_job ? 0 : -ESHUTDOWN));
}

/* The disk fails: the journal stops, and says so to those that wait and to those that come. */
static void play_stop_requests(void) {
    open_queue(NULL);
    scene_damage_sync(0);
    REQUIRE(ask(0, true) == 0);
    scene_start(0, put_0);
    int result = ask(1, false);
    REQUIRE(result == 0 || result == -EIO);
    scene_join();
    explore_sleep_ns(5 * MS);
    REQUIRE(journal_scene.jobs[0].put == -EIO && journal_scene.stops == 1);
    REQUIRE(count_holders() == 0 && requests[0].result == -EIO);
    REQUIRE(result != 0 || requests[1].result == -EIO);
    REQUIRE(ask(1, false) == -EIO);
    REQUIRE(htw_journal_pause(journal_scene.journal, queues[0], 0) == -EIO);
    scene_stop_journal();
}

static void stop_scheduler(void) {
    REQUIRE(htw_scheduler_stop(scene.scheduler, NULL, NULL) == 0);
}

static void play_stop_scheduler(void) {
    open_queue(NULL);
    REQUIRE(ask_for(0, false, MS, LEASE_NS) == 0);
    scene_start(1, stop_scheduler);
    REQUIRE(put_in_queue(0, 0) == 0);
    scene_join();
    explore_sleep_ns(5 * MS);
    scene_stop_journal();
    REQUIRE(count_holders() <= 1);
    REQUIRE(requests[0].has_job || requests[0].result == -ETIMEDOUT ||
            requests[0].result == -ESHUTDOWN);
}

/* ---- the power is cut at any step */

static bool was_leased; /* durably, when the power was cut */

static void cut_power(void) {
    was_leased = atomic_load(&journal_scene.stage) > 0;
    scene_cut_power();
}

/* A lease that was told lasts. */
static void play_cut_lease(void) {
    open_queue(NULL);
    was_leased = false;
    REQUIRE(put_in_queue(0, 0) == 0);
    scene_start(0, cut_power);
    REQUIRE(ask(0, true) == 0);
    expect_told(0, MS);
    scene_join();
    explore_sleep_ns(MS / 4);
    REQUIRE(requests[0].has_job);
    struct hold hold = holds[0];
    scene_stop_journal();
    if (!was_leased)
        memset(holds, 0, sizeof(holds));
    scene_open_again();
    REQUIRE(journal_scene.jobs[0].deliveries == 0);
    REQUIRE(hold.attempt == 1 && ask(1, false) == 0);
    expect_told(1, LEASE_NS);
    REQUIRE(is_told_at_last(&requests[1], 2 * LEASE_NS + MS / 4));
    REQUIRE(requests[1].has_job && requests[1].attempt >= (was_leased ? 2 : 1));
    scene_stop_journal();
}

/* Each serves itself where it is alone, or is served by the writer. */
static void put_and_lease(unsigned number, bool is_durable) {
    const struct htw_lease lease = lease_for(is_durable, HTW_NEVER_NS, HTW_NEVER_NS);
    REQUIRE(put_in_queue(number, 0) == 0);
    REQUIRE(htw_journal_lease(journal_scene.journal, &lease, leased, &requests[number]) == 0);
    REQUIRE(requests[number].has_job);
}

static void put_and_lease_1(void) {
    put_and_lease(1, true);
}

static void play_lease_and_wait(void) {
    open_queue(NULL);
    scene_start(1, put_and_lease_1);
    put_and_lease(0, false);
    scene_join();
    REQUIRE(requests[0].job != requests[1].job);
    scene_stop_journal();
}

const struct scene journal_lease_scenes[] = {
    { "two-requests", "one of two requests receives a job, and the other one an answer",
      play_two_requests, 1, 2, 0 },
    { "cancel-request", "a request is cancelled, or has a job, and no job is lost",
      play_cancel_request, 1, 2, 0 },
    { "cancel-behind", "a request that is cancelled holds up nobody", play_cancel_behind, 0, 1, 0 },
    { "lease-ends", "a job ends in its lease, or comes again after that", play_lease_ends, 1, 2,
      0 },
    { "lease-ends-policy", "the same where the end of a lease is a change",
      play_lease_ends_by_policy, 1, 2, 0 },
    { "pause-queue", "a queue that is paused leases nothing, and forgets nobody", play_pause, 1, 2,
      0 },
    { "close-requests", "a request whose job has ended is told when a close returns",
      play_close_requests, 1, 2, 0 },
    { "close-served", "each request has a job or an error when a close returns", play_close_served,
      1, 2, 0 },
    { "stop-requests", "a journal that stops tells all requests", play_stop_requests, 1, 2, 0 },
    { "stop-scheduler", "the end of the scheduler leaves no request without an answer",
      play_stop_scheduler, 1, 2, 0 },
    { "lease-and-wait", "two threads that wait for a job have one each", play_lease_and_wait, 1, 2,
      0 },
    { "cut-lease", "a power cut ends no durable lease that was told", play_cut_lease, 1, 2, 0 },
    { .name = NULL },
};
