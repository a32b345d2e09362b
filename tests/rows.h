/*
 * rows.h - tests as a table: what each shows, and the function that does
 */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stdio.h>

typedef struct row {
    const char *what;
    bool (*run)(void);
} row;

/* Runs the rows, prints one line for each and the sum, the value of main. */
static inline int run_rows(const char *name, const row *rows, size_t count)
{
    unsigned failed = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        bool ok = rows[i].run();
        failed += !ok;
        printf("%s  %s\n", ok ? "pass  " : "FAILED", rows[i].what);
    }
    printf("%s: %u passed, %u failed\n", name, (unsigned)count - failed,
           failed);
    return failed != 0;
}

#endif
