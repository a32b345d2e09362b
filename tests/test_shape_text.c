/* A shape as JSON Schema, its struct as JSON, a misfit in words.
 * Needs: INT64. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/say_schema.c"
#endif

#include "check.h"

#define UNIT(WORD, me) WORD(me, celsius) WORD(me, fahrenheit) WORD(me, kelvin)
TCALL_CHOICE(unit, UNIT)
TCALL_LIST(channels, integer(1, 4), 1, 3)
TCALL_LIST(names, or_null(text(0, 8)), 0, 4)
#define TIMER(ROW, me)                                                   \
    ROW(me, required, integer(1, 3600), seconds, "How long \"to\" wait") \
    ROW(me, optional, named("a/b~c", or_null(text(2, 12))), label, "")
TCALL_SHAPE(timer, TIMER)
TCALL_LIST(timers, object(timer), 0, 2)

TCALL_LIST(numbers, number(0, 9), 0, 3)
#define ALL(ROW, me)                                                           \
    ROW(me, required, text(1, 40), city, "The city")                           \
    ROW(me, required, choice(unit), unit, "Unit")                              \
    ROW(me, defaults(3), integer(1, 7), days, "")                              \
    ROW(me, defaults(21.5), fixed(2, -9.9, 40), heat, "")                      \
    ROW(me, optional, integer64(INT64_MIN, 9000000000000), wide, "")           \
    ROW(me, optional, number(-0.5, TCALL_NO_MAXIMUM), factor, "")              \
    ROW(me, optional, over(number(0, 1)), share, "")                           \
    ROW(me, optional, over(under(number(-1, 2.5))), gain, "")                  \
    ROW(me, optional, characters(2, 3), code, "")                              \
    ROW(me, optional, string(1, 100), note, "")                                \
    ROW(me, required, list(channels), channels, "")                            \
    ROW(me, optional, list(names), names, "")                                  \
    ROW(me, optional, object(timer), timer, "A timer")                         \
    ROW(me, optional, list(timers), timers, "")                                \
    ROW(me, optional, list(numbers), numbers, "")                              \
    ROW(me, optional, json(30), extra, "Anything")                             \
    ROW(me, optional, one_of(TCALL_SHAPE_STRING | TCALL_SHAPE_NUMBER, 9), any, \
        "")                                                                    \
    ROW(me, defaults(true), or_null(boolean), on, "")                          \
    ROW(me, defaults(unit_kelvin), choice(unit), other, "")                    \
    ROW(me, defaults("\xC3\xA9\"x"), text(1, 8), mark, "")
TCALL_OPEN_SHAPE(all, ALL)

static const char all_schema[] =
    "{'type':'object','properties':{"
    "'city':{'type':'string','minLength':1,'maxLength':40,'description':'The "
    "city'},"
    "'unit':{'type':'string','enum':['celsius','fahrenheit','kelvin'],"
    "'description':'Unit'},"
    "'days':{'type':'integer','minimum':1,'maximum':7,'default':3},"
    "'heat':{'type':'number','minimum':-9.9,'maximum':40,'default':21.5},"
    "'wide':{'type':'integer','maximum':9000000000000},"
    "'factor':{'type':'number','minimum':-0.5},"
    "'share':{'type':'number','exclusiveMinimum':0,'maximum':1},"
    "'gain':{'type':'number','exclusiveMinimum':-1,'exclusiveMaximum':2.5},"
    "'code':{'type':'string','minLength':2,'maxLength':3},"
    "'note':{'type':'string','minLength':1},"
    "'channels':{'type':'array','minItems':1,'maxItems':3,'items':{'type':"
    "'integer','minimum':1,'maximum':4}},"
    "'names':{'type':'array','maxItems':4,'items':{'anyOf':[{'type':'string',"
    "'maxLength':8},{'type':'null'}]}},"
    "'timer':{'type':'object','properties':{'seconds':{'type':'integer',"
    "'minimum':1,'maximum':3600,'description':'How long \\'to\\' wait'},"
    "'a/b~c':{'anyOf':[{'type':'string','minLength':2,'maxLength':12},{'type':"
    "'null'}]}},'required':['seconds'],'additionalProperties':false,"
    "'description':'A timer'},"
    "'timers':{'type':'array','maxItems':2,'items':{'type':'object',"
    "'properties':{'seconds':{'type':'integer','minimum':1,'maximum':3600,"
    "'description':'How long \\'to\\' wait'},'a/b~c':{'anyOf':[{'type':"
    "'string','minLength':2,'maxLength':12},{'type':'null'}]}},'required':["
    "'seconds'],'additionalProperties':false}},"
    "'numbers':{'type':'array','maxItems':3,'items':{'type':'number',"
    "'minimum':0,'maximum':9}},"
    "'extra':{'description':'Anything'},"
    "'any':{'anyOf':[{'type':'number'},{'type':'string'}]},"
    "'on':{'anyOf':[{'type':'boolean'},{'type':'null'}],'default':true},"
    "'other':{'type':'string','enum':['celsius','fahrenheit','kelvin'],"
    "'default':'kelvin'},"
    "'mark':{'type':'string','minLength':1,'maxLength':8,'default':"
    "'\xC3\xA9\\'x'}},"
    "'required':['city','unit','channels']}";

/* Returns whether the text is what was written, with ' for ". */
static bool wrote(const tcall_writer *writer, const char *want)
{
    size_t len = strlen(want), i;
    bool same = writer->error == TCALL_OK && writer->fill == len;
    for (i = 0; same && i < len; i++)
        same = writer->buf[i] == (want[i] == '\'' ? '"' : want[i]);
    if (!same)
        printf("wrote  %.*s\nwanted %s\n", (int)writer->fill, writer->buf,
               want);
    return same;
}

