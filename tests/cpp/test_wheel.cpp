/* SPDX-License-Identifier: MIT */
/* test_wheel.cpp - the wheel and the backoff as classes, and durations in nanoseconds. */
#include "harness.hpp"

#include <cmath>
#include <type_traits>

using htw::detail::to_ns;

/* Exact, rounded up, and as long as possible where they do not fit. */
static_assert(to_ns(0s) == 0 && to_ns(-3s) == -3'000'000'000 && to_ns(5us) == 5'000);
static_assert(to_ns(std::chrono::nanoseconds::max()) == HTW_NEVER_NS);
static_assert(to_ns(std::chrono::nanoseconds::min()) == INT64_MIN);
static_assert(to_ns(std::chrono::hours(2562047)) == INT64_C(9223369200000000000));
static_assert(to_ns(std::chrono::hours(2562048)) == HTW_NEVER_NS);
static_assert(to_ns(std::chrono::hours(-2562048)) == INT64_MIN);
static_assert(to_ns(std::chrono::duration<std::int64_t, std::ratio<86400>>::max()) == HTW_NEVER_NS);
static_assert(to_ns(std::chrono::duration<std::int64_t, std::ratio<86400>>::min()) == INT64_MIN);
static_assert(to_ns(std::chrono::duration<std::uint64_t, std::nano>::max()) == HTW_NEVER_NS);
static_assert(to_ns(std::chrono::duration<std::uint8_t, std::milli>(255)) == 255'000'000);
static_assert(to_ns(std::chrono::duration<std::int64_t, std::pico>(1)) == 1);
static_assert(to_ns(std::chrono::duration<std::int64_t, std::pico>(2000)) == 2);
static_assert(to_ns(std::chrono::duration<std::int64_t, std::pico>(2001)) == 3);
static_assert(to_ns(std::chrono::duration<std::int64_t, std::pico>(-2001)) == -2);
static_assert(to_ns(std::chrono::duration<int, std::ratio<1, 60>>(1)) == 16'666'667);
static_assert(to_ns(std::chrono::duration<int, std::ratio<1, 60>>(-1)) == -16'666'666);
static_assert(to_ns(std::chrono::duration<int, std::ratio<1, 60>>(60)) == 1'000'000'000);
static_assert(to_ns(std::chrono::duration<std::int64_t, std::ratio<1, 60>>::max()) == HTW_NEVER_NS);
static_assert(to_ns(std::chrono::duration<double>(0.5)) == 500'000'000);
static_assert(to_ns(std::chrono::duration<double>(-0.5)) == -500'000'000);
static_assert(to_ns(std::chrono::duration<double, std::nano>(0.1)) == 1);
static_assert(to_ns(std::chrono::duration<double, std::nano>(-0.9)) == 0);
static_assert(to_ns(std::chrono::duration<double>(1e300)) == HTW_NEVER_NS);
static_assert(to_ns(std::chrono::duration<double>(-1e300)) == INT64_MIN);
static_assert(to_ns(std::chrono::duration<float>(1e30F)) == HTW_NEVER_NS);

TEST(durations_that_are_no_numbers_never_come) {
    CHECK(to_ns(std::chrono::duration<double>(std::nan(""))) == HTW_NEVER_NS);
    CHECK(to_ns(std::chrono::duration<double>(INFINITY)) == HTW_NEVER_NS);
    CHECK(to_ns(std::chrono::duration<double>(-INFINITY)) == INT64_MIN);
}

namespace {

struct session {
    explicit session(int number) : id(number) {
    }
    virtual ~session() = default; // not of standard layout: offsetof() would not do
    int id;
    htw_timer idle {};
    htw_timer life {};
};

struct derived : session {
    explicit derived(int number) : session(number) {
    }
    std::string text = "derived";
};

using idle_wheel = htw::wheel<session, &session::idle>;

} // namespace

static_assert(!std::is_copy_constructible_v<idle_wheel>);
static_assert(sizeof(idle_wheel) == sizeof(void *));

TEST(wheel_hands_out_objects) {
    htw::wheel_options options;
    options.start = 100;
    options.strict_fifo = true;
    idle_wheel idle(options);
    htw::wheel<session, &session::life> life;
    session first(1), second(2);
    derived third(3);
    CHECK(idle.now() == 100 && idle.next() == HTW_NEVER_TICK && idle.count() == 0);
    idle.schedule(first, 200);
    idle.schedule(second, 150);
    idle.schedule_within(third, 200, 210);
    life.schedule(first, 1000);
    CHECK(idle_wheel::is_pending(first) && idle_wheel::deadline(second) == 150);
    CHECK(idle.count() == 3 && life.count() == 1 && idle.next() == 150);
    CHECK(idle.poll(149) == nullptr && idle.poll(150) == &second && idle.poll(150) == nullptr);
    CHECK(!idle_wheel::is_pending(second));
    CHECK(idle.cancel(first) && !idle.cancel(first) && !idle.cancel(second));
    session *due = idle.poll(1000);
    CHECK(due == &third && due->id == 3 && dynamic_cast<derived *>(due) != nullptr);
    CHECK(life.drain() == &first && life.drain() == nullptr);
    CHECK(idle.stats().expired == 2 && idle.stats().cancelled == 1);
    idle.reserve(1000000);
    CHECK(htw_wheel_check(idle.native()) == 0);
}

TEST(wheel_hands_out_batches) {
    htw::wheel_options options;
    options.strict_fifo = true;
    idle_wheel wheel(options);
    std::vector<std::unique_ptr<session>> sessions;
    for (int i = 0; i < 10; i++) {
        sessions.push_back(std::make_unique<session>(i));
        wheel.schedule(*sessions.back(), 5);
    }
    CHECK(wheel.poll_batch(4).size() == 0 && !wheel.poll_batch(4).more());
    int next = 0;
    auto first = wheel.poll_batch<4>(5);
    CHECK(first.size() == 4 && first.more() && wheel.count() == 6);
    for (session *due : first)
        CHECK(due->id == next++ && !idle_wheel::is_pending(*due));
    for (session *due : wheel.poll_batch(5))
        CHECK(due->id == next++);
    CHECK(next == 10 && wheel.count() == 0 && !wheel.poll_batch(5).more());
}

TEST(wheel_reports_errors_and_moves) {
    htw::wheel_options options;
    options.size = 3;
    std::error_code error;
    CHECK_FAILS(idle_wheel(options), std::errc::invalid_argument);
    idle_wheel none(options, error);
    CHECK(error == std::errc::invalid_argument && !none);
    session object(1);
    CHECK_FAILS(none.schedule(object, 1), std::errc::invalid_argument);
    none.schedule(object, 1, error);
    CHECK(error == std::errc::invalid_argument);
    idle_wheel first, second;
    CHECK_FAILS(first.schedule_within(object, 2, 1), std::errc::invalid_argument);
    first.schedule(object, 1, error);
    CHECK(!error);
    CHECK_FAILS(second.schedule(object, 1), std::errc::invalid_argument); // pending in the first
    idle_wheel third(std::move(first));
    CHECK(!first && first.poll(10) == nullptr && first.count() == 0 && !first.cancel(object));
    second = std::move(third);
    CHECK(second.poll(10) == &object);
    second.schedule(object, 20);
    second = idle_wheel();
    CHECK(!idle_wheel::is_pending(object));
}

TEST(backoff_grows) {
    htw::backoff_options options;
    options.initial = 10ms;
    options.cap = 30ms;
    options.jitter = 0;
    htw::backoff backoff(options);
    CHECK(backoff.next() == 10ms && backoff.next() == 20ms && backoff.next() == 30ms);
    htw::backoff copy = backoff;
    CHECK(copy.next() == 30ms && copy.attempts() == 4 && backoff.attempts() == 3);
    backoff.reset();
    CHECK(backoff.next() == 10ms);
    htw::backoff_options wrong;
    wrong.cap = 1ns;
    CHECK_FAILS(htw::backoff(wrong), std::errc::invalid_argument);
    htw::backoff usual;
    auto delay = usual.next();
    CHECK(delay >= 50ms && delay <= 100ms);
}
