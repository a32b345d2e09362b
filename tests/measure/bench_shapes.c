/*
 * bench_shapes.c - arguments into a struct by their shape
 *
 *     bench_shapes ROW PIECE
 *
 * reads row ROW of the texts that bench_shapes.py has put into texts.h, in
 * pieces of PIECE bytes. Without arguments, on a Cortex-M4, it reads the first
 * ones in pieces of 1,400 and of 1 and prints the instructions of each.
 */
#include "toolcall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "texts.h" /* texts[]: bytes to read, FIXED first; shape_of[] */

#define PRIORITY(WORD, me) WORD(me, low) WORD(me, normal) WORD(me, high)
TCALL_CHOICE(priority, PRIORITY)
#define PERIOD(WORD, me) WORD(me, day) WORD(me, week) WORD(me, month)
TCALL_CHOICE(period, PERIOD)
#define WHEN(ROW, me)                               \
    ROW(me, required, characters(10, 10), date, "") \
    ROW(me, required, characters(5, 5), time, "")   \
    ROW(me, optional, string(0, 40), tz, "")
TCALL_SHAPE(when, WHEN)
#define REPEAT(ROW, me)                          \
    ROW(me, required, integer(1, 99), every, "") \
    ROW(me, required, choice(period), unit, "")
TCALL_SHAPE(repeat, REPEAT)
TCALL_LIST(tags, characters(0, 16), 0, 8)
#define REMINDER(ROW, me)                             \
    ROW(me, required, characters(1, 80), title, "")   \
    ROW(me, required, object(when), when, "")         \
    ROW(me, optional, choice(priority), priority, "") \
    ROW(me, optional, list(tags), tags, "")           \
    ROW(me, optional, object(repeat), repeat, "")     \
    ROW(me, optional, boolean, notify, "")            \
    ROW(me, optional, integer(0, 1440), lead_minutes, "")
TCALL_SHAPE(reminder, REMINDER)

#define CURRENCY(WORD, me) WORD(me, EUR) WORD(me, USD) WORD(me, GBP)
TCALL_CHOICE(currency, CURRENCY)
#define CATEGORY(WORD, me) WORD(me, goods) WORD(me, service) WORD(me, shipping)
TCALL_CHOICE(category, CATEGORY)
#define ADDRESS(ROW, me)                         \
    ROW(me, optional, string(0, 80), street, "") \
    ROW(me, required, string(0, 40), city, "")   \
    ROW(me, optional, characters(5, 5), zip, "")
TCALL_SHAPE(address, ADDRESS)
#define CUSTOMER(ROW, me)                              \
    ROW(me, required, string(0, 80), name, "")         \
    ROW(me, optional, or_null(string(0, 20)), vat, "") \
    ROW(me, optional, object(address), address, "")
TCALL_SHAPE(customer, CUSTOMER)
#define LINE(ROW, me)                                        \
    ROW(me, required, characters(10, 10), sku, "")           \
    ROW(me, optional, characters(0, 80), desc, "")           \
    ROW(me, required, integer(1, INT32_MAX), qty, "")        \
    ROW(me, required, fixed(2, 0, 20000000), unit_price, "") \
    ROW(me, optional, fixed(3, 0, 1), tax, "")               \
    ROW(me, optional, choice(category), category, "")        \
    ROW(me, optional, boolean, taxable, "")
TCALL_SHAPE(line, LINE)
TCALL_LIST(lines, object(line), 1, 100)
#define INVOICE(ROW, me)                                  \
    ROW(me, required, characters(14, 14), invoice_id, "") \
    ROW(me, required, choice(currency), currency, "")     \
    ROW(me, required, object(customer), customer, "")     \
    ROW(me, required, list(lines), lines, "")             \
    ROW(me, optional, characters(0, 500), notes, "")      \
    ROW(me, optional, integer(0, 365), due_days, "")      \
    ROW(me, optional, boolean, send, "")
TCALL_SHAPE(invoice, INVOICE)

/* What grows: a text, members, nesting. */
#define EIGHT(ROW, me, at)                               \
    ROW(me, optional, integer(0, 9), member_##at##0, "") \
    ROW(me, optional, integer(0, 9), member_##at##1, "") \
    ROW(me, optional, integer(0, 9), member_##at##2, "") \
    ROW(me, optional, integer(0, 9), member_##at##3, "") \
    ROW(me, optional, integer(0, 9), member_##at##4, "") \
    ROW(me, optional, integer(0, 9), member_##at##5, "") \
    ROW(me, optional, integer(0, 9), member_##at##6, "") \
    ROW(me, optional, integer(0, 9), member_##at##7, "")
/* clang-format off */
#define MANY(ROW, me)   \
    EIGHT(ROW, me, 0)   \
    EIGHT(ROW, me, 1)   \
    EIGHT(ROW, me, 2)   \
    EIGHT(ROW, me, 3)   \
    EIGHT(ROW, me, 4)   \
    EIGHT(ROW, me, 5)   \
    EIGHT(ROW, me, 6)   \
    EIGHT(ROW, me, 7)
/* clang-format on */
TCALL_SHAPE(many, MANY)
TCALL_LIST(numbers, integer(0, 9), 0, 8000)
#define LARGE(ROW, me)                            \
    ROW(me, optional, string(0, 31000), text, "") \
    ROW(me, optional, list(numbers), list, "")
#ifdef __arm__
static const tcall_object *const shapes[] = {&reminder_shape, &invoice_shape};
#else
TCALL_OPEN_SHAPE(large, LARGE)
static const tcall_object *const shapes[] = {&reminder_shape, &invoice_shape,
                                             &many_shape, &large_shape};
#endif

static char args[200000];
static size_t length, piece;

/* What is counted. */
int region(size_t row);
__attribute__((noinline)) int region(size_t row)
{
    tcall_decoder decoder;
    const char *at = texts[row], *end = at + length;
    size_t len = piece;
    tcall_decoder_init(&decoder, shapes[shape_of[row]], args);
    for (; at < end; at += len) {
        if (len > (size_t)(end - at))
            len = (size_t)(end - at);
        tcall_decoder_feed(&decoder, at, len);
    }
    return tcall_decoder_end(&decoder);
}

#ifdef __arm__
/* See flow.h. */
#define TIMER ((volatile uint32_t *)0x40000000)

int main(void)
{
    static const size_t pieces[] = {1400, 1};
    size_t row, i;
    TIMER[2] = TIMER[1] = 0xFFFFFFFFu;
    TIMER[0] = 1;
    for (row = 0; row < FIXED; row++)
        for (i = 0; i < 2; i++) {
            uint32_t start = TIMER[1];
            int k, error = TCALL_OK;
            length = strlen(texts[row]);
            piece = pieces[i];
            for (k = 0; k < 20; k++)
                error |= region(row);
            printf("%d %lu\n", error, (unsigned long)(start - TIMER[1]) * 2);
        }
    return 0;
}
#else
int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    length = strlen(texts[atoi(argv[1])]);
    piece = (size_t)atoi(argv[2]);
    printf("%d\n", region((size_t)atoi(argv[1])));
    return 0;
}
#endif
