/* The least a test needs: CHECK counts, check_sum prints and gives main its
 * value. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

/* Long loops take each so-manieth case: 1, but for computers that are
 * emulated, see tests/firmware, where no time is measured either. */
#ifndef CHECK_EVERY
#define CHECK_EVERY 1
#endif

/* A test that fails so often goes round in a circle: it ends. */
#define CHECK_MOST 10000

static int check_passed, check_failed;

#define CHECK(what) \
    ((what) ? (void)check_passed++ : check_fails(__FILE__, __LINE__, #what))

static int check_sum(const char *name)
{
    printf("%s: %d passed, %d failed\n", name, check_passed, check_failed);
    return check_failed ? 1 : 0;
}

static inline void check_fails(const char *file, int line, const char *what)
{
    printf("%s:%d: %s\n", file, line, what);
    if (++check_failed == CHECK_MOST)
        exit(check_sum("too many"));
}
