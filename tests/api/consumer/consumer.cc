// SPDX-License-Identifier: MIT
// consumer.cc - the same program in C++17: with the classes of htw/htw.hpp, and C's functions.
#include <htw/htw.hpp>

#include <cstdio>
#include <cstring>

#if HTW_VERSION_NUMBER < 0x000200
#error "the headers of another version"
#endif

int main() {
    htw::scheduler_options options;
    options.clock = htw::clock::manual;
    htw::scheduler scheduler(options);
    int runs = 0;
    htw::timer timer = scheduler.schedule(std::chrono::seconds(1), [&runs] { ++runs; });
    scheduler.advance(std::chrono::seconds(1));
    std::printf("%s\n", htw_version());
    return std::strcmp(htw_version(), HTW_VERSION) == 0 && runs == 1 ? 0 : 1;
}
