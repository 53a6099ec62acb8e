/* SPDX-License-Identifier: MIT */
/*
 * htw/htw.hpp - htw for C++17 and later: classes over the functions of htw/htw.h. Header-only; link
 * with libhtw. docs/cpp.md is the guide.
 *
 *     htw::scheduler scheduler;
 *     htw::timer timer = scheduler.schedule(50ms, [&] { connection.close(); });
 *     scheduler.schedule(1s, [job = std::move(job)] { job->run(); }).detach();
 *     co_await scheduler.after(50ms);                                    // C++20
 *     htw::purgatory<fetch> purgatory(scheduler); // class fetch : public htw::request
 *     purgatory.try_complete_else_watch(std::make_shared<fetch>(...), "orders-3", 500ms);
 *
 * Conventions of all headers of htw/cpp/:
 *  - The C headers describe threads, cost and errors of each function, and so of the method with its
 *    name. A comment here says what is different.
 *  - A method that fails throws std::system_error of htw::error_category(), with the errno value of
 *    the C function. A lack of memory is such an error, too (std::errc::not_enough_memory). With
 *    a std::error_code as its last argument it does not throw; it clears the code when it succeeds
 *    (class failure_to). Without exceptions (-fno-exceptions) what would throw ends the program
 *    (std::terminate). All files of a program that include this header must agree on that option.
 *  - Delays, deadlines and periods are of any std::chrono type. They are rounded up to nanoseconds.
 *    What is too long becomes htw::never.
 *  - Objects can be moved, and not copied. One that was moved from is empty: its methods report
 *    EINVAL, outcome::gone, 0 or htw::never. An `if` of an object tells whether it is not empty.
 *  - `native()` returns the pointer that the C functions expect; the object still owns it.
 */
#ifndef HTW_HTW_HPP
#define HTW_HTW_HPP

#include <htw/htw.h>

#include <htw/cpp/backoff.hpp>
#include <htw/cpp/error.hpp>
#include <htw/cpp/purgatory.hpp>
#include <htw/cpp/scheduler.hpp>
#include <htw/cpp/scope.hpp>
#include <htw/cpp/threshold.hpp>
#include <htw/cpp/wheel.hpp>

#endif // HTW_HTW_HPP
