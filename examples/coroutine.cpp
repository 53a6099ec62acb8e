/* SPDX-License-Identifier: MIT */
/* coroutine.cpp - C++20: coroutines that sleep in a scheduler, and end when it is stopped. */
#include <htw/htw.hpp>

#include <atomic>
#include <iostream>
#include <latch>

using namespace std::chrono_literals;

namespace {

/* A coroutine that starts at once, and destroys itself when it ends. */
struct fire_and_forget {
    struct promise_type {
        fire_and_forget get_return_object() noexcept {
            return {};
        }
        std::suspend_never initial_suspend() noexcept {
            return {};
        }
        std::suspend_never final_suspend() noexcept {
            return {};
        }
        void return_void() noexcept {
        }
        void unhandled_exception() noexcept {
            std::terminate();
        }
    };
};

/* Each of these takes a few small blocks of memory, and no thread. */
fire_and_forget attempt(htw::scheduler &scheduler, std::atomic<int> &answers, std::latch &done) {
    htw::backoff backoff({ .initial = 1ms, .cap = 4ms });
    for (int i = 0; i < 3; i++)
        co_await scheduler.after(backoff.next());
    answers++;
    done.count_down();
}

/* Runs until the scheduler is stopped. */
fire_and_forget watch(htw::scheduler &scheduler, std::atomic<int> &answers, bool &stopped) {
    std::error_code error;
    while (!error) {
        co_await scheduler.after(10ms, error);
        std::cout << answers << " answers\n";
    }
    stopped = true;
}

} // namespace

int main() {
    constexpr int count = 10000;
    std::atomic<int> answers = 0;
    std::latch done(count);
    bool stopped = false;
    htw::scheduler scheduler;
    watch(scheduler, answers, stopped);
    for (int i = 0; i < count; i++)
        attempt(scheduler, answers, done);
    done.wait();
    scheduler.stop(); // watch() goes on with an error, and ends
    return answers == count && stopped ? 0 : 1;
}
