/* SPDX-License-Identifier: MIT */
/* context.hpp - what parts of C++ programs in the documents take for given. Each is compiled after this, inside a function
   that PART begins, or before it. */
#include <htw/calendar.hpp>
#include <htw/htw.hpp>
#include <htw/journal.hpp>

#include <cstdio>
#include <memory>
#include <string>

using namespace std::chrono_literals;

struct connection {
    void start(htw::scheduler &scheduler);
    void on_data();
    void close();
    htw::timer idle;
};

struct job {
    void run();
};

struct task {
    struct promise_type {
        task get_return_object();
        std::suspend_never initial_suspend();
        std::suspend_never final_suspend() noexcept;
        void return_void();
        void unhandled_exception();
    };
};

struct log {
    std::size_t end;
};

struct client {
    void answer(const char *text);
};

struct session {
    int id;
    htw_timer timer {};
};

bool try_once(int &attempts);
bool send(const std::string &text);
void send_digest();
void callback();

#define PART                                                                                  \
    void part(htw::scheduler &scheduler, htw::group &group, htw::zone &berlin,                \
              htw::calendar &working_days, htw::journal &journal, std::string path, log &log, \
              client &client, std::unique_ptr<job> work, int user, int beats, int backups,    \
              std::error_code error)
