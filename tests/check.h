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

static int check_passed, check_failed;

#define CHECK(what)                  \
    ((what) ? (void)check_passed++   \
            : (void)(check_failed++, \
                     printf("%s:%d: %s\n", __FILE__, __LINE__, #what)))

static int check_sum(const char *name)
{
    printf("%s: %d passed, %d failed\n", name, check_passed, check_failed);
    return check_failed ? 1 : 0;
}
