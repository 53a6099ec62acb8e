// SPDX-License-Identifier: MIT

import io.netty.util.Timeout;
import io.netty.util.TimerTask;

/** The callback of a timer: also a task of Netty's, so that its timers need no wrapper. */
abstract class Task implements Runnable, TimerTask {
    @Override
    public final void run(Timeout timeout) {
        run();
    }
}
