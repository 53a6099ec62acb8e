// Made by generate.sh from the headers, with rust-bindgen. ./dev rust fails where they differ.
use libc::FILE;
pub const HTW_NO_JITTER: f64 = -1.0;
pub const HTW_WHEEL_SIZE_MIN: u32 = 2;
pub const HTW_WHEEL_SIZE_DEFAULT: u32 = 256;
pub const HTW_WHEEL_SIZE_MAX: u32 = 4096;
pub const HTW_WHEEL_LEVELS_MAX: u32 = 64;
pub const HTW_SHARDS_MAX: u32 = 1024;
pub const HTW_EXPIRERS_MAX: u32 = 64;
pub const HTW_WORKERS_MAX: u32 = 256;
pub const HTW_NO_WORKERS: u32 = 4294967295;
pub const HTW_EVENTS_MAX: u32 = 1048576;
pub const HTW_OBSERVE_SITES: u32 = 1;
pub const HTW_OBSERVE_EVENTS: u32 = 2;
pub const HTW_OBSERVE_STACKS: u32 = 4;
pub const HTW_STACK_FRAMES: u32 = 16;
pub const HTW_SCHEDULER_HISTOGRAM_BUCKETS: u32 = 24;
pub const HTW_SITES_MAX: u32 = 4096;
pub const HTW_WAKEUPS_MAX: u32 = 10;
pub const HTW_HERDS_MAX: u32 = 16;
pub const HTW_LEVEL_PARTS: u32 = 64;
pub const HTW_PURGATORY_SHARDS_MAX: u32 = 65536;
pub const HTW_PURGATORY_WAIT_BUCKETS: u32 = 24;
extern "C" {
    pub fn htw_version() -> *const ::std::os::raw::c_char;
}
extern "C" {
    pub fn htw_strerror(result: ::std::os::raw::c_int) -> *const ::std::os::raw::c_char;
}
extern "C" {
    pub fn htw_invalid_member() -> *const ::std::os::raw::c_char;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_allocator {
    pub allocate: ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            size: usize,
            alignment: usize,
        ) -> *mut ::std::os::raw::c_void,
    >,
    pub release: ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            memory: *mut ::std::os::raw::c_void,
            size: usize,
            alignment: usize,
        ),
    >,
    pub context: *mut ::std::os::raw::c_void,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_distribution {
    pub count: u64,
    pub sum_ns: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
}
pub const HTW_DONE: htw_wheel_progress = 0;
pub const HTW_MORE: htw_wheel_progress = 1;
pub type htw_wheel_progress = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw__link {
    pub _next: *mut htw__link,
    pub _back: *mut *mut htw__link,
}
pub const HTW_LOG_WARNING: htw_log_level = 1;
pub const HTW_LOG_ERROR: htw_log_level = 2;
pub const HTW_LOG_FATAL: htw_log_level = 3;
pub type htw_log_level = ::std::os::raw::c_uint;
pub type htw_log_function = ::std::option::Option<
    unsafe extern "C" fn(
        level: htw_log_level,
        subsystem: *const ::std::os::raw::c_char,
        message: *const ::std::os::raw::c_char,
    ),
