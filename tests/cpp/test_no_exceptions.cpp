/* SPDX-License-Identifier: MIT */
/* test_no_exceptions.cpp - the C++ headers with -fno-exceptions -fno-rtti. */
#include <htw/htw.hpp>

#include <memory>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;

static_assert(HTW_CPP_EXCEPTIONS == 0);

/* Returns the number of the line that fails; 0: none. */
static int run() {
    std::error_code error;
    htw::scheduler_options options;
    options.clock = htw::clock::manual;
    options.workers = 0;
    htw::scheduler scheduler(options, error);
    if (error || !scheduler)
        return __LINE__;
    int runs = 0;
    auto owned = std::make_unique<int>(1);
    htw::timer timer = scheduler.schedule(
        1ms, [&runs] { runs++; }, error);
    htw::timer second =
        scheduler.schedule_every(1ms, [&runs, owned = std::move(owned)] { runs += *owned; });
    scheduler.advance(3ms);
    if (error || runs != 4)
        return __LINE__;
    scheduler.stop();
    timer = scheduler.schedule(
        1ms, [] {}, error);
    if (error.value() != ESHUTDOWN || timer)
        return __LINE__;

    /* Without a code for the error, an error ends the program. */
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        timer = scheduler.schedule(1ms, [] {});
        _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        return __LINE__;
    return 0;
}

int main() {
    return run();
}
