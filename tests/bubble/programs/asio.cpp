// SPDX-License-Identifier: MIT
// asio.cpp - a timer of Boost.Asio that is armed again for 30 days, in two threads: prints the hours and seconds.
#include <boost/asio.hpp>
#include <chrono>
#include <iostream>
#include <thread>

static boost::asio::io_context context;
static boost::asio::steady_timer timer(context);
static int hours;

static void wait() {
    timer.expires_after(std::chrono::hours(1));
    timer.async_wait([](const boost::system::error_code &) {
        if (++hours < 30 * 24)
            wait();
    });
}

int main() {
    const auto began = std::chrono::steady_clock::now();
    wait();
    std::thread other([] { context.run(); });
    context.run();
    other.join();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    std::cout << hours << ' ' << static_cast<long>(passed.count()) << '\n';
}
