/* SPDX-License-Identifier: MIT */
/* test_no_exceptions.cpp - the C++ headers with -fno-exceptions -fno-rtti. */
#include "harness.hpp"

static_assert(HTW_CPP_EXCEPTIONS == 0);

TEST(errors_are_reported_in_a_code) {
    std::error_code error;
    htw::scheduler scheduler(test::manual(), error);
    CHECK(!error && scheduler);
    int runs = 0;
    auto owned = std::make_unique<int>(1);
    htw::timer timer = scheduler.schedule(
        1ms, [&runs] { runs++; }, error);
    htw::timer second =
        scheduler.schedule_every(1ms, [&runs, owned = std::move(owned)] { runs += *owned; });
    scheduler.advance(3ms);
    CHECK(!error && runs == 4);
    scheduler.stop();
    timer = scheduler.schedule(
        1ms, [] {}, error);
    CHECK(error.value() == ESHUTDOWN && !timer);
}

TEST(error_without_a_code_ends_the_program) {
    CHECK(test::signal_of([] {
              htw::scheduler scheduler(test::manual());
              scheduler.stop();
              htw::timer timer = scheduler.schedule(1ms, [] {});
          }) == SIGABRT);
}
