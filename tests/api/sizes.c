/* SPDX-License-Identifier: MIT */
/* sizes - prints how many bytes things take, for sizes.py. */
#include "../../src/purgatory/shard.h"

#include <stdio.h>

int main(void) {
    printf("request %zu\n", sizeof(struct htw_request));
    printf("shard %zu\n", sizeof(struct htw__purgatory_shard));
    printf("threshold %zu\n", sizeof(struct htw_threshold));
    return 0;
}
