/*
 * timed.h - how long something took
 *
 * A busy machine may take longer, so this decides only where TEST_TIMED is
 * set, as make test-timed does; elsewhere it is printed.
 */
#ifndef TIMED_H
#define TIMED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline bool in_time(long took, long least, long limit)
{
    if (took >= least && took < limit)
        return true;
#if defined CHECK_EVERY && CHECK_EVERY > 1
    return true; /* emulated: no time is measured, and no environment there */
#else
    printf("  took %ld ms, expected are %ld to %ld\n", took, least, limit);
    return getenv("TEST_TIMED") == NULL;
#endif
}

/* Of clock(), in milliseconds. */
static inline long ms_of_clocks(long clocks)
{
#if defined CHECK_EVERY && CHECK_EVERY > 1
    return clocks;
#else
    return clocks / (CLOCKS_PER_SEC / 1000);
#endif
}

#endif