static void test_schema(void)
{
    char room[4000];
    tcall_writer writer;
    tcall_writer_init(&writer, room, sizeof room);
    tcall_write_shape(&writer, &all_shape);
    CHECK(wrote(&writer, all_schema));
    tcall_writer_init(&writer, room, sizeof room);
    tcall_write_quote(&writer); /* within a string it is escaped */
    tcall_write_shape(&writer, &timer_shape);
    tcall_write_unquote(&writer);
    CHECK(strstr(room, "long \\\\\\\"to\\\\\\\" wait") != NULL);
    CHECK(strncmp(room, "\"{\\\"type\\\":\\\"object\\\"", 21) == 0);
}

static void give(uint8_t *given, int index)
{
    given[index / 8] = (uint8_t)(given[index / 8] | 1 << index % 8);
}

static void test_struct(void)
{
    struct all args;
    char room[1000];
    tcall_writer writer;
    memcpy(&args, &all_initial_, sizeof args);
    tcall_writer_init(&writer, room, sizeof room);
    tcall_write_struct(&writer, &all_shape, &args);
    CHECK(wrote(&writer, "{'days':3,'heat':21.5,'on':true,'other':'kelvin',"
                         "'mark':'\xC3\xA9\\'x'}"));
    give(args.given_, all_at_city);
    strcpy(args.city, "Gen\"\xC3\xA8ve");
    give(args.given_, all_at_unit);
    args.unit = unit_fahrenheit;
    args.heat = -5;
    give(args.given_, all_at_wide);
    args.wide = INT64_MIN;
    give(args.given_, all_at_factor);
    args.factor = 0.1;
    give(args.given_, all_at_channels);
    args.channels.count = 2;
    args.channels.items[0] = 4;
    args.channels.items[1] = 1;
    give(args.given_, all_at_timers);
    args.timers.count = 1;
    give(args.timers.items[0].given_, timer_at_seconds);
    args.timers.items[0].seconds = 60;
    give(args.given_, all_at_numbers);
    args.numbers.count = 2;
    args.numbers.items[0] = 1.5;
    args.numbers.items[1] = 2;
    give(args.came_, all_at_note); /* as null */
    give(args.given_, all_at_extra);
    strcpy(args.extra, "[1,{\"a\":null}]");
    args.on = false;
    tcall_writer_init(&writer, room, sizeof room);
    tcall_write_struct(&writer, &all_shape, &args);
    CHECK(wrote(
        &writer,
        "{'city':'Gen\\'\xC3\xA8ve','unit':'fahrenheit','days':3,"
        "'heat':-0.05,'wide':-9223372036854775808,'factor':0.1,'note':null,"
        "'channels':[4,1],'timers':[{'seconds':60}],'numbers':[1.5,2],'extra':[1,{'a':"
        "null}],'on':false,'other':'kelvin','mark':'\xC3\xA9\\'x'}"));
}

