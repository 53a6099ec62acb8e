// SPDX-License-Identifier: MIT

/** The task of timers that are cancelled. */
final class NoTask extends Task {
    @Override
    public void run() {
    }
}
