// SPDX-License-Identifier: MIT
// consumer.cc - the same program in C++17: with the classes of htw/htw.hpp, and C's functions.
#include <htw/htw.hpp>

#include <cstdio>
#include <cstring>

#if HTW_VERSION_NUMBER < 0x000200
#error "the headers of another version"
#endif

namespace {

struct session {
    htw_timer timer {};
};

bool expires_in_wheel() {
    htw::wheel<session, &session::timer> wheel;
    session idle;
    wheel.schedule(idle, 1000);
    return wheel.poll(999) == nullptr && wheel.poll(1000) == &idle;
}

// In manual time, so that nothing depends on how fast the machine is.
bool expires_in_scheduler() {
    htw::scheduler_options options;
    options.clock = htw::clock::manual;
    htw::scheduler scheduler(options);
    int runs = 0;
    htw::timer timer = scheduler.schedule(std::chrono::seconds(1), [&runs] { ++runs; });
    scheduler.advance(std::chrono::seconds(1));
    return runs == 1;
}

} // namespace

int main() {
    std::printf("%s\n", htw_version());
    return std::strcmp(htw_version(), HTW_VERSION) == 0 && expires_in_wheel() &&
                   expires_in_scheduler()
               ? 0
               : 1;
}
