/* SPDX-License-Identifier: MIT */
/* htw/htw.h - includes all headers of htw. Each of them may also be included alone. */
#ifndef HTW_HTW_H
#define HTW_HTW_H

#include <htw/base.h>
#include <htw/backoff.h>
#include <htw/executor.h>
#include <htw/group.h>
#include <htw/log.h>
#include <htw/loop.h>
#include <htw/observe.h>
#include <htw/purgatory.h>
#include <htw/purgatory_inspect.h>
#include <htw/scheduler.h>
#include <htw/scope.h>
#include <htw/threshold.h>
#include <htw/timer.h>
#include <htw/wheel.h>
#include <htw/wheel_inspect.h>

#endif /* HTW_HTW_H */
