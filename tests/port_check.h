/*
 * port_check.h - checks that print the case they were about
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static const char *about = ""; /* the case, printed when a check fails */

static inline void check(bool ok, const char *file, int line, const char *what)
{
    if (ok) {
        passed++;
        return;
    }
    failed++;
    printf("%s:%d: %s [%.60s]\n", file, line, what, about);
}

#define CHECK(x)    check((x) != 0, __FILE__, __LINE__, #x)
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static inline void check_int(long got, long want, const char *file, int line,
                             const char *what)
{
    if (got != want)
        printf("  got %ld, want %ld\n", got, want);
    check(got == want, file, line, what);
}

#define CHECK_INT(got, want) check_int((got), (want), __FILE__, __LINE__, #got)

/* Ends a test program: prints its sum. */
static inline int check_sum(const char *name)
{
    printf("%s: %d passed, %d failed\n", name, passed, failed);
    return failed != 0;
}