/* One misfit: its code, the way to it, and what is said. */
typedef struct row {
    uint8_t code, steps;
    uint16_t trail[3];
    bool exact;
    int32_t got;
    const char *keyword, *said;
} row;

static const row rows[] = {
    {TCALL_MISFIT_MAXIMUM,
     1,
     {all_at_days},
     true,
     9,
     "/days: maximum",
     "/days: 9 is over the maximum 7; send an integer from 1 to 7"},
    {TCALL_MISFIT_MINIMUM,
     1,
     {all_at_heat},
     true,
     -991,
     "/heat: minimum",
     "/heat: -9.91 is under the minimum -9.9; send a number from -9.9 to 40"},
    {TCALL_MISFIT_MINIMUM,
     1,
     {all_at_factor},
     false,
     0,
     "/factor: minimum",
     "/factor: this number is under the minimum -0.5; send a number of at "
     "least -0.5"},
    {TCALL_MISFIT_MINIMUM,
     1,
     {all_at_share},
     true,
     0,
     "/share: minimum",
     "/share: 0 is not greater than 0; send a number greater than 0 and at most 1"},
    {TCALL_MISFIT_MAXIMUM,
     1,
     {all_at_share},
     true,
     2000000,
     "/share: maximum",
     "/share: 2 is over the maximum 1; send a number greater than 0 and at most 1"},
    {TCALL_MISFIT_MAXIMUM,
     1,
     {all_at_gain},
     true,
     2500000,
     "/gain: maximum",
     "/gain: 2.5 is not less than 2.5; send a number greater than -1 and less than 2.5"},
    {TCALL_MISFIT_MAXIMUM,
     1,
     {all_at_wide},
     false,
     0,
     "/wide: maximum",
     "/wide: this number is over the maximum 9000000000000; send an integer "
     "of at most 9000000000000"},
    {TCALL_MISFIT_TYPE,
     1,
     {all_at_city},
     false,
     0,
     "/city: type",
     "/city: this is of another type; send a string of 1 to 40 characters"},
    {TCALL_MISFIT_TYPE,
     1,
     {all_at_on},
     false,
     0,
     "/on: type",
     "/on: this is of another type; send a boolean or null"},
    {TCALL_MISFIT_TYPE,
     1,
     {all_at_any},
     false,
     0,
     "/any: type",
     "/any: this is of another type; send a string or a number"},
    {TCALL_MISFIT_TYPE,
     1,
     {all_at_timer},
     false,
     0,
     "/timer: type",
     "/timer: this is of another type; send an object"},
    {TCALL_MISFIT_TYPE,
     2,
     {all_at_names, 3},
     false,
     0,
     "/names/3: type",
     "/names/3: this is of another type; send a string of at most 8 characters or "
     "null"},
    {TCALL_MISFIT_ENUM,
     1,
     {all_at_unit},
     false,
     0,
     "/unit: enum",
     "/unit: this is not one of the allowed values; send 'celsius', "
     "'fahrenheit' or 'kelvin'"},
    {TCALL_MISFIT_MAX_LENGTH,
     1,
     {all_at_code},
     false,
     0,
     "/code: maxLength",
     "/code: the string is over the maximum 3 characters; send a string of 2 "
     "to 3 characters"},
    {TCALL_MISFIT_MIN_LENGTH,
     1,
     {all_at_note},
     false,
     0,
     "/note: minLength",
     "/note: the string is under the minimum 1 character; send a string of at "
     "least 1 character"},
    {TCALL_MISFIT_MAX_ITEMS,
     1,
     {all_at_channels},
     false,
     0,
     "/channels: maxItems",
     "/channels: the array is over the maximum 3 elements; send an array of 1 "
     "to 3 elements"},
    {TCALL_MISFIT_MAXIMUM,
     2,
     {all_at_channels, 1},
     true,
     5,
     "/channels/1: maximum",
     "/channels/1: 5 is over the maximum 4; send an integer from 1 to 4"},
    {TCALL_MISFIT_REQUIRED,
     1,
     {all_at_city},
     false,
     0,
     "required",
     "the property 'city' is missing; add it"},
    {TCALL_MISFIT_REQUIRED,
     2,
     {all_at_timer, timer_at_seconds},
     false,
     0,
     "/timer: required",
     "/timer: the property 'seconds' is missing; add it"},
    {TCALL_MISFIT_UNKNOWN,
     2,
     {all_at_timer, 0xFFFF},
     false,
     0,
     "/timer: additionalProperties",
     "/timer: a property is not known here; use 'seconds' or 'a/b~c' or leave "
     "it out"},
    {TCALL_MISFIT_DUPLICATE,
     3,
     {all_at_timers, 1, timer_at_label},
     false,
     0,
     "/timers/1/a~1b~0c: duplicate",
     "/timers/1/a~1b~0c: this property came twice; send it once"},
    {TCALL_MISFIT_NUL,
     1,
     {all_at_city},
     false,
     0,
     "/city: nul",
     "/city: the string has the character U+0000; leave it out"},
    {TCALL_MISFIT_ROOM,
     1,
     {all_at_note},
     false,
     0,
     "/note: room",
     "/note: there is no room for all of this; send at most 100 bytes"},
    {TCALL_MISFIT_ROOM,
     1,
     {all_at_extra},
     false,
     0,
     "/extra: room",
     "/extra: there is no room for all of this; send at most 30 bytes"},
    {TCALL_MISFIT_LEVELS,
     1,
     {all_at_extra},
     false,
     0,
     "/extra: levels",
     "/extra: objects and arrays are nested too deeply here"},
};

