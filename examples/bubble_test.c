/* SPDX-License-Identifier: MIT */
/* bubble_test.c - a test of code that waits for days ends at once: time passes by itself while all threads wait. */
#include <htw/bubble.h>
#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static int backups;

static void *back_up_daily(void *unused) { /* the code under test */
    for (int day = 0; day < 30; day++) {
        sleep(24 * 3600);
        backups++;
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    if (htw_bubble_begin() != 0)
        return 1;
    time_t began = time(NULL);
    pthread_create(&thread, NULL, back_up_daily, NULL);
    sleep(7 * 24 * 3600 + 1);
    assert(backups == 7);
    pthread_join(thread, NULL);
    assert(backups == 30 && time(NULL) == began + 30L * 24 * 3600);
    return htw_bubble_end();
}
