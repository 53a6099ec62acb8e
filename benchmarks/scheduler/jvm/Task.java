// SPDX-License-Identifier: MIT

import io.netty.util.Timeout;
import io.netty.util.TimerTask;

/** The callback of a timer: a task of the JDK and of Netty, so that neither needs a wrapper. */
abstract class Task implements Runnable, TimerTask {
    @Override
    public final void run(Timeout timeout) {
        run();
    }
}