static void test_misfits(void)
{
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        char room[400];
        tcall_writer writer;
        tcall_misfit misfit;
        memset(&misfit, 0, sizeof misfit);
        misfit.code = rows[i].code;
        misfit.steps = rows[i].steps;
        memcpy(misfit.trail, rows[i].trail, sizeof rows[i].trail);
        misfit.exact = rows[i].exact;
        misfit.got = rows[i].got;
        tcall_writer_init(&writer, room, sizeof room);
        tcall_write_misfit(&writer, &misfit, &all_shape, 0);
#ifdef TOOLCALL_NO_SENTENCES
        CHECK(wrote(&writer, rows[i].keyword));
#else
        CHECK(wrote(&writer, rows[i].said));
#endif
    }
}

#if !defined TOOLCALL_NO_SENTENCES && TOOLCALL_MISFIT_TEXT

#define LAMP(ROW, me) ROW(me, optional, choice(unit), unit, "")
TCALL_SHAPE(lamp, LAMP)

/* Reads arguments and writes what is wrong as a plain text, or as a string if
 * `quote`; compares the beginning of it. */
static bool tells(const char *args, bool quote, const char *said)
{
    char room[200];
    struct lamp lamp;
    tcall_writer writer;
    tcall_decoder decoder;
    tcall_decoder_init(&decoder, &lamp_shape, &lamp);
    tcall_decoder_feed(&decoder, args, strlen(args));
    if (tcall_decoder_end(&decoder) != TCALL_E_INVALID)
        return false;
    tcall_writer_init(&writer, room, sizeof room);
    if (quote)
        tcall_write_quote(&writer);
    tcall_write_misfit(&writer, decoder.misfits, &lamp_shape, 0);
    if (quote)
        tcall_write_unquote(&writer);
    if (writer.fill > strlen(said))
        writer.fill = strlen(said);
    return wrote(&writer, said);
}

/* What a model sent ends no line of a log and steers no terminal, and it is
 * escaped once. */
static void test_came(void)
{
    const char word[] = "{\"unit\":\"a\\n\\u001b[2J\\\"\"}";
    const char name[] = "{\"a\\r\\u0001\":1}";
    CHECK(tells(word, false, "/unit: 'a\\n\\u001b[2J\\'' is not one of"));
    CHECK(tells(word, true, "'/unit: \\'a\\n\\u001b[2J\\'\\' is not one"));
    CHECK(tells(name, false, "'a\\r\\u0001' is not a property"));
    CHECK(tells(name, true, "'\\'a\\r\\u0001\\' is not a property"));
}

