// SPDX-License-Identifier: MIT

import io.netty.util.Timeout;
import io.netty.util.TimerTask;

/** The callback of a timer: a task of Netty's, so that no timer needs a wrapper. */
abstract class Task implements Runnable, TimerTask {
    @Override
    public final void run(Timeout timeout) {
        run();
    }
}
