/* memory.c - see memory.h. First fit in one array. A test that writes behind
 * its memory, or takes too much of it, ends with a value that is no count of
 * failures. */
#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef TEST_MEMORY
#define TEST_MEMORY (3u << 20)
#endif

typedef struct piece {
    struct piece *next; /* by address */
    size_t size;
} piece;

static const unsigned char fence[16] = {0xA5, 0x5A, 0xA5, 0x5A};
static union {
    piece first;
    uint64_t align;
    char bytes[TEST_MEMORY];
} memory;

static void die(const char *why)
{
    printf("memory of the test: %s\n", why);
    exit(98);
}

/* Where the next piece can begin. */
static char *after(piece *p)
{
    size_t size = p->size ? p->size + sizeof fence : 0;

    return (char *)(p + 1) + ((size + 15) & ~(size_t)15);
}

void *test_malloc(size_t size)
{
    piece *p = &memory.first, *new;

    for (; p->next; p = p->next)
        if ((size_t)((char *)p->next - after(p)) >=
            sizeof *p + size + 2 * sizeof fence)
            break;
    new = (piece *)(void *)after(p);
    if (!p->next && (size_t)(memory.bytes + sizeof memory - (char *)new) <
                        sizeof *p + size + 2 * sizeof fence)
        die("all is taken");
    new->next = p->next;
    new->size = size ? size : 1;
    p->next = new;
    memcpy((char *)(new + 1) + new->size, fence, sizeof fence);
    return new + 1;
}

void test_free(void *pointer)
{
    piece *p = &memory.first, *old = (piece *)pointer - 1;

    if (!pointer)
        return;
    while (p->next != old)
        if (!(p = p->next))
            die("it was not taken");
    if (memcmp((char *)pointer + old->size, fence, sizeof fence) != 0)
        die("written beyond its end");
    p->next = old->next;
}