#endif

#ifndef TOOLCALL_NO_INT64

/* Defaults of numbers are written to six decimals. */
#define NUMBERS(ROW, me)                                         \
    ROW(me, defaults(0.1), number(0, 1), tenth, "")              \
    ROW(me, defaults(-12345.678901), number(-1e6, 0), minus, "") \
    ROW(me, defaults(0.000001), number(0, 1), least, "")         \
    ROW(me, defaults(0), number(0, 1), zero, "")                 \
    ROW(me, defaults(1e-30), number(0, 1), tiny, "")             \
    ROW(me, defaults(999999.999999), number(0, 1e6), nines, "")  \
    ROW(me, defaults(3), number(TCALL_NO_MINIMUM, 9), three, "")
TCALL_SHAPE(defaults, NUMBERS)

static void test_defaults(void)
{
    static const char *const texts[] = {"0.1", "-12345.678901", "0.000001", "0",
                                        "0",   "999999.999999", "3"};
    char room[2000], *at = room;
    tcall_writer writer;
    size_t i;
    tcall_writer_init(&writer, room, sizeof room - 1);
    tcall_write_shape(&writer, &defaults_shape);
    room[writer.fill] = '\0';
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        char want[40];
        sprintf(want, "\"default\":%s}", texts[i]);
        at = strstr(at, "\"default\"");
        CHECK(at && strncmp(at, want, strlen(want)) == 0);
        at = at ? at + 1 : room;
    }
}

#endif

/* Six levels are as deep as the decoder goes; a seventh is not written. */
TCALL_LIST(deepest, integer(0, 9), 0, 2)
#define FIFTH(ROW, me) ROW(me, required, list(deepest), in, "")
TCALL_SHAPE(fifth, FIFTH)
TCALL_LIST(fourth, object(fifth), 0, 1)
#define THIRD(ROW, me) ROW(me, required, list(fourth), in, "")
TCALL_SHAPE(third, THIRD)
#define SECOND(ROW, me) ROW(me, required, object(third), in, "")
TCALL_SHAPE(second, SECOND)
#define FIRST(ROW, me) ROW(me, required, object(second), in, "")
TCALL_SHAPE(first, FIRST)
#define ZEROTH(ROW, me) ROW(me, required, object(first), in, "")
TCALL_SHAPE(zeroth, ZEROTH)

static void test_deep(void)
{
    const char text[] = "{\"in\":{\"in\":[{\"in\":[7,8]}]}}";
    const char deep[] = "{\"in\":{\"in\":{\"in\":[{\"in\":[";
    char room[200];
    tcall_writer writer;
    tcall_decoder decoder;
    struct second second;
    struct first first;
    struct zeroth zeroth;
    tcall_decoder_init(&decoder, &second_shape, &second);
    tcall_decoder_feed(&decoder, text, sizeof text - 1);
    CHECK(tcall_decoder_end(&decoder) == TCALL_OK);
    tcall_writer_init(&writer, room, sizeof room);
    CHECK(tcall_write_struct(&writer, &second_shape, &second) == TCALL_OK);
    CHECK(writer.fill == sizeof text - 1 &&
          memcmp(room, text, writer.fill) == 0);
    memset(&first, 0, sizeof first);
    first.given_[0] = 1;
    first.in = second;
    tcall_writer_init(&writer, room, sizeof room);
    CHECK(tcall_write_struct(&writer, &first_shape, &first) == TCALL_OK);
    CHECK(writer.fill > sizeof deep - 1 &&
          memcmp(room, deep, sizeof deep - 1) == 0);
    memset(&zeroth, 0, sizeof zeroth);
    zeroth.given_[0] = 1;
    zeroth.in = first;
    tcall_writer_init(&writer, room, sizeof room);
    CHECK(tcall_write_struct(&writer, &zeroth_shape, &zeroth) == TCALL_E_DEPTH);
}

int main(void)
{
    test_deep();
#ifndef TOOLCALL_NO_INT64
    test_defaults();
#endif
    test_schema();
    test_struct();
    test_misfits();
#if !defined TOOLCALL_NO_SENTENCES && TOOLCALL_MISFIT_TEXT
    test_came();
#endif
    return check_sum("shape_text");
}
