// SPDX-License-Identifier: MIT

import io.netty.util.Timeout;
import io.netty.util.TimerTask;

/** What a timer runs: both a JDK and a Netty task, so that neither peer pays for a wrapper. */
abstract class Task implements Runnable, TimerTask {
    @Override
    public final void run(Timeout timeout) {
        run();
    }
}
