// SPDX-License-Identifier: MIT

/** The callback of a timer. */
abstract class Task implements Runnable {
}