>;
extern "C" {
    pub fn htw_set_log(function: htw_log_function) -> htw_log_function;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_backoff {
    pub _initial_ns: f64,
    pub _cap_ns: i64,
    pub _multiplier: f64,
    pub _jitter: f64,
    pub _delay_ns: f64,
    pub _random: u64,
    pub _attempts: ::std::os::raw::c_uint,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_backoff_options {
    pub struct_size: usize,
    pub initial_ns: i64,
    pub cap_ns: i64,
    pub multiplier: f64,
    pub jitter: f64,
    pub seed: u64,
}
extern "C" {
    pub fn htw_backoff_init(
        backoff: *mut htw_backoff,
        options: *const htw_backoff_options,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_backoff_next(backoff: *mut htw_backoff) -> i64;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_timer {
    pub _link: htw__link,
    pub _deadline: u64,
    pub _location: u64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_wheel {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_wheel_options {
    pub struct_size: usize,
    pub size: u32,
    pub strict_fifo: bool,
    pub start: u64,
    pub allocator: *const htw_allocator,
}
extern "C" {
    pub fn htw_wheel_create(
        ret_wheel: *mut *mut htw_wheel,
        options: *const htw_wheel_options,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_wheel_destroy(wheel: *mut htw_wheel);
}
extern "C" {
    pub fn htw_wheel_schedule(
        wheel: *mut htw_wheel,
        timer: *mut htw_timer,
        deadline: u64,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_wheel_schedule_within(
        wheel: *mut htw_wheel,
        timer: *mut htw_timer,
        earliest: u64,
        latest: u64,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_wheel_cancel(wheel: *mut htw_wheel, timer: *mut htw_timer) -> bool;
}
extern "C" {
    pub fn htw_wheel_poll(wheel: *mut htw_wheel, now: u64) -> *mut htw_timer;
}
extern "C" {
    pub fn htw_wheel_poll_batch(
        wheel: *mut htw_wheel,
        now: u64,
        timers: *mut *mut htw_timer,
        max: usize,
        budget: usize,
        ret_count: *mut usize,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_wheel_next(wheel: *mut htw_wheel) -> u64;
}
extern "C" {
    pub fn htw_wheel_now(wheel: *const htw_wheel) -> u64;
}
extern "C" {
    pub fn htw_wheel_count(wheel: *const htw_wheel) -> usize;
}
extern "C" {
    pub fn htw_wheel_reserve(wheel: *mut htw_wheel, horizon: u64) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_wheel_drain(wheel: *mut htw_wheel) -> *mut htw_timer;
}
pub type htw_wheel_visitor = ::std::option::Option<
    unsafe extern "C" fn(timer: *mut htw_timer, arg: *mut ::std::os::raw::c_void) -> bool,
>;
extern "C" {
    pub fn htw_wheel_for_each(
        wheel: *mut htw_wheel,
        visitor: htw_wheel_visitor,
        arg: *mut ::std::os::raw::c_void,
    ) -> usize;
}
extern "C" {
    pub fn htw_wheel_level_buckets(wheel: *const htw_wheel, level: ::std::os::raw::c_uint) -> u32;
}
extern "C" {
    pub fn htw_wheel_count_in(
        wheel: *const htw_wheel,
        level: ::std::os::raw::c_uint,
        first: u32,
        count: u32,
        most: usize,
    ) -> usize;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_wheel_bucket {
    pub tick: u64,
    pub timers: u64,
    pub level: u32,
    pub number: u32,
}
extern "C" {
    pub fn htw_wheel_first_buckets(
        wheel: *const htw_wheel,
        buckets: *mut htw_wheel_bucket,
        max: usize,
    ) -> usize;
}
extern "C" {
    pub fn htw_wheel_check(wheel: *const htw_wheel) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_wheel_dump(wheel: *const htw_wheel, stream: *mut FILE) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_wheel_stats {
    pub struct_size: usize,
    pub scheduled: u64,
    pub moved: u64,
    pub cancelled: u64,
    pub expired: u64,
    pub drained: u64,
    pub demoted: u64,
    pub advances: u64,
    pub pending: u64,
    pub levels: u32,
    pub size: u32,
    pub queued_buckets: u32,
    pub memory_bytes: u64,
}
extern "C" {
    pub fn htw_wheel_get_stats(
        wheel: *const htw_wheel,
        stats: *mut htw_wheel_stats,
    ) -> ::std::os::raw::c_int;
}
pub const HTW_CLOCK_DEFAULT: htw_clock = 0;
pub const HTW_CLOCK_MONOTONIC: htw_clock = 1;
pub const HTW_CLOCK_BOOTTIME: htw_clock = 2;
pub const HTW_CLOCK_REALTIME: htw_clock = 3;
pub const HTW_CLOCK_MANUAL: htw_clock = 4;
pub type htw_clock = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_scheduler_options {
    pub struct_size: usize,
    pub tick_ns: i64,
    pub wheel_size: u32,
    pub shards: u32,
    pub expirers: u32,
    pub workers: u32,
    pub clock: htw_clock,
    pub embedded: bool,
    pub start_threads: bool,
    pub max_pending: u64,
    pub timer_slack_ns: i64,
    pub late_threshold_ns: i64,
    pub manual_start_ns: i64,
    pub thread_name: *const ::std::os::raw::c_char,
    pub executor: *const htw_executor,
    pub allocator: *const htw_allocator,
    pub observe: u32,
    pub event_count: u32,
}
pub const HTW_NEVER_NS: i64 = 9223372036854775807;
pub const HTW_MICROSECOND: i64 = 1000;
pub const HTW_MILLISECOND: i64 = 1000000;
pub const HTW_SECOND: i64 = 1000000000;
pub const HTW_MINUTE: i64 = 60000000000;
pub const HTW_HOUR: i64 = 3600000000000;
pub const HTW_DAY: i64 = 86400000000000;
pub const HTW_TICK_NS_MIN: i64 = 1000;
pub const HTW_TICK_NS_MAX: i64 = 3600000000000;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_scheduler {
    _unused: [u8; 0],
}
pub type htw_handle = u64;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_expiration {
    pub scheduler: *mut htw_scheduler,
    pub handle: htw_handle,
    pub deadline_ns: i64,
    pub late_ns: i64,
    pub missed: u64,
    pub clock: htw_clock,
}
pub type htw_callback = ::std::option::Option<
    unsafe extern "C" fn(arg: *mut ::std::os::raw::c_void, expiration: *const htw_expiration),
>;
pub type htw_release_hook =
    ::std::option::Option<unsafe extern "C" fn(arg: *mut ::std::os::raw::c_void)>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_unexpired {
    pub handle: htw_handle,
    pub callback: htw_callback,
    pub arg: *mut ::std::os::raw::c_void,
    pub deadline_ns: i64,
    pub clock: htw_clock,
    pub site: *const htw_site,
    pub stack: *const htw_stack,
}
pub type htw_unexpired_visitor = ::std::option::Option<
    unsafe extern "C" fn(context: *mut ::std::os::raw::c_void, unexpired: *const htw_unexpired),
>;
extern "C" {
    pub fn htw_scheduler_create(
        ret_scheduler: *mut *mut htw_scheduler,
        options: *const htw_scheduler_options,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scheduler_stop(
        scheduler: *mut htw_scheduler,
        visitor: htw_unexpired_visitor,
        context: *mut ::std::os::raw::c_void,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scheduler_destroy(scheduler: *mut htw_scheduler) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scheduler_now(scheduler: *const htw_scheduler) -> i64;
}
extern "C" {
    pub fn htw_schedule(
        scheduler: *mut htw_scheduler,
        delay_ns: i64,
        callback: htw_callback,
        arg: *mut ::std::os::raw::c_void,
        ret_handle: *mut htw_handle,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_schedule_at(
        scheduler: *mut htw_scheduler,
        deadline_ns: i64,
        callback: htw_callback,
        arg: *mut ::std::os::raw::c_void,
        ret_handle: *mut htw_handle,
    ) -> ::std::os::raw::c_int;
}
pub const HTW_REPEAT_SKIP: htw_repeat = 0;
pub const HTW_REPEAT_BURST: htw_repeat = 1;
pub const HTW_REPEAT_DELAY: htw_repeat = 2;
pub const HTW_REPEAT_AFTER: htw_repeat = 3;
pub type htw_repeat = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_spec {
    pub struct_size: usize,
    pub callback: htw_callback,
    pub arg: *mut ::std::os::raw::c_void,
    pub when_ns: i64,
    pub latest_ns: i64,
    pub absolute: bool,
    pub period_ns: i64,
    pub repeat: htw_repeat,
    pub key: *const ::std::os::raw::c_void,
    pub key_size: usize,
    pub keep_existing: bool,
    pub group: *mut htw_group,
    pub release: htw_release_hook,
    pub clock: htw_clock,
    pub site: *const htw_site,
}
extern "C" {
    pub fn htw_schedule_spec(
        scheduler: *mut htw_scheduler,
        spec: *const htw_spec,
        ret_handle: *mut htw_handle,
        ret_replaced: *mut htw_unexpired,
    ) -> ::std::os::raw::c_int;
}
pub const HTW_GONE: htw_outcome = 0;
pub const HTW_CANCELLED: htw_outcome = 1;
pub const HTW_RUNNING: htw_outcome = 2;
pub const HTW_MOVED: htw_outcome = 3;
pub type htw_outcome = ::std::os::raw::c_uint;
extern "C" {
    pub fn htw_cancel(scheduler: *mut htw_scheduler, handle: htw_handle) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_cancel_wait(
        scheduler: *mut htw_scheduler,
        handle: htw_handle,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_reschedule(
        scheduler: *mut htw_scheduler,
        handle: htw_handle,
        delay_ns: i64,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_pending(scheduler: *const htw_scheduler) -> u64;
}
extern "C" {
    pub fn htw_scheduler_fd(scheduler: *mut htw_scheduler) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scheduler_process(
        scheduler: *mut htw_scheduler,
        budget: usize,
        ret_count: *mut usize,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scheduler_advance(
        scheduler: *mut htw_scheduler,
        delta_ns: i64,
    ) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_site {
    pub callback: htw_callback,
    pub name: *const ::std::os::raw::c_char,
    pub file: *const ::std::os::raw::c_char,
    pub function: *const ::std::os::raw::c_char,
    pub line: u32,
}
extern "C" {
    pub fn htw_scheduler_keep_site(
        scheduler: *mut htw_scheduler,
        site: *const htw_site,
    ) -> *const htw_site;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_stack {
    pub depth: u32,
    pub frames: [*const ::std::os::raw::c_void; 16usize],
}
pub const HTW_EVENT_ARMED: htw_event_kind = 1;
pub const HTW_EVENT_CANCELLED: htw_event_kind = 2;
pub const HTW_EVENT_MOVED: htw_event_kind = 3;
pub const HTW_EVENT_STARTED: htw_event_kind = 4;
pub const HTW_EVENT_ENDED: htw_event_kind = 5;
pub const HTW_EVENT_WOKEN: htw_event_kind = 6;
pub type htw_event_kind = ::std::os::raw::c_uint;
extern "C" {
    pub fn htw_cancel_remaining(
        scheduler: *mut htw_scheduler,
        handle: htw_handle,
        ret_left_ns: *mut i64,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_reschedule_at(
        scheduler: *mut htw_scheduler,
        handle: htw_handle,
        deadline_ns: i64,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_set_period(
        scheduler: *mut htw_scheduler,
        handle: htw_handle,
        period_ns: i64,
    ) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_timer_info {
    pub deadline_ns: i64,
    pub clock: htw_clock,
    pub pending: bool,
}
extern "C" {
    pub fn htw_scheduler_timer_info(
        scheduler: *mut htw_scheduler,
        handle: htw_handle,
        ret_info: *mut htw_timer_info,
    ) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_group {
    _unused: [u8; 0],
}
extern "C" {
    pub fn htw_group_create(
        scheduler: *mut htw_scheduler,
        ret_group: *mut *mut htw_group,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_group_set_name(
        group: *mut htw_group,
        name: *const ::std::os::raw::c_char,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_group_destroy(group: *mut htw_group);
}
extern "C" {
    pub fn htw_group_cancel(
        group: *mut htw_group,
        visitor: htw_unexpired_visitor,
        context: *mut ::std::os::raw::c_void,
    ) -> i64;
}
extern "C" {
    pub fn htw_group_pause(group: *mut htw_group) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_group_resume(group: *mut htw_group) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_group_count(group: *mut htw_group) -> u64;
}
extern "C" {
    pub fn htw_cancel_key(
        scheduler: *mut htw_scheduler,
        group: *mut htw_group,
        key: *const ::std::os::raw::c_void,
        key_size: usize,
        ret_arg: *mut *mut ::std::os::raw::c_void,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_find_key(
        scheduler: *mut htw_scheduler,
        group: *mut htw_group,
        key: *const ::std::os::raw::c_void,
        key_size: usize,
    ) -> htw_handle;
}
pub const HTW_SCOPE_OPEN: htw_scope_end = 0;
pub const HTW_SCOPE_DEADLINE: htw_scope_end = 1;
pub const HTW_SCOPE_CANCELLED: htw_scope_end = 2;
pub const HTW_SCOPE_PARENT: htw_scope_end = 3;
pub type htw_scope_end = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw__shard {
    _unused: [u8; 0],
}
pub type htw_scope_callback =
    ::std::option::Option<unsafe extern "C" fn(scope: *mut htw_scope, why: htw_scope_end)>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_scope {
    pub _deadline_ns: i64,
    pub _link: htw__link,
    pub _shard: *mut htw__shard,
    pub _callback: htw_scope_callback,
    pub _timer: htw_handle,
    pub _depth: u32,
    pub _state: u32,
}
extern "C" {
    pub fn htw_scope_enter(
        scope: *mut htw_scope,
        scheduler: *mut htw_scheduler,
        parent: *mut htw_scope,
        delay_ns: i64,
        callback: htw_scope_callback,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scope_exit(scope: *mut htw_scope) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scope_cancel(scope: *mut htw_scope) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scope_shorten(scope: *mut htw_scope, delay_ns: i64) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scope_left_ns(scope: *const htw_scope) -> i64;
}
extern "C" {
    pub fn htw_scope_why(scope: *const htw_scope) -> htw_scope_end;
}
extern "C" {
    pub fn htw_scope_cause(scope: *const htw_scope) -> htw_scope_end;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_task {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_executor {
    pub execute: ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            tasks: *const *mut htw_task,
            count: usize,
        ),
    >,
    pub context: *mut ::std::os::raw::c_void,
}
extern "C" {
    pub fn htw_task_run(task: *mut htw_task);
}
extern "C" {
    pub fn htw_scheduler_next(scheduler: *mut htw_scheduler) -> i64;
}
extern "C" {
    pub fn htw_scheduler_clock(scheduler: *const htw_scheduler) -> htw_clock;
}
extern "C" {
    pub fn htw_scheduler_now_by(scheduler: *const htw_scheduler, clock: htw_clock) -> i64;
}
extern "C" {
    pub fn htw_scheduler_set_clock(
        scheduler: *mut htw_scheduler,
        clock: htw_clock,
        time_ns: i64,
    ) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_scheduler_stats {
    pub struct_size: usize,
    pub scheduled: u64,
    pub fired: u64,
    pub cancelled: u64,
    pub handed_back: u64,
    pub runs: u64,
    pub late: u64,
    pub missed: u64,
    pub refused: u64,
    pub moved: u64,
    pub demoted: u64,
    pub wakeups: u64,
    pub empty_wakeups: u64,
    pub pending: u64,
    pub running: u64,
    pub memory_bytes: u64,
    pub lateness: htw_distribution,
    pub callback: htw_distribution,
}
extern "C" {
    pub fn htw_scheduler_get_stats(
        scheduler: *mut htw_scheduler,
        stats: *mut htw_scheduler_stats,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scheduler_prometheus(
        scheduler: *mut htw_scheduler,
        stream: *mut FILE,
    ) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_scheduler_histograms {
    pub struct_size: usize,
    pub lateness: [u64; 24usize],
    pub callback: [u64; 24usize],
}
extern "C" {
    pub fn htw_scheduler_get_histograms(
        scheduler: *mut htw_scheduler,
        stats: *mut htw_scheduler_stats,
        histograms: *mut htw_scheduler_histograms,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scheduler_dump(
        scheduler: *mut htw_scheduler,
        stream: *mut FILE,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scheduler_observe(
        scheduler: *mut htw_scheduler,
        observe: u32,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_scheduler_observed(scheduler: *const htw_scheduler) -> u32;
}
pub const HTW_VISIT_SITES: htw_visit = 1;
pub const HTW_VISIT_GROUPS: htw_visit = 2;
pub const HTW_VISIT_WAKEUPS: htw_visit = 3;
pub const HTW_VISIT_HERDS: htw_visit = 4;
pub const HTW_VISIT_EVENTS: htw_visit = 5;
pub const HTW_VISIT_SHARDS: htw_visit = 6;
pub const HTW_VISIT_LEVELS: htw_visit = 7;
pub type htw_visit = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_origin {
    pub site: *const htw_site,
    pub address: *const ::std::os::raw::c_void,
    pub callback: htw_callback,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_site_stats {
    pub origin: htw_origin,
    pub pending: u64,
    pub next_ns: i64,
    pub armed: u64,
    pub cancelled: u64,
    pub expired: u64,
    pub late: u64,
    pub callback_ns: u64,
    pub wakeups: u64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_group_stats {
    pub name: *const ::std::os::raw::c_char,
    pub address: *const ::std::os::raw::c_void,
    pub count: u64,
    pub paused: bool,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_wakeup {
    pub left_ns: i64,
    pub timers: u64,
    pub origin: htw_origin,
    pub handle: htw_handle,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_herd {
    pub ago_ns: i64,
    pub timers: u64,
    pub origin: htw_origin,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_event {
    pub number: u64,
    pub kind: htw_event_kind,
    pub runner: u32,
    pub time_ns: i64,
    pub deadline_ns: i64,
    pub duration_ns: i64,
    pub handle: htw_handle,
    pub origin: htw_origin,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_scheduler_shard {
    pub scheduled: u64,
    pub cancelled: u64,
    pub moved: u64,
    pub demoted: u64,
    pub in_wheels: u64,
    pub groups: u64,
    pub memory_bytes: u64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_scheduler_level {
    pub bucket_ns: i64,
    pub buckets: u32,
    pub parts: u32,
    pub clock_part: u32,
    pub timers: [u32; 64usize],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union htw_visited {
    pub site: htw_site_stats,
    pub group: htw_group_stats,
    pub wakeup: htw_wakeup,
    pub herd: htw_herd,
    pub event: htw_event,
    pub shard: htw_scheduler_shard,
    pub level: htw_scheduler_level,
}
pub type htw_visitor = ::std::option::Option<
    unsafe extern "C" fn(context: *mut ::std::os::raw::c_void, visited: *const htw_visited),
>;
extern "C" {
    pub fn htw_scheduler_visit(
        scheduler: *mut htw_scheduler,
        what: htw_visit,
        most: u64,
        visitor: htw_visitor,
        context: *mut ::std::os::raw::c_void,
    ) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_purgatory {
    _unused: [u8; 0],
}
pub const HTW_REASON_COMPLETED: htw_reason = 0;
pub const HTW_REASON_EXPIRED: htw_reason = 1;
pub const HTW_REASON_CANCELLED: htw_reason = 2;
pub const HTW_REASON_CLOSED: htw_reason = 3;
pub type htw_reason = ::std::os::raw::c_uint;
pub const HTW_WATCHED: htw_submission = 0;
pub const HTW_FINISHED: htw_submission = 1;
pub type htw_submission = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_key {
    pub bytes: *const ::std::os::raw::c_void,
    pub size: usize,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw__watch {
    pub _cell: usize,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw__threshold_node {
    pub _parent: *mut htw__threshold_node,
    pub _left: *mut htw__threshold_node,
    pub _right: *mut htw__threshold_node,
    pub _value: u64,
    pub _arrival: u64,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct htw_request {
    pub _state: u32,
    pub _count: u32,
    pub _since_ms: u32,
    pub _cpu: u16,
    pub _flags: u16,
    pub _purgatory: *mut htw_purgatory,
    pub _timeout: htw_timer,
    pub _place: htw_request__bindgen_ty_1,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union htw_request__bindgen_ty_1 {
    pub _few: [htw__watch; 6usize],
    pub _many: htw_request__bindgen_ty_1__bindgen_ty_1,
    pub _on_threshold: htw_request__bindgen_ty_1__bindgen_ty_2,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_request__bindgen_ty_1__bindgen_ty_1 {
    pub _watches: *mut htw__watch,
    pub _bytes: usize,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_request__bindgen_ty_1__bindgen_ty_2 {
    pub _node: htw__threshold_node,
    pub _condition: *mut htw__condition,
}
extern "C" {
    pub fn htw_request_is_pending(request: *const htw_request) -> bool;
}
pub type htw_request_visitor = ::std::option::Option<
    unsafe extern "C" fn(context: *mut ::std::os::raw::c_void, request: *mut htw_request),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_purgatory_options {
    pub struct_size: usize,
    pub try_complete: ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            request: *mut htw_request,
        ) -> bool,
    >,
    pub on_complete: ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            request: *mut htw_request,
            reason: htw_reason,
        ),
    >,
    pub release: ::std::option::Option<
        unsafe extern "C" fn(context: *mut ::std::os::raw::c_void, request: *mut htw_request),
    >,
    pub context: *mut ::std::os::raw::c_void,
    pub shards: u32,
    pub allocator: *const htw_allocator,
    pub name: *const ::std::os::raw::c_char,
}
extern "C" {
    pub fn htw_purgatory_create(
        ret_purgatory: *mut *mut htw_purgatory,
        scheduler: *mut htw_scheduler,
        options: *const htw_purgatory_options,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_purgatory_close(
        purgatory: *mut htw_purgatory,
        visitor: htw_request_visitor,
        context: *mut ::std::os::raw::c_void,
    ) -> i64;
}
extern "C" {
    pub fn htw_purgatory_destroy(purgatory: *mut htw_purgatory) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_purgatory_try_complete_else_watch(
        purgatory: *mut htw_purgatory,
        request: *mut htw_request,
        keys: *const htw_key,
        key_count: usize,
        timeout_ns: i64,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_request_complete(purgatory: *mut htw_purgatory, request: *mut htw_request) -> bool;
}
extern "C" {
    pub fn htw_request_cancel(purgatory: *mut htw_purgatory, request: *mut htw_request) -> bool;
}
extern "C" {
    pub fn htw_request_set_timeout(
        purgatory: *mut htw_purgatory,
        request: *mut htw_request,
        timeout_ns: i64,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_purgatory_check_at_most(
        purgatory: *mut htw_purgatory,
        key: *const ::std::os::raw::c_void,
        key_size: usize,
        max: u64,
    ) -> i64;
}
extern "C" {
    pub fn htw_purgatory_check_later(
        purgatory: *mut htw_purgatory,
        key: *const ::std::os::raw::c_void,
        key_size: usize,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_purgatory_cancel_key(
        purgatory: *mut htw_purgatory,
        key: *const ::std::os::raw::c_void,
        key_size: usize,
        visitor: htw_request_visitor,
        context: *mut ::std::os::raw::c_void,
    ) -> i64;
}
extern "C" {
    pub fn htw_purgatory_count_key(
        purgatory: *mut htw_purgatory,
        key: *const ::std::os::raw::c_void,
        key_size: usize,
    ) -> i64;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_purgatory_stats {
    pub struct_size: usize,
    pub submitted: u64,
    pub completed: u64,
    pub expired: u64,
    pub cancelled: u64,
    pub closed: u64,
    pub pending: u64,
    pub delayed: u64,
    pub watched: u64,
    pub keys: u64,
    pub alarms: u64,
    pub memory_bytes: u64,
    pub waits: [u64; 24usize],
    pub waited_ms: u64,
}
extern "C" {
    pub fn htw_purgatory_get_stats(
        purgatory: *mut htw_purgatory,
        stats: *mut htw_purgatory_stats,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_purgatory_prometheus(
        purgatory: *mut htw_purgatory,
        stream: *mut FILE,
    ) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw_threshold {
    _unused: [u8; 0],
}
extern "C" {
    pub fn htw_threshold_create(
        purgatory: *mut htw_purgatory,
        initial: u64,
        ret_threshold: *mut *mut htw_threshold,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_threshold_destroy(threshold: *mut htw_threshold) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_threshold_await(
        threshold: *mut htw_threshold,
        request: *mut htw_request,
        value: u64,
        timeout_ns: i64,
    ) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_threshold_advance(threshold: *mut htw_threshold, value: u64) -> i64;
}
extern "C" {
    pub fn htw_threshold_lower(threshold: *mut htw_threshold, value: u64) -> ::std::os::raw::c_int;
}
extern "C" {
    pub fn htw_threshold_end_all(
        threshold: *mut htw_threshold,
        reason: htw_reason,
        visitor: htw_request_visitor,
        context: *mut ::std::os::raw::c_void,
    ) -> i64;
}
extern "C" {
    pub fn htw_threshold_value(threshold: *mut htw_threshold) -> u64;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct htw__condition {
    pub _address: u8,
}
#[cfg(feature = "calendar")]
pub use self::calendar::*;
#[cfg(feature = "calendar")]
mod calendar {
    use super::*;
    pub const HTW_CALENDAR_TEXT_MAX: u32 = 1024;
    pub const HTW_CALENDAR_CATCH_UP_MAX: u32 = 1000;
    pub const HTW_CALENDAR_NO_CATCH_UP: u32 = 4294967295;
    pub const HTW_CALENDAR_MISSED_MAX: u32 = 10000;
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_zone {
        _unused: [u8; 0],
    }
    extern "C" {
        pub fn htw_zone_create(
            ret_zone: *mut *mut htw_zone,
            name: *const ::std::os::raw::c_char,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_zone_destroy(zone: *mut htw_zone);
    }
    extern "C" {
        pub fn htw_zone_offset(zone: *const htw_zone, instant_ns: i64) -> i32;
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_calendar {
        pub _seconds: u64,
        pub _minutes: u64,
        pub _days: u64,
        pub _weekdays: u64,
        pub _hours: u32,
        pub _months: u32,
        pub _flags: u32,
        pub _unused: u32,
    }
    pub const HTW_SUNDAY: htw_weekday = 1;
    pub const HTW_MONDAY: htw_weekday = 2;
    pub const HTW_TUESDAY: htw_weekday = 4;
    pub const HTW_WEDNESDAY: htw_weekday = 8;
    pub const HTW_THURSDAY: htw_weekday = 16;
    pub const HTW_FRIDAY: htw_weekday = 32;
    pub const HTW_SATURDAY: htw_weekday = 64;
    pub const HTW_WEEKDAYS: htw_weekday = 62;
    pub const HTW_EVERY_DAY: htw_weekday = 127;
    pub type htw_weekday = ::std::os::raw::c_uint;
    extern "C" {
        pub fn htw_calendar_daily(
            ret_calendar: *mut htw_calendar,
            hour: ::std::os::raw::c_int,
            minute: ::std::os::raw::c_int,
            second: ::std::os::raw::c_int,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_calendar_weekly(
            ret_calendar: *mut htw_calendar,
            weekdays: ::std::os::raw::c_uint,
            hour: ::std::os::raw::c_int,
            minute: ::std::os::raw::c_int,
            second: ::std::os::raw::c_int,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_calendar_monthly(
            ret_calendar: *mut htw_calendar,
            day: ::std::os::raw::c_int,
            hour: ::std::os::raw::c_int,
            minute: ::std::os::raw::c_int,
            second: ::std::os::raw::c_int,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_calendar_cron(
            ret_calendar: *mut htw_calendar,
            expression: *const ::std::os::raw::c_char,
            ret_position: *mut usize,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_calendar_format(
            calendar: *const htw_calendar,
            text: *mut ::std::os::raw::c_char,
            size: usize,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_calendar_next(
            calendar: *const htw_calendar,
            zone: *const htw_zone,
            after_ns: i64,
        ) -> i64;
    }
    extern "C" {
        pub fn htw_calendar_previous(
            calendar: *const htw_calendar,
            zone: *const htw_zone,
            before_ns: i64,
        ) -> i64;
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_calendar_spec {
        pub struct_size: usize,
        pub calendar: htw_calendar,
        pub zone: *const htw_zone,
        pub callback: htw_callback,
        pub arg: *mut ::std::os::raw::c_void,
        pub after_ns: i64,
        pub jitter_ns: i64,
        pub jitter_key: *const ::std::os::raw::c_void,
        pub jitter_key_size: usize,
        pub grace_ns: i64,
        pub catch_up: u32,
        pub key: *const ::std::os::raw::c_void,
        pub key_size: usize,
        pub keep_existing: bool,
        pub group: *mut htw_group,
        pub release: htw_release_hook,
        pub allocator: *const htw_allocator,
        pub site: *const htw_site,
    }
    extern "C" {
        pub fn htw_schedule_calendar(
            scheduler: *mut htw_scheduler,
            spec: *const htw_calendar_spec,
            ret_handle: *mut htw_handle,
            ret_replaced: *mut htw_unexpired,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_calendar_arg(unexpired: *const htw_unexpired) -> *mut ::std::os::raw::c_void;
    }
    pub const HTW_CALENDAR_JITTER_NS_MAX: i64 = 86400000000000;
}
#[cfg(feature = "journal")]
pub use self::journal::*;
#[cfg(feature = "journal")]
mod journal {
    use super::*;
    pub const HTW_JOURNAL_JOB_MAX: u32 = 999999000;
    pub const HTW_JOURNAL_PARALLEL_MAX: u32 = 256;
    pub const HTW_JOB_IF_ABSENT: u32 = 1;
    pub const HTW_QUEUE_NAME_MAX: u32 = 255;
    pub const HTW_QUEUES_MAX: u32 = 1048576;
    pub const HTW_KICK_MAX: u32 = 65536;
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_journal {
        _unused: [u8; 0],
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_delivery {
        pub journal: *mut htw_journal,
        pub id: u64,
        pub deadline_ns: i64,
        pub late_ns: i64,
        pub payload: *const ::std::os::raw::c_void,
        pub payload_size: usize,
        pub key: *const ::std::os::raw::c_void,
        pub key_size: usize,
        pub queue: *const ::std::os::raw::c_char,
        pub priority: u32,
        pub attempt: u32,
        pub lease_end_ns: i64,
        pub lease_ns: i64,
    }
    pub type htw_deliver = ::std::option::Option<
        unsafe extern "C" fn(context: *mut ::std::os::raw::c_void, delivery: *const htw_delivery),
    >;
    pub type htw_durable = ::std::option::Option<
        unsafe extern "C" fn(arg: *mut ::std::os::raw::c_void, result: ::std::os::raw::c_int),
    >;
    pub type htw_stopped = ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            why: *const ::std::os::raw::c_char,
        ),
    >;
    pub const HTW_SYNCHRONOUS_FULL: htw_synchronous = 0;
    pub const HTW_SYNCHRONOUS_NORMAL: htw_synchronous = 1;
    pub type htw_synchronous = ::std::os::raw::c_uint;
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_journal_options {
        pub struct_size: usize,
        pub deliver: htw_deliver,
        pub stopped: htw_stopped,
        pub context: *mut ::std::os::raw::c_void,
        pub synchronous: htw_synchronous,
        pub parallel: u32,
        pub near_ns: i64,
        pub max_memory: u64,
        pub max_jobs: u64,
        pub max_in_flight: u64,
        pub gather_ns: i64,
        pub lease_ns: i64,
        pub allocator: *const htw_allocator,
        pub is_guest: bool,
        pub inbox_ns: i64,
    }
    extern "C" {
        pub fn htw_journal_options_init(options: *mut htw_journal_options);
    }
    extern "C" {
        pub fn htw_journal_open(
            ret_journal: *mut *mut htw_journal,
            scheduler: *mut htw_scheduler,
            path: *const ::std::os::raw::c_char,
            options: *const htw_journal_options,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_close(journal: *mut htw_journal) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_error() -> *const ::std::os::raw::c_char;
    }
    extern "C" {
        pub fn htw_journal_put(
            journal: *mut htw_journal,
            deadline_ns: i64,
            payload: *const ::std::os::raw::c_void,
            payload_size: usize,
            ret_id: *mut u64,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_cancel(journal: *mut htw_journal, id: u64) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_done(journal: *mut htw_journal, id: u64) -> ::std::os::raw::c_int;
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_job {
        pub struct_size: usize,
        pub deadline_ns: i64,
        pub payload: *const ::std::os::raw::c_void,
        pub payload_size: usize,
        pub key: *const ::std::os::raw::c_void,
        pub key_size: usize,
        pub id: u64,
        pub queue: *const ::std::os::raw::c_char,
        pub priority: u32,
        pub flags: u32,
        pub lease_ns: i64,
    }
    extern "C" {
        pub fn htw_job_init(job: *mut htw_job);
    }
    pub const HTW_JOB_DELAYED: htw_job_state = 0;
    pub const HTW_JOB_READY: htw_job_state = 1;
    pub const HTW_JOB_LEASED: htw_job_state = 2;
    pub const HTW_JOB_BURIED: htw_job_state = 3;
    pub type htw_job_state = ::std::os::raw::c_uint;
    pub const HTW_JOB_END: htw_job_step = 0;
    pub const HTW_JOB_CANCEL: htw_job_step = 1;
    pub const HTW_JOB_RELEASE: htw_job_step = 2;
    pub const HTW_JOB_BURY: htw_job_step = 3;
    pub const HTW_JOB_KICK: htw_job_step = 4;
    pub const HTW_JOB_MOVE: htw_job_step = 5;
    pub const HTW_JOB_EXTEND: htw_job_step = 6;
    pub type htw_job_step = ::std::os::raw::c_uint;
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_job_update {
        pub struct_size: usize,
        pub id: u64,
        pub key: *const ::std::os::raw::c_void,
        pub key_size: usize,
        pub step: htw_job_step,
        pub attempt: u32,
        pub deadline_ns: i64,
        pub has_priority: bool,
        pub priority: u32,
    }
    extern "C" {
        pub fn htw_job_update_init(update: *mut htw_job_update);
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_journal_change {
        pub struct_size: usize,
        pub done: *const u64,
        pub done_count: usize,
        pub jobs: *mut htw_job,
        pub job_count: usize,
        pub updates: *const htw_job_update,
        pub update_count: usize,
    }
    extern "C" {
        pub fn htw_journal_change_init(change: *mut htw_journal_change);
    }
    extern "C" {
        pub fn htw_journal_apply(
            journal: *mut htw_journal,
            change: *const htw_journal_change,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_update(
            journal: *mut htw_journal,
            update: *const htw_job_update,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_kick(
            journal: *mut htw_journal,
            queue: *const ::std::os::raw::c_char,
            count: u32,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_sync(journal: *mut htw_journal) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_put_later(
            journal: *mut htw_journal,
            deadline_ns: i64,
            payload: *const ::std::os::raw::c_void,
            payload_size: usize,
            durable: htw_durable,
            arg: *mut ::std::os::raw::c_void,
            ret_id: *mut u64,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_done_later(
            journal: *mut htw_journal,
            id: u64,
            durable: htw_durable,
            arg: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_apply_later(
            journal: *mut htw_journal,
            change: *const htw_journal_change,
            durable: htw_durable,
            arg: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_update_later(
            journal: *mut htw_journal,
            update: *const htw_job_update,
            durable: htw_durable,
            arg: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_kick_later(
            journal: *mut htw_journal,
            queue: *const ::std::os::raw::c_char,
            count: u32,
            durable: htw_durable,
            arg: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_process(
            journal: *mut htw_journal,
            patience_ns: i64,
        ) -> ::std::os::raw::c_int;
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_lease {
        pub struct_size: usize,
        pub queues: *const *const ::std::os::raw::c_char,
        pub queue_count: usize,
        pub id: u64,
        pub lease_ns: i64,
        pub wait_until_ns: i64,
        pub is_durable: bool,
    }
    extern "C" {
        pub fn htw_lease_init(lease: *mut htw_lease);
    }
    pub type htw_leased = ::std::option::Option<
        unsafe extern "C" fn(
            arg: *mut ::std::os::raw::c_void,
            result: ::std::os::raw::c_int,
            delivery: *const htw_delivery,
        ),
    >;
    extern "C" {
        pub fn htw_journal_lease_later(
            journal: *mut htw_journal,
            lease: *const htw_lease,
            leased: htw_leased,
            arg: *mut ::std::os::raw::c_void,
            ret_request: *mut u64,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_lease(
            journal: *mut htw_journal,
            lease: *const htw_lease,
            leased: htw_leased,
            arg: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_lease_cancel(
            journal: *mut htw_journal,
            request: u64,
        ) -> ::std::os::raw::c_int;
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_queue_policy {
        pub struct_size: usize,
        pub attempts_max: u32,
        pub initial_ns: i64,
        pub cap_ns: i64,
        pub multiplier: f64,
        pub jitter: f64,
    }
    extern "C" {
        pub fn htw_queue_policy_init(policy: *mut htw_queue_policy);
    }
    extern "C" {
        pub fn htw_journal_set_policy(
            journal: *mut htw_journal,
            queue: *const ::std::os::raw::c_char,
            policy: *const htw_queue_policy,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_pause(
            journal: *mut htw_journal,
            queue: *const ::std::os::raw::c_char,
            until_ns: i64,
        ) -> ::std::os::raw::c_int;
    }
    pub const HTW_JOURNAL_NEAR_NS_MAX: i64 = 86400000000000;
    pub const HTW_JOURNAL_GATHER_NS_MAX: i64 = 1000000000;
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct sqlite3 {
        _unused: [u8; 0],
    }
    extern "C" {
        pub fn htw_journal_put_in(
            connection: *mut sqlite3,
            job: *mut htw_job,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_wake(journal: *mut htw_journal) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_open_to_read(
            ret_journal: *mut *mut htw_journal,
            path: *const ::std::os::raw::c_char,
            ret_is_guest: *mut bool,
        ) -> ::std::os::raw::c_int;
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_job_info {
        pub id: u64,
        pub state: htw_job_state,
        pub queue: *const ::std::os::raw::c_char,
        pub payload: *const ::std::os::raw::c_void,
        pub payload_size: usize,
        pub key: *const ::std::os::raw::c_void,
        pub key_size: usize,
        pub deadline_ns: i64,
        pub put_ns: i64,
        pub lease_ns: i64,
        pub priority: u32,
        pub attempts: u32,
        pub releases: u32,
        pub timeouts: u32,
        pub buries: u32,
        pub kicks: u32,
    }
    pub type htw_job_visit = ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            info: *const htw_job_info,
        ) -> bool,
    >;
    extern "C" {
        pub fn htw_journal_peek(
            journal: *mut htw_journal,
            id: u64,
            visit: htw_job_visit,
            context: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int;
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_list_place {
        pub _private: [u64; 20usize],
    }
    extern "C" {
        pub fn htw_journal_list(
            journal: *mut htw_journal,
            queue: *const ::std::os::raw::c_char,
            state: htw_job_state,
            place: *mut htw_list_place,
            count: u32,
            visit: htw_job_visit,
            context: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int;
    }
    #[repr(C)]
    #[derive(Debug, Copy, Clone)]
    pub struct htw_queue_stats {
        pub struct_size: usize,
        pub name: *const ::std::os::raw::c_char,
        pub delayed: u64,
        pub ready: u64,
        pub leased: u64,
        pub buried: u64,
        pub waiting: u64,
        pub paused_until_ns: i64,
        pub policy: htw_queue_policy,
    }
    extern "C" {
        pub fn htw_queue_stats_init(stats: *mut htw_queue_stats);
    }
    extern "C" {
        pub fn htw_journal_get_queue(
            journal: *mut htw_journal,
            queue: *const ::std::os::raw::c_char,
            stats: *mut htw_queue_stats,
        ) -> ::std::os::raw::c_int;
    }
    pub type htw_queue_visit = ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            stats: *const htw_queue_stats,
        ) -> bool,
    >;
    extern "C" {
        pub fn htw_journal_list_queues(
            journal: *mut htw_journal,
            visit: htw_queue_visit,
            context: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int;
    }
    pub type htw_problem = ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            problem: *const ::std::os::raw::c_char,
        ),
    >;
    extern "C" {
        pub fn htw_journal_check(
            journal: *mut htw_journal,
            problem: htw_problem,
            context: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int;
    }
    #[repr(C)]
    pub struct htw_journal_stats {
        pub struct_size: usize,
        pub found: u64,
        pub put: u64,
        pub done: u64,
        pub cancelled: u64,
        pub replaced: u64,
        pub delivered: u64,
        pub refused: u64,
        pub failed: u64,
        pub commits: u64,
        pub checkpoints: u64,
        pub jobs: u64,
        pub in_flight: u64,
        pub in_memory: u64,
        pub queued: u64,
        pub memory_bytes: u64,
        pub log_bytes: u64,
        pub delayed: u64,
        pub ready: u64,
        pub leased: u64,
        pub buried: u64,
        pub queues: u64,
        pub requests: u64,
        pub oldest_ns: u64,
        pub stopped: u64,
        pub commit: htw_distribution,
        pub durable: htw_distribution,
        pub lateness: htw_distribution,
    }
    extern "C" {
        pub fn htw_journal_stats_init(stats: *mut htw_journal_stats);
    }
    extern "C" {
        pub fn htw_journal_get_stats(
            journal: *mut htw_journal,
            stats: *mut htw_journal_stats,
        ) -> ::std::os::raw::c_int;
    }
    extern "C" {
        pub fn htw_journal_prometheus(
            journal: *mut htw_journal,
            stream: *mut FILE,
        ) -> ::std::os::raw::c_int;
    }
}
