/* SPDX-License-Identifier: MIT */
/* hello.cpp - the smallest program in C++: of two timers one runs, and one is cancelled. */
#include <htw/htw.hpp>

#include <future>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

int main() {
    htw::scheduler scheduler;
    std::promise<void> greeted;
    bool stranger_greeted = false;

    // Runs in a thread of the scheduler. The lambda owns what it captures.
    htw::timer world = scheduler.schedule(
        50ms, [&greeted, name = std::string("world")](const htw::expiration &expiration) {
            std::cout << "hello, " << name << ": " << expiration.late() / 1us << " us late\n";
            greeted.set_value();
        });
    {
        htw::timer stranger = scheduler.schedule(60s, [&] { stranger_greeted = true; });
    } // cancelled: what it refers to may go

    greeted.get_future().wait();
    return stranger_greeted ? 1 : 0;
}
