/*
 * shapes.c - JSON Schema in, the rows of TCALL_SHAPE out
 *
 * A program for the desk. It reads the definitions of tools, as OpenAI, MCP,
 * Anthropic and Gemini write them, or the schema of one tool, and prints the
 * lists in C of which toolcall.h makes structs and shapes:
 *
 *     build/shapes tools.json                  rows to paste
 *     build/shapes -o tools.h tools.json       a header
 *
 *     build/shapes --nodes -o tools.h tools.json    compiled schemas
 *
 * The schema that toolcall.h writes from such a shape accepts the same values.
 * --nodes takes any schema that toolcall.h does: its nodes become const data,
 * for .parameters = TCALL_NODES(name), and a chip compiles nothing.
 * What a shape cannot say is named on stderr, with the place and the reason;
 * that tool is left out, and the program returns 1 in the end.
 */
#define TOOLCALL_IMPLEMENTATION
#define TOOLCALL_STATIC
#define TOOLCALL_MAX_DEPTH 200
#include "toolcall.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the command line says. */
static struct {
    const char *input, *output, *name, *table;
    long text, most, list, json, fixed;
    bool bytes, int32, nodes, verbose;
    size_t size; /* bytes of the input */
} option = {NULL, NULL, NULL,  NULL,  64,    4096,  8,
            256,  0,    false, false, false, false, 0};

/* -- Memory and text ----------------------------------------------------- */

/* The program is short: it gives nothing back. Each piece of memory points to
 * the one before, so that tools which look for leaks find none. */
typedef union piece {
    union piece *before;
    double number;
    int64_t integer;
} piece;

static void *take(size_t count, size_t size)
{
    static piece *last;
    piece *memory = (piece *)calloc(1, sizeof *memory + count * size);
    if (!memory) {
        fputs("shapes: out of memory\n", stderr);
        exit(2);
    }
    memory->before = last;
    last = memory;
    return memory + 1;
}

/* Text that grows. */
typedef struct buffer {
    char *at;
    size_t len, room;
} buffer;

static void make_room(buffer *to, size_t len)
{
    if (len >= to->room - to->len) {
        size_t room = (to->len + len + 1) * 2;
        char *at = (char *)take(room, 1);
        memcpy(at, to->at ? to->at : "", to->len);
        to->at = at;
        to->room = room;
    }
}

static void add(buffer *to, const char *bytes, size_t len)
{
    make_room(to, len);
    memcpy(to->at + to->len, bytes, len);
    to->len += len;
    to->at[to->len] = 0;
}

#ifdef __GNUC__
__attribute__((format(printf, 2, 3), nonnull(2)))
#endif
static void
say(buffer *to, const char *format, ...)
{
    va_list args;
    int len;
    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        return;
    make_room(to, (size_t)len);
    va_start(args, format);
    vsnprintf(to->at + to->len, (size_t)len + 1, format, args);
    va_end(args);
    to->len += (size_t)len;
}

static char *join(const char *a, const char *b)
{
    buffer both = {NULL, 0, 0};
    say(&both, "%s%s", a, b);
    return both.at;
}

static bool equal(tcall_str a, const char *b)
{
    return a.len == strlen(b) && !memcmp(a.ptr, b, a.len);
}

/* -- What is wrong ------------------------------------------------------- */

/* A place in a schema: a JSON Pointer, its last step first. */
typedef struct place {
    const struct place *up;
    const char *step;
} place;

static const char *tool_name; /* that is made */
static int refusals;          /* why it cannot be made whole */
static bool measuring;        /* it is only made to see how large it is */

static void print_place(const place *at)
{
    if (!at)
        return;
    print_place(at->up);
    fputc('/', stderr);
    for (const char *c = at->step; *c; c++)
        if (*c == '~' || *c == '/')
            fputs(*c == '~' ? "~0" : "~1", stderr);
        else
            fputc(*c, stderr);
}

static void note(const place *at, const char *keyword, const char *reason)
{
    if (measuring)
        return;
    fprintf(stderr, "%s: ", tool_name);
    print_place(at);
    fprintf(stderr, "%s%s: %s\n", at ? ": " : "", keyword, reason);
}

/* Says why a shape cannot say it. */
static void refuse(const place *at, const char *keyword, const char *reason)
{
    refusals++;
    note(at, keyword, reason);
}

/* -- Names --------------------------------------------------------------- */

typedef struct names {
    char **at;
    size_t count, room;
} names;

static void append(names *list, char *name)
{
    if (list->count == list->room) {
        char **at = (char **)take(list->room * 2 + 8, sizeof *at);
        if (list->count)
            memcpy(at, list->at, list->count * sizeof *at);
        list->at = at;
        list->room = list->room * 2 + 8;
    }
    list->at[list->count++] = name;
}

static bool contains(const names *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->at[i], name))
            return true;
    return false;
}

/* Every identifier of the output, as a hash table with chains. */
static names taken[4096];

static names *taken_like(const char *name)
{
    unsigned hash = 5381;
    while (*name)
        hash = hash * 33 + (unsigned char)*name++;
    return &taken[hash % TCALL_ARRAY_LEN(taken)];
}

/* Is a word in a list that has each between spaces? */
static bool is_among(const char *list, const char *word)
{
    return !strchr(word, ' ') && strstr(list, join(join(" ", word), " "));
}

/* Words that are no names in C or C++, or that macros may replace: those of
 * the standard headers, and the parameters of the lists. */
static const char reserved[] =
    " "
    "alignas alignof and and_eq asm assert auto bitand bitor bool "
    "break came_ case catch char char16_t char32_t char8_t class "
    "co_await co_return co_yield compl complex concept const "
    "const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum errno explicit "
    "export extern false far float for friend given_ goto i386 if "
    "imaginary inline int interface linux long me mutable namespace "
    "near new noexcept none_ noreturn not not_eq nullptr operator or "
    "or_eq private protected public register reinterpret_cast requires "
    "restrict return short signed sizeof small static static_assert "
    "static_cast stderr stdin stdout struct switch template this "
    "thread_local throw true try typedef typeid typename typeof "
    "typeof_unqual union unix unsigned using virtual void volatile "
    "wchar_t while xor xor_eq BUFSIZ EOF ERROR HUGE_VAL INFINITY NAN "
    "NDEBUG NULL RAND_MAX ROW TRUE FALSE WORD ";

/* Is it no name for us? Types of the standard headers, and macros that say what
 * numbers they hold, are not listed one by one. */
static bool is_reserved(const char *word)
{
    static const char *const ends[] = {"_t", "_MAX", "_MIN", "_BIT", "_WIDTH"};
    size_t len = strlen(word);
    for (size_t i = 0; i < TCALL_ARRAY_LEN(ends); i++)
        if (len > strlen(ends[i]) &&
            !strcmp(word + len - strlen(ends[i]), ends[i]))
            return true;
    return is_among(reserved, word);
}

/* Does it begin as names of the compiler or of toolcall.h do? */
static bool begins_reserved(const char *word)
{
    return (*word == '_' &&
            (word[1] == '_' || isupper((unsigned char)word[1]))) ||
           !strncmp(word, "tcall", 5) || !strncmp(word, "TCALL", 5) ||
           !strncmp(word, "TOOLCALL", 8);
}

/* Returns the letters and digits of a name, anything else as one '_' between
 * them; never empty. */
static char *letters(tcall_str name, const char *otherwise)
{
    buffer made = {NULL, 0, 0};
    for (size_t i = 0; i < name.len; i++) {
        char byte = name.ptr[i];
        bool letter = (unsigned char)byte < 128 && isalnum((unsigned char)byte);
        if (letter || byte == '_')
            add(&made, &byte, 1);
        else if (made.len && made.at[made.len - 1] != '_')
            add(&made, "_", 1);
    }
    while (made.len > 1 && made.at[made.len - 1] == '_' &&
           !equal(name, made.at))
        made.at[--made.len] = 0;
    return made.len && !equal(tcall_str_of("_"), made.at) ? made.at
                                                          : join(otherwise, "");
}

static char *numbered(const char *name, int number)
{
    buffer made = {NULL, 0, 0};
    say(&made, number > 1 ? "%s_%d" : "%s", name, number);
    return made.at;
}

/* Returns an identifier for a member or word that list does not have yet, and
 * puts it there. */
static char *member_name(names *list, tcall_str name, const char *otherwise)
{
    char *made = letters(name, otherwise), *unique = NULL;
    if (isdigit((unsigned char)*made) || begins_reserved(made))
        made = join(join(otherwise, "_"), made);
    if (is_reserved(made))
        made = join(made, "_value");
    for (int number = 1; !unique || contains(list, unique); number++)
        unique = numbered(made, number);
    append(list, unique);
    return unique;
}

static char *upper(const char *name)
{
    char *made = join(name, "");
    for (char *c = made; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return made;
}

/* Returns base, or base_2 and so on: the first for which no identifier is taken
 * that has it before one of these endings or, with '$' before the ending, its
 * capitals. From then on they are taken, unless we only measure. */
static char *claim(const char *base, const names *endings)
{
    for (int number = 1;; number++) {
        char *candidate = numbered(base, number);
        names made = {NULL, 0, 0};
        bool free_ones = !is_reserved(candidate);
        for (size_t i = 0; i < endings->count; i++) {
            const char *ending = endings->at[i];
            append(&made, *ending == '$' ? join(upper(candidate), ending + 1)
                                         : join(candidate, ending));
            if (contains(taken_like(made.at[i]), made.at[i]))
                free_ones = false;
        }
        for (size_t i = 0; free_ones && !measuring && i < made.count; i++)
            append(taken_like(made.at[i]), made.at[i]);
        if (free_ones)
            return candidate;
    }
}

/* Returns a name for a comment, which it neither ends nor begins anew. */
static char *commented(const char *name)
{
    char *made = join(name, "");
    for (char *c = made; *c; c++)
        if ((*c == '*' && c[1] == '/') || (*c == '/' && c[1] == '*') ||
            (unsigned char)*c < ' ')
            *c = '_';
    return made;
}

/* -- What a schema means ------------------------------------------------- */

typedef enum form {
    PLAIN, /* nothing but types is asked for */
    INTEGER,
    NUMBER,
    STRING,
    CHOICE,
    LIST,
    OBJECT
} form;

struct member;

/* What a schema accepts: values of these types, and of the form's type only
 * those within its limits. NUMBER never comes without INTEGER in types. */
typedef struct meaning {
    int types;
    form form;
    int64_t low, high;      /* integer; INT64_MIN, INT64_MAX: none */
    tcall_json least, most; /* number; missing: none */
    bool over, under;       /* least, most are excluded */
    int64_t min, max;       /* string, list; max -1: none */
    names words;            /* choice */
    struct meaning *item;   /* list */
    struct member *members; /* object */
    size_t member_count;
    bool open;
    const char *description;
    tcall_json initial; /* default; missing: none */
} meaning;

typedef struct member {
    const char *name;
    bool required;
    meaning value;
} member;

enum {
    ALL = TCALL_SHAPE_ANY,
    TEXTS = TCALL_SHAPE_STRING,
    LISTS = TCALL_SHAPE_ARRAY,
    OBJECTS = TCALL_SHAPE_OBJECT,
    NUMBERS = TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER,
    MOST_WORDS = 254 /* of a choice */
};

static const struct {
    const char *name;
    int types;
} type_names[] = {
    {"null", TCALL_SHAPE_NULL},       {"boolean", TCALL_SHAPE_BOOLEAN},
    {"integer", TCALL_SHAPE_INTEGER}, {"number", NUMBERS},
    {"string", TCALL_SHAPE_STRING},   {"array", TCALL_SHAPE_ARRAY},
    {"object", TCALL_SHAPE_OBJECT}};

/* Returns the types of {"type": name}, or 0. */
static int type_of(tcall_json name)
{
    for (size_t i = 0; i < TCALL_ARRAY_LEN(type_names); i++)
        if (!strcmp(tcall_json_string(name, ""), type_names[i].name))
            return type_names[i].types;
    return 0;
}

static int types_of(const place *at, tcall_json type)
{
    int types = 0;
    tcall_json one;
    if (!type.at)
        return ALL;
    if (tcall_json_type(type) != TCALL_ARRAY) {
        types = type_of(type);
    } else {
        for (one = tcall_json_first(type); one.at; one = tcall_json_next(one))
            if (!type_of(one))
                types = -1;
            else if (types >= 0)
                types |= type_of(one);
    }
    if (types > 0)
        return types;
    refuse(at, "type", "is no type of JSON Schema");
    return ALL;
}

/* What is done about a keyword. */
typedef enum treatment {
    READ,       /* below */
    ANNOTATION, /* dropped: it accepts everything */
    REFUSED     /* where values of its types may come */
} treatment;

static const struct keyword {
    treatment treatment;
    int types;         /* that they are about */
    tcall_type value;  /* their own; TCALL_MISSING: several */
    const char *names; /* each between spaces */
} keywords[] = {
    {READ, ALL, TCALL_MISSING, " type const default "},
    {READ, ALL, TCALL_ARRAY, " enum anyOf oneOf allOf "},
    {READ, ALL, TCALL_STRING, " $ref description "},
    {READ, ALL, TCALL_OBJECT, " $defs definitions "},
    {READ, NUMBERS, TCALL_NUMBER,
     " minimum maximum exclusiveMinimum exclusiveMaximum "},
    {READ, TEXTS, TCALL_NUMBER, " minLength maxLength "},
    {READ, LISTS, TCALL_MISSING, " items "},
    {READ, LISTS, TCALL_NUMBER, " minItems maxItems "},
    {READ, OBJECTS, TCALL_OBJECT, " properties "},
    {READ, OBJECTS, TCALL_ARRAY, " required "},
    {READ, OBJECTS, TCALL_MISSING,
     " additionalProperties unevaluatedProperties "},
    {ANNOTATION, ALL, TCALL_MISSING,
     " title examples example format deprecated readOnly writeOnly "
     "contentEncoding contentMediaType contentSchema $schema $id $anchor "
     "$comment then else "},
    {ANNOTATION, LISTS, TCALL_MISSING,
     " additionalItems minContains maxContains "},
    {REFUSED, ALL, TCALL_MISSING, " not if $dynamicRef $recursiveRef "},
    {REFUSED, TEXTS, TCALL_MISSING, " pattern "},
    {REFUSED, NUMBERS, TCALL_MISSING, " multipleOf "},
    {REFUSED, LISTS, TCALL_MISSING,
     " uniqueItems prefixItems unevaluatedItems contains "},
    {REFUSED, OBJECTS, TCALL_MISSING,
     " minProperties maxProperties patternProperties propertyNames "
     "dependencies dependentRequired dependentSchemas "},
};

static const struct keyword *keyword_of(const char *name)
{
    for (size_t i = 0; i < TCALL_ARRAY_LEN(keywords); i++)
        if (is_among(keywords[i].names, name))
            return &keywords[i];
    return NULL;
}

/* Returns the value of a keyword; a missing one where it is of a type that it
 * must not have, which look_at_keywords refuses. */
static tcall_json value_of(tcall_json schema, const char *keyword)
{
    tcall_json value = tcall_json_get(schema, keyword);
    tcall_type wanted = keyword_of(keyword)->value;
    if (wanted && tcall_json_type(value) != wanted)
        memset(&value, 0, sizeof value);
    return value;
}

/* Does this schema accept everything? */
static bool accepts_all(tcall_json schema)
{
    return tcall_json_bool(schema, false) ||
           (tcall_json_type(schema) == TCALL_OBJECT &&
            !tcall_json_count(schema));
}

/* Keywords that say nothing with this value, although they are refused. */
static bool says_nothing(const char *name, int types, tcall_json value)
{
    if (!strcmp(name, "multipleOf"))
        return tcall_json_int(value, 0) == 1 && !(types & TCALL_SHAPE_NUMBER);
    if (!strcmp(name, "minProperties"))
        return tcall_json_int(value, 1) == 0;
    if (!strcmp(name, "uniqueItems"))
        return !tcall_json_bool(value, true);
    if (!strcmp(name, "propertyNames") &&
        !strcmp(tcall_json_string(tcall_json_get(value, "type"), ""), "string"))
        return tcall_json_count(value) == 1;
    return strcmp(name, "not") && strcmp(name, "contains") &&
           accepts_all(value);
}

/* Refuses the keywords that a shape has nothing for, and notes the others that
 * get lost. */
static void look_at_keywords(const place *at, tcall_json schema, int types)
{
    tcall_json value = tcall_json_first(schema);
    for (; value.at; value = tcall_json_next(value)) {
        const char *name = tcall_json_key(value).ptr;
        const struct keyword *known = keyword_of(name);
        if (!known && strncmp(name, "x-", 2))
            note(at, name, "is no keyword of JSON Schema: dropped");
        else if (!known || known->treatment == ANNOTATION) {
            if (option.verbose)
                note(at, name, "dropped");
        } else if (!(known->types & types)) {
            if (option.verbose)
                note(at, name, "says nothing of values of this type: dropped");
        } else if (known->value && known->value != tcall_json_type(value)) {
            refuse(at, name, "has a value of another type than it must have");
        } else if (known->treatment == REFUSED &&
                   !says_nothing(name, types, value)) {
            refuse(at, name, "a shape has nothing for it");
        }
    }
}

static meaning read_schema(const place *at, tcall_json schema);

static meaning plain(int types)
{
    meaning made;
    memset(&made, 0, sizeof made);
    made.types = types;
    made.low = INT64_MIN;
    made.high = INT64_MAX;
    made.max = -1;
    made.open = true;
    return made;
}

/* Returns a count that is a keyword's value, or otherwise where it is not
 * given. */
static int64_t count_of(const place *at, tcall_json schema, const char *keyword,
                        int64_t otherwise)
{
    tcall_json value = value_of(schema, keyword);
    int64_t count = tcall_json_int64(value, -1);
    if (!value.at)
        return otherwise;
    if (count < 0 || count > INT32_MAX) {
        refuse(at, keyword, "is no count below 2,147,483,648");
        return otherwise;
    }
    return count;
}

/* Narrows the integers by the bound that a keyword sets: rounded up (direction
 * 1) or down (-1), and one further where it is excluded. */
static void narrow_integers(const place *at, meaning *made, tcall_json schema,
                            const char *keyword, int direction)
{
    tcall_json value = value_of(schema, keyword);
    double number = tcall_json_double(value, 0);
    double whole = direction > 0 ? ceil(number) : floor(number);
    bool excluded = *keyword == 'e' && !(number < whole) && !(number > whole);
    int64_t bound = tcall_json_int64(value, (int64_t)0);
    if (!value.at)
        return;
    if (number * direction > 9.2e18) {
        refuse(at, keyword, "leaves no integer of 64 bits");
        return;
    }
    if (number * direction < -9.2e18)
        return; /* no integer of 64 bits is beyond it */
    if (number < whole || number > whole)
        bound = (int64_t)whole;
    bound += excluded ? direction : 0;
    if (direction > 0 && bound > made->low)
        made->low = bound;
    else if (direction < 0 && bound < made->high)
        made->high = bound;
    made->form = INTEGER;
}

static void read_integer(const place *at, meaning *made, tcall_json schema)
{
    narrow_integers(at, made, schema, "minimum", 1);
    narrow_integers(at, made, schema, "maximum", -1);
    narrow_integers(at, made, schema, "exclusiveMinimum", 1);
    narrow_integers(at, made, schema, "exclusiveMaximum", -1);
    if (made->low > made->high)
        refuse(at, "minimum", "is over maximum");
}

/* Can toolcall.h hold this bound exactly, as millionths in an int64_t? The
 * expression is that of TCALL_MILLIONTHS_. */
static bool in_millionths(tcall_json bound)
{
    double value = tcall_json_double(bound, 0);
    int64_t units;
    if (fabs(value) > 9e12)
        return false;
    units = (int64_t)(value * 1000000. + (value < 0 ? -0.5 : 0.5));
    if (fabs(value) > 9e9) /* beyond the digits of a double */
        return units % 1000000 == 0 && !(value < ceil(value)) &&
               units / 1000000 == (int64_t)value;
    return !(value < (double)units / 1000000.) &&
           !(value > (double)units / 1000000.);
}

/* Reads one end of the bounds of a number: the narrower of two keywords. */
static tcall_json number_bound(const place *at, tcall_json schema,
                               const char *keyword, const char *excluding,
                               bool *excluded)
{
    tcall_json bound = value_of(schema, keyword);
    tcall_json other = value_of(schema, excluding);
    double distance = tcall_json_double(other, 0) - tcall_json_double(bound, 0);
    bool low = keyword[1] == 'i'; /* of minimum */
    *excluded =
        other.at && (!bound.at || (low ? distance >= 0 : distance <= 0));
    if (*excluded)
        bound = other;
    if (bound.at && !in_millionths(bound))
        refuse(at, *excluded ? excluding : keyword,
               "has more than 6 decimals, or is too large");
    return bound;
}

static void read_number(const place *at, meaning *made, tcall_json schema)
{
    made->least =
        number_bound(at, schema, "minimum", "exclusiveMinimum", &made->over);
    made->most =
        number_bound(at, schema, "maximum", "exclusiveMaximum", &made->under);
    if (made->least.at || made->most.at)
        made->form = NUMBER;
    if (made->least.at && made->most.at) {
        double room = tcall_json_double(made->most, 0) -
                      tcall_json_double(made->least, 0);
        if (made->over || made->under ? room <= 0 : room < 0)
            refuse(at, made->over ? "exclusiveMinimum" : "minimum",
                   "no value is left");
    }
}

static void read_string(const place *at, meaning *made, tcall_json schema)
{
    made->min = count_of(at, schema, "minLength", 0);
    made->max = count_of(at, schema, "maxLength", -1);
    if (made->min > 0 || made->max >= 0)
        made->form = STRING;
    if (made->max >= 0 && made->max < made->min)
        refuse(at, "maxLength", "is less than minLength");
}

static void read_list(const place *at, meaning *made, tcall_json schema)
{
    tcall_json items = value_of(schema, "items");
    place below = {at, "items"};
    made->min = count_of(at, schema, "minItems", 0);
    made->max = count_of(at, schema, "maxItems", -1);
    if (made->max == 0)
        refuse(at, "maxItems", "0: a list has room for one item at least");
    else if (made->max > 0 && made->max < made->min)
        refuse(at, "maxItems", "is less than minItems");
    if (tcall_json_type(items) == TCALL_ARRAY) {
        refuse(at, "items", "a schema for each position");
        return;
    }
    if (!items.at && !made->min && made->max < 0)
        return;
    made->form = LIST;
    made->item = (meaning *)take(1, sizeof *made->item);
    *made->item = items.at ? read_schema(&below, items) : plain(ALL);
}

static void read_required(const place *at, meaning *made, tcall_json required)
{
    tcall_json name = tcall_json_first(required);
    for (; name.at; name = tcall_json_next(name)) {
        const char *wanted = tcall_json_string(name, "");
        size_t i = 0;
        while (i < made->member_count && strcmp(made->members[i].name, wanted))
            i++;
        if (i == made->member_count && !made->open) {
            refuse(at, "required", "names a member that may not come");
        } else if (i == made->member_count) {
            made->members[i].name = wanted;
            made->members[i].value = plain(ALL);
            made->member_count++;
        }
        made->members[i].required = true;
    }
}

/* Returns false where an object has no other members than the known ones. */
static bool read_open(const place *at, tcall_json schema)
{
    static const char *const others[] = {"additionalProperties",
                                         "unevaluatedProperties"};
    bool open = true;
    for (int i = 0; i < 2; i++) {
        tcall_json value = value_of(schema, others[i]);
        if (tcall_json_type(value) == TCALL_BOOL &&
            !tcall_json_bool(value, true))
            open = false;
        else if (value.at && !accepts_all(value))
            refuse(at, others[i], "a schema for members that have no name");
    }
    return open;
}

static void read_object(const place *at, meaning *made, tcall_json schema)
{
    tcall_json properties = value_of(schema, "properties");
    tcall_json required = value_of(schema, "required");
    tcall_json value = tcall_json_first(properties);
    place within = {at, "properties"}, below = {&within, NULL};
    size_t count = (size_t)tcall_json_count(properties) +
                   (size_t)tcall_json_count(required);
    made->open = read_open(at, schema);
    made->members = (member *)take(count + 1, sizeof *made->members);
    for (; value.at; value = tcall_json_next(value)) {
        member *next = &made->members[made->member_count++];
        next->name = below.step = tcall_json_key(value).ptr;
        next->value = read_schema(&below, value);
        if (strlen(next->name) != tcall_json_key(value).len)
            refuse(&below, "properties", "its name has the character U+0000");
    }
    read_required(at, made, required);
    if (made->member_count > 64)
        refuse(at, "properties", "more than 64 members");
    if (made->member_count || !made->open)
        made->form = OBJECT;
}

/* The types of which a form has values. */
static int limited_types(form of)
{
    static const int types[] = {
        0,     NUMBERS,           NUMBERS,           TEXTS,
        TEXTS, TCALL_SHAPE_ARRAY, TCALL_SHAPE_OBJECT};
    return types[of];
}

/* Reads the limits of the one type that may have some. */
static void read_limits(const place *at, meaning *made, tcall_json schema)
{
    static const struct {
        int type;
        void (*read)(const place *at, meaning *made, tcall_json schema);
    } readers[] = {{TCALL_SHAPE_INTEGER, read_integer},
                   {TCALL_SHAPE_NUMBER, read_number},
                   {TEXTS, read_string},
                   {LISTS, read_list},
                   {OBJECTS, read_object}};
    int types = made->types, limited = 0;
    for (size_t i = types & TCALL_SHAPE_NUMBER ? 1 : 0;
         i < TCALL_ARRAY_LEN(readers); i++) {
        meaning next = plain(types);
        if (types & readers[i].type)
            readers[i].read(at, &next, schema);
        if (next.form) {
            limited++;
            *made = next;
        }
    }
    types &= ~(limited_types(made->form) | TCALL_SHAPE_NULL);
    if (limited > 1 || (limited && types))
        refuse(at, "type", "limits of one type beside other types");
}

/* The values of an enum. */
typedef struct values {
    names words;
    int64_t low, high;
    int integers, truths, others; /* truths: bits, 1 false, 2 true */
    bool null;
} values;

static void add_value(const place *at, values *all, tcall_json value, int types)
{
    tcall_str text = tcall_json_str(value);
    int64_t number = tcall_json_int64(value, INT64_MIN);
    tcall_type type = tcall_json_type(value);
    if (type == TCALL_NULL) {
        all->null = types & TCALL_SHAPE_NULL;
    } else if (type == TCALL_STRING && types & TCALL_SHAPE_STRING) {
        if (strlen(text.ptr) != text.len)
            refuse(at, "enum", "a word has the character U+0000");
        if (!contains(&all->words, text.ptr))
            append(&all->words, join(text.ptr, ""));
    } else if (type == TCALL_NUMBER && types & NUMBERS) {
        all->others += number == INT64_MIN;
        all->low = !all->integers || number < all->low ? number : all->low;
        all->high = !all->integers || number > all->high ? number : all->high;
        all->integers++;
    } else if (type == TCALL_BOOL && types & TCALL_SHAPE_BOOLEAN) {
        all->truths |= tcall_json_bool(value, false) ? 2 : 1;
    } else if (type == TCALL_ARRAY || type == TCALL_OBJECT) {
        all->others++;
    }
}

/* Returns what an enum accepts. */
static meaning of_values(const place *at, const values *all,
                         const char *keyword)
{
    meaning made = plain(all->null ? TCALL_SHAPE_NULL : 0);
    if (all->words.count) {
        made.types |= TEXTS;
        made.form = CHOICE;
        made.words = all->words;
    } else if (all->integers) {
        made.types |= TCALL_SHAPE_INTEGER;
        made.form = INTEGER;
        made.low = all->low;
        made.high = all->high;
    } else if (all->truths) {
        made.types |= TCALL_SHAPE_BOOLEAN;
    }
    if (all->others || all->truths % 3 ||
        (all->words.count > 0) + (all->integers > 0) + (all->truths > 0) > 1 ||
        (all->integers && (uint64_t)all->high - (uint64_t)all->low + 1 !=
                              (uint64_t)all->integers))
        refuse(at, keyword,
               "values that are neither words nor a range of "
               "integers nor both truth values");
    else if (all->words.count > MOST_WORDS)
        refuse(at, keyword, "more than 254 words");
    else if (!made.types)
        refuse(at, keyword, "no value is left");
    return made;
}

/* -- Schemas of schemas -------------------------------------------------- */

/* Do both accept the same? Only what is no list and no object is compared. */
static bool same(const meaning *a, const meaning *b)
{
    if (a->form != b->form || a->form == NUMBER || a->form >= LIST)
        return false;
    if (a->low != b->low || a->high != b->high || a->min != b->min ||
        a->max != b->max || a->words.count != b->words.count)
        return false;
    for (size_t i = 0; i < a->words.count; i++)
        if (!contains(&b->words, a->words.at[i]))
            return false;
    return true;
}

/* Widens a by b: what one of them accepts or, with once, exactly one. Returns
 * NULL, or why no kind can say it. */
static const char *widen(meaning *a, const meaning *b, bool once)
{
    int types = a->types | b->types;
    const meaning *limits = a->form ? a : b;
    const meaning *other = a->form ? b : a;
    if (once && a->types & b->types &&
        !(a->form == CHOICE && b->form == CHOICE))
        return "two of its schemas accept the same value";
    if (a->form == CHOICE && b->form == CHOICE) {
        if (once && (a->types & b->types) != TEXTS)
            return "two of its schemas accept the same value";
        for (size_t i = 0; i < b->words.count; i++)
            if (!contains(&a->words, b->words.at[i]))
                append(&a->words, b->words.at[i]);
            else if (once)
                return "two of its schemas accept the same value";
        if (a->words.count > MOST_WORDS)
            return "more than 254 words";
    } else if (a->form && b->form) {
        if (!same(a, b))
            return "schemas with different limits";
    } else if (limits->form) {
        int covered = limited_types(limits->form) & limits->types;
        if ((other->types & covered) == covered) {
            *a = plain(types); /* the other one accepts all of them */
        } else {
            if (types & ~(covered | TCALL_SHAPE_NULL))
                return "limits of one type beside other types";
            if (other->types & covered)
                return "all integers, but not all numbers";
            *a = *limits;
        }
    }
    a->types = types;
    return NULL;
}

/* Narrows a to what b accepts as well. Returns NULL, or why it cannot. */
static const char *narrow(meaning *a, const meaning *b)
{
    int types = a->types & b->types;
    meaning narrowed = a->form ? *a : *b;
    const meaning *other = a->form ? b : a;
    if (a->form == INTEGER && b->form == INTEGER) {
        narrowed.low = a->low > b->low ? a->low : b->low;
        narrowed.high = a->high < b->high ? a->high : b->high;
        if (narrowed.low > narrowed.high)
            return "no value is left";
    } else if (a->form && b->form && !same(a, b)) {
        return "two schemas with limits";
    }
    if (narrowed.form == NUMBER && !(other->types & TCALL_SHAPE_NUMBER))
        return "integers among numbers with limits";
    if (!types)
        return "no value is left";
    if (!(limited_types(narrowed.form) & types))
        narrowed.form = PLAIN;
    if (narrowed.form == INTEGER)
        types &= ~TCALL_SHAPE_NUMBER;
    narrowed.types = types;
    narrowed.description = a->description;
    narrowed.initial = a->initial;
    *a = narrowed;
    return NULL;
}

/* Reads anyOf, oneOf or allOf into made. */
static void read_branches(const place *at, meaning *made, tcall_json branches,
                          const char *keyword)
{
    place within = {at, keyword}, below = {&within, NULL};
    tcall_json branch = tcall_json_first(branches);
    bool all = !strcmp(keyword, "allOf"), once = !strcmp(keyword, "oneOf");
    const char *why = tcall_json_count(branches) ? NULL : "is empty";
    int before = refusals;
    meaning joint = plain(ALL), next;
    for (int i = 0; branch.at; i++, branch = tcall_json_next(branch)) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        below.step = number;
        next = read_schema(&below, branch);
        if (!i)
            joint = next;
        else if (!why)
            why = all ? narrow(&joint, &next) : widen(&joint, &next, once);
    }
    if (!why)
        why = narrow(made, &joint);
    if (!made->description && all)
        made->description = joint.description;
    if (why && refusals == before) /* else the reason is in one of them */
        refuse(at, keyword, why);
}

static tcall_json root; /* the schema that "#/$defs/x" is in */

/* Follows a JSON Pointer below the root. Returns a missing value where there is
 * nothing. */
static tcall_json target_of(const char *pointer)
{
    tcall_json found = root;
    if (*pointer == '#')
        pointer++;
    else
        pointer = "?"; /* not in this schema */
    while (*pointer == '/' && found.at) {
        buffer step = {NULL, 0, 0};
        for (pointer++; *pointer && *pointer != '/'; pointer++) {
            bool escape = *pointer == '~' && pointer[1];
            pointer += escape;
            add(&step, escape ? *pointer == '1' ? "/" : "~" : pointer, 1);
        }
        found = tcall_json_type(found) == TCALL_ARRAY
                    ? tcall_json_at(found, atoi(step.at ? step.at : "-1"))
                    : tcall_json_get(found, step.at ? step.at : "");
    }
    if (*pointer)
        memset(&found, 0, sizeof found);
    return found;
}

/* Reads what "$ref" points to in its place. */
static void read_reference(const place *at, meaning *made, tcall_json reference)
{
    static const char *under_way[64];
    static size_t depth;
    place below = {at, "$ref"};
    tcall_json target = target_of(tcall_json_string(reference, ""));
    const char *why = target.at ? NULL : "points to nothing in this schema";
    meaning meant;
    for (size_t i = 0; i < depth; i++)
        if (under_way[i] == target.at)
            why = "leads back to itself";
    if (!why && depth < TCALL_ARRAY_LEN(under_way)) {
        under_way[depth++] = target.at;
        meant = read_schema(&below, target);
        depth--;
        why = narrow(made, &meant);
        if (!made->description)
            made->description = meant.description;
        if (!made->initial.at)
            made->initial = meant.initial;
    }
    if (why)
        refuse(at, "$ref", why);
}

/* Reads enum or, with a single value, const. */
static void read_values(const place *at, meaning *made, tcall_json schema,
                        const char *keyword)
{
    tcall_json given = value_of(schema, keyword);
    bool single = !strcmp(keyword, "const");
    int before = refusals;
    tcall_json value = tcall_json_first(given);
    const char *why;
    meaning meant;
    values all;
    if (!given.at)
        return;
    memset(&all, 0, sizeof all);
    if (single)
        add_value(at, &all, given, made->types);
    for (; !single && value.at; value = tcall_json_next(value))
        add_value(at, &all, value, made->types);
    meant = of_values(at, &all, keyword);
    why = refusals > before ? NULL : narrow(made, &meant);
    if (why)
        refuse(at, keyword, why);
}

static meaning read_schema(const place *at, tcall_json schema)
{
    static const char *const combined[] = {"anyOf", "oneOf", "allOf"};
    meaning made = plain(ALL);
    tcall_json words;
    if (tcall_json_type(schema) != TCALL_OBJECT) {
        if (!tcall_json_bool(schema, false))
            refuse(at, "schema", "accepts nothing, or is none");
        return made;
    }
    made.types = types_of(at, value_of(schema, "type"));
    if (!at && !value_of(schema, "type").at)
        made.types = TCALL_SHAPE_OBJECT; /* arguments are */
    read_limits(at, &made, schema);
    read_values(at, &made, schema, "const");
    read_values(at, &made, schema, "enum");
    look_at_keywords(at, schema, made.types);
    words = value_of(schema, "description");
    made.description = tcall_json_string(words, NULL);
    if (made.description &&
        strlen(made.description) != tcall_json_str(words).len)
        refuse(at, "description", "has the character U+0000");
    made.initial = value_of(schema, "default");
    for (size_t i = 0; i < TCALL_ARRAY_LEN(combined); i++)
        if (value_of(schema, combined[i]).at)
            read_branches(at, &made, value_of(schema, combined[i]),
                          combined[i]);
    if (value_of(schema, "$ref").at)
        read_reference(at, &made, value_of(schema, "$ref"));
    return made;
}

/* -- Writing ------------------------------------------------------------- */

/* The definitions of one tool, and what is known of them. */
typedef struct output {
    buffer out;
    int levels; /* objects and lists that lie within each other, at most */
} output;

/* What a value becomes: its kind, and its bytes in a struct. */
typedef struct kind {
    buffer name;
    const char *of; /* choice, list, object: the name in it */
    bool null;      /* or_null around it */
    long size, align;
} kind;

static kind kind_of(output *to, const meaning *what, const char *base,
                    int level);

/* Adds a character as a string literal has it. */
static void say_character(buffer *to, const char *bytes, char before)
{
    unsigned char byte = (unsigned char)*bytes;
    if (byte == '"' || byte == '\\')
        say(to, "\\%c", byte);
    else if (byte == '\n')
        say(to, "\\n");
    else if (byte == '?' && before == '?')
        say(to, "\\?"); /* no trigraphs */
    else if (byte < 32 || byte == 127)
        say(to, "\\%03o", byte);
    else
        add(to, bytes, 1);
}

/* Adds a string literal. Long ones go on in further lines, each of which begins
 * with indent, unless that is empty. */
static void say_literal(buffer *to, const char *bytes, const char *indent)
{
    size_t width = 0;
    char before = 0;
    add(to, "\"", 1);
    for (; *bytes; before = *bytes++, width++) {
        bool inside = (*bytes & 0xC0) == 0x80; /* a character of UTF-8 */
        if (*indent && width > 62 && !inside &&
            (before == ' ' || width > 110)) {
            say(to, "\"%s\"", indent);
            width = 0;
        }
        say_character(to, bytes, before);
    }
    add(to, "\"", 1);
}

/* Adds a bound of an integer with so many bits; that it has none is said by
 * the least or greatest one. */
static void say_bound(buffer *to, int64_t bound, int bits)
{
    if (bound == INT64_MIN || bound == INT64_MAX)
        say(to, "INT%d_%s", bits, bound < 0 ? "MIN" : "MAX");
    else
        say(to, "%lld", (long long)bound);
}

static void integer_kind(kind *made, const meaning *what)
{
    /* Bounds of INT32_MIN and INT32_MAX would not be said in the schema. */
    bool low =
        what->low > INT32_MIN || (option.int32 && what->low == INT64_MIN);
    bool high =
        what->high < INT32_MAX || (option.int32 && what->high == INT64_MAX);
    int bits = low && high ? 32 : 64;
    made->size = made->align = bits / 8;
    say(&made->name, bits == 32 ? "integer(" : "integer64(");
    say_bound(&made->name, what->low, bits);
    say(&made->name, ", ");
    say_bound(&made->name, what->high, bits);
    say(&made->name, ")");
}

/* Can these bounds be those of fixed(option.fixed, ...)? */
static bool is_fixed(const meaning *what)
{
    double scale = pow(10, (double)option.fixed);
    double least = tcall_json_double(what->least, -1e30) * scale;
    double most = tcall_json_double(what->most, 1e30) * scale;
    return option.fixed > 0 && !what->over && !what->under &&
           fabs(least) < 2147483647. && fabs(most) < 2147483647. &&
           fabs(least - round(least)) < 1e-6 && fabs(most - round(most)) < 1e-6;
}

/* Adds a bound of a number as the schema has it. */
static void say_limit(buffer *to, tcall_json bound, const char *otherwise)
{
    tcall_str text = tcall_json_str(bound);
    if (bound.at)
        add(to, text.ptr, text.len);
    else
        say(to, "%s", otherwise);
}

static void number_kind(kind *made, const meaning *what)
{
    made->size = made->align = is_fixed(what) ? 4 : 8;
    if (is_fixed(what))
        say(&made->name, "fixed(%ld, ", option.fixed);
    else
        say(&made->name, "%s%snumber(", what->over ? "over(" : "",
            what->under ? "under(" : "");
    say_limit(&made->name, what->least, "TCALL_NO_MINIMUM");
    say(&made->name, ", ");
    say_limit(&made->name, what->most, "TCALL_NO_MAXIMUM");
    say(&made->name, ")%s%s", what->over ? ")" : "", what->under ? ")" : "");
}

/* Returns the length of a default that is a text, else 0. */
static long default_len(const meaning *what)
{
    return tcall_json_type(what->initial) == TCALL_STRING
               ? (long)tcall_json_str(what->initial).len
               : 0;
}

static void string_kind(kind *made, const meaning *what)
{
    long min = (long)what->min, max = (long)what->max, room = option.text;
    if (what->max < 0) {
        room = room < min ? min : room;
        room = room < default_len(what) ? default_len(what) : room;
        say(&made->name, "string(%ld, %ld)", min, room);
    } else if (option.bytes && max <= option.most) {
        say(&made->name, "text(%ld, %ld)", min, room = max);
    } else if (max <= option.most / 4) {
        say(&made->name, "characters(%ld, %ld)", min, max);
        room = 4 * max;
    } else {
        room = option.most < min ? min : option.most;
        say(&made->name, "characters_in(%ld, %ld, %ld)", min, max, room);
    }
    made->size = room + 1;
}

/* Returns the parts of a text between its spaces, the first may be empty. */
static names split(const char *text)
{
    names list = {NULL, 0, 0};
    for (; *text; text += *text == ' ') {
        buffer part = {NULL, 0, 0};
        add(&part, text, strcspn(text, " "));
        append(&list, part.at);
        text += part.len;
    }
    return list;
}

/* Returns the names of the words of a choice; *plain: all are the words. */
static names word_names(const names *words, bool *plain_words)
{
    names made = {NULL, 0, 0};
    *plain_words = true;
    append(&made, join("word_count", "")); /* taken, and removed below */
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->at[i];
        const char *name = member_name(&made, tcall_str_of(word), "word");
        *plain_words = *plain_words && !strcmp(name, word);
    }
    made.at++;
    made.count--;
    return made;
}

static void choice_kind(output *to, kind *made, const meaning *what,
                        const char *base)
{
    bool plain_words;
    names words = word_names(&what->words, &plain_words);
    names ends = split("_word_count _words_ $_WORDS");
    char *name, *list;
    for (size_t i = 0; i < words.count; i++)
        append(&ends, join("_", words.at[i]));
    name = claim(base, &ends);
    list = upper(name);
    say(&to->out, "#define %s_WORDS(WORD, me)", list);
    for (size_t i = 0; i < words.count; i++) {
        say(&to->out, " \\\n    WORD(me, %s", words.at[i]);
        if (!plain_words) {
            say(&to->out, ", ");
            say_literal(&to->out, what->words.at[i], "");
        }
        say(&to->out, ")");
    }
    say(&to->out, "\nTCALL_CHOICE%s(%s, %s_WORDS)\n\n",
        plain_words ? "" : "_AS", name, list);
    say(&made->name, "choice(%s)", name);
    made->of = name;
}

/* Adds a kind and what is around it. */
static void say_kind(buffer *to, const kind *made)
{
    say(to, "%s", made->null ? "or_null(" : "");
    add(to, made->name.at, made->name.len);
    say(to, "%s", made->null ? ")" : "");
}

/* Returns n rounded up to whole aligns. */
static long aligned(long n, long align)
{
    return (n + align - 1) / align * align;
}

static void list_kind(output *to, kind *made, const meaning *what,
                      const char *base, int level)
{
    names ends = split(" _min_ _max_ _flags_ _ranges_ _item_");
    kind item = kind_of(to, what->item, join(base, "_item"), level + 1);
    long min = (long)what->min, max = (long)what->max;
    char *name = claim(base, &ends);
    if (max < 0)
        max = option.list < min ? min : option.list;
    say(&to->out, "TCALL_%sLIST(%s, ", what->max < 0 ? "OPEN_" : "", name);
    say_kind(&to->out, &item);
    say(&to->out, ", %ld, %ld)\n\n", min, max);
    made->align = item.align > 2 ? item.align : 2;
    made->size = 65536; /* too large, whatever it is */
    if (max <= 65535 && item.size <= 65535)
        made->size =
            aligned(aligned(2, item.align) + item.size * max, made->align);
    say(&made->name, "list(%s)", name);
    made->of = name;
}

/* Adds a number as JSON has it, which C reads as the same. */
static void say_number(buffer *to, tcall_json number)
{
    tcall_str digits = tcall_json_str(number);
    add(to, digits.ptr, digits.len);
    if (digits.len > 15 && strcspn(digits.ptr, ".eE") >= digits.len)
        say(to, ".0"); /* no integer of C, or none that a double holds */
}

static bool say_integer_default(buffer *to, const meaning *what,
                                const kind *made)
{
    int64_t number = tcall_json_int64(what->initial, INT64_MIN);
    bool small = number > INT32_MIN && number < INT32_MAX;
    if (number == INT64_MIN || number < what->low || number > what->high ||
        (made->size == 4 && !small))
        return false;
    say_bound(to, number, 64);
    return true;
}

static bool say_number_default(buffer *to, const meaning *what)
{
    double number = tcall_json_double(what->initial, 1e300);
    double least = tcall_json_double(what->least, -1e29);
    double most = tcall_json_double(what->most, 1e29);
    if (number < least || number > most || (what->over && number <= least) ||
        (what->under && number >= most))
        return false;
    say_number(to, what->initial);
    return true;
}

static bool say_choice_default(buffer *to, const meaning *what,
                               const kind *made)
{
    bool plain_words;
    names words = word_names(&what->words, &plain_words);
    for (size_t i = 0; i < words.count; i++)
        if (equal(tcall_json_str(what->initial), what->words.at[i])) {
            say(to, "%s_%s", made->of, words.at[i]);
            return true;
        }
    return false;
}

static bool say_string_default(buffer *to, const meaning *what,
                               const kind *made)
{
    tcall_str value = tcall_json_str(what->initial);
    long count = 0; /* of characters */
    for (size_t i = 0; i < value.len; i++)
        count += (value.ptr[i] & 0xC0) != 0x80;
    if (strlen(value.ptr) != value.len || count < what->min ||
        (what->max >= 0 && count > what->max) || (long)value.len >= made->size)
        return false;
    say_literal(to, value.ptr, "");
    return true;
}

/* Adds a default as the role says it, or returns false where the kind has none
 * like it. */
static bool say_default(buffer *to, const meaning *what, const kind *made)
{
    tcall_type type = tcall_json_type(what->initial);
    int types = what->types & ~TCALL_SHAPE_NULL;
    if (types == TCALL_SHAPE_BOOLEAN && type == TCALL_BOOL) {
        say(to, tcall_json_bool(what->initial, false) ? "true" : "false");
        return true;
    }
    if (types == TCALL_SHAPE_INTEGER && type == TCALL_NUMBER)
        return say_integer_default(to, what, made);
    if (types == NUMBERS && type == TCALL_NUMBER)
        return say_number_default(to, what);
    if (what->form == CHOICE && type == TCALL_STRING)
        return say_choice_default(to, what, made);
    return types == TEXTS && type == TCALL_STRING &&
           say_string_default(to, what, made);
}

/* Adds the role of a member. */
static void say_role(buffer *to, const member *row, const kind *made)
{
    place within = {NULL, "properties"}, at = {&within, row->name};
    bool given = tcall_json_type(row->value.initial) > TCALL_NULL;
    buffer initial = {NULL, 0, 0};
    if (row->required) {
        if (given && option.verbose)
            note(&at, "default", "of a required member: dropped");
        say(to, "required");
    } else if (given && say_default(&initial, &row->value, made)) {
        say(to, "defaults(");
        add(to, initial.at, initial.len);
        say(to, ")");
    } else {
        if (given)
            note(&at, "default", "its kind has none like it: dropped");
        say(to, "optional");
    }
}

/* Adds the text of a row that began there: in its line where it fits, else in
 * lines of its own. */
static void say_text(buffer *to, size_t row, const char *words)
{
    buffer literal = {NULL, 0, 0};
    say_literal(&literal, words ? words : "", " \\\n        ");
    say(to, "%s", to->len - row + literal.len < 77 ? " " : " \\\n        ");
    add(to, literal.at, literal.len);
}

/* Adds one row of an object's list. */
static void say_row(buffer *to, const member *row, const char *name,
                    const kind *made)
{
    bool other_name = strcmp(name, row->name) != 0;
    size_t before;
    say(to, " \\\n");
    before = to->len;
    say(to, "    ROW(me, ");
    say_role(to, row, made);
    say(to, ", ");
    if (other_name) {
        say(to, "named(");
        say_literal(to, row->name, "");
        say(to, ", ");
    }
    say_kind(to, made);
    say(to, "%s, %s,", other_name ? ")" : "", name);
    say_text(to, before, row->value.description);
    say(to, ")");
}

/* Writes the list of an object and its TCALL_SHAPE. The structs of its members
 * come before it. */
static void object_kind(output *to, kind *made, const meaning *what,
                        const char *base, int level)
{
    names ends = split(" _member_count _names_ _descriptions_ _initial_ "
                       "_ranges_ _members_ _shape $_ROWS");
    names members = {NULL, 0, 0};
    buffer rows = {NULL, 0, 0};
    long bytes = 2 * (((long)what->member_count + 7) / 8), align = 1;
    char *name;
    for (size_t i = 0; i < what->member_count; i++) {
        const member *row = &what->members[i];
        char *own = member_name(&members, tcall_str_of(row->name), "member");
        kind of =
            kind_of(to, &row->value, join(join(base, "_"), own), level + 1);
        append(&ends, join("_at_", own));
        append(&ends, join(join("_at_", own), "_"));
        say_row(&rows, row, own, &of);
        bytes = aligned(bytes, of.align) + of.size;
        align = of.align > align ? of.align : align;
    }
    name = claim(base, &ends);
    if (what->member_count) {
        say(&to->out, "#define %s_ROWS(ROW, me)", upper(name));
        add(&to->out, rows.at, rows.len);
        say(&to->out, "\nTCALL_%sSHAPE(%s, ", what->open ? "OPEN_" : "", name);
        say(&to->out, "%s_ROWS)\n\n", upper(name));
    } else {
        say(&to->out, "TCALL_%sEMPTY_SHAPE(%s)\n\n", what->open ? "OPEN_" : "",
            name);
    }
    say(&made->name, "object(%s)", name);
    made->of = name;
    made->size = aligned(bytes, align);
    made->align = align;
}

/* The kind of what only has types. */
static void plain_kind(kind *made, const meaning *what)
{
    static const char *const type_words[] = {
        "NULL", "BOOLEAN", "INTEGER", "NUMBER", "STRING", "ARRAY", "OBJECT"};
    int types = what->types & ~TCALL_SHAPE_NULL;
    const char *between = "";
    made->size = option.json + 1;
    if (types == (ALL & ~TCALL_SHAPE_NULL) && what->types == ALL) {
        say(&made->name, "json(%ld)", option.json);
        made->null = false;
        return;
    }
    if (!types) {
        types = what->types;
        made->null = false;
    }
    if (types & TCALL_SHAPE_NUMBER)
        types &= ~TCALL_SHAPE_INTEGER;
    say(&made->name, "one_of(");
    for (int i = 0; i < 7; i++)
        if (types & 1 << i) {
            say(&made->name, "%sTCALL_SHAPE_%s", between, type_words[i]);
            between = " | ";
        }
    say(&made->name, ", %ld)", option.json);
}

static kind kind_of(output *to, const meaning *what, const char *base,
                    int level)
{
    int types = what->types & ~TCALL_SHAPE_NULL;
    kind made;
    memset(&made, 0, sizeof made);
    made.align = 1;
    made.null = (what->types & TCALL_SHAPE_NULL) != 0;
    if (what->form == LIST || what->form == OBJECT)
        to->levels = level + 1 > to->levels ? level + 1 : to->levels;
    if (what->form == LIST) {
        list_kind(to, &made, what, base, level);
    } else if (what->form == OBJECT) {
        object_kind(to, &made, what, base, level);
    } else if (what->form == CHOICE) {
        choice_kind(to, &made, what, base);
        made.size = 1;
    } else if (types == TCALL_SHAPE_BOOLEAN) {
        say(&made.name, "boolean");
        made.size = 1;
    } else if (types == TCALL_SHAPE_INTEGER) {
        integer_kind(&made, what);
    } else if (types == NUMBERS) {
        number_kind(&made, what);
    } else if (types == TEXTS) {
        string_kind(&made, what);
    } else {
        plain_kind(&made, what);
    }
    return made;
}

/* -- Compiled schemas ----------------------------------------------------
 *
 * tcall_schema_compile makes nodes that point at each other and into the text
 * of their schema. Here they become one const object with the same pointers, so
 * that a chip finds in flash what it would compile into memory. Whatever can be
 * compiled can be written. */

/* Things that lie behind each other in a compiled schema. */
typedef enum sort { ROWS, MEMBERS, MATCHES, PROGRAM } sort;
static const struct {
    const char *type, *letter;
    size_t size;
} sorts[] = {{"tcall_row", "r", sizeof(tcall_row)},
             {"tcall_member", "m", sizeof(tcall_member)},
             {"tcall_match", "p", sizeof(tcall_match)},
             {"tcall_node_", "x", sizeof(tcall_node_)}};

typedef struct part {
    sort is;
    const void *at;
    size_t count;
    size_t slots, matches; /* behind members: their hash table, or patterns */
} part;

/* The schema that is written. */
static struct {
    const char *name, *text;
    part *parts;
    size_t count, room;
} nodes;

static const part *part_at(sort is, const void *at)
{
    for (size_t i = 0; i < nodes.count; i++)
        if (nodes.parts[i].is == is && nodes.parts[i].at == at)
            return &nodes.parts[i];
    return NULL;
}

/* Adds a part, unless it is there or empty. Returns whether it was added. */
static bool add_part(sort is, const void *at, size_t count, size_t slots,
                     size_t matches)
{
    part added = {is, at, count, slots, matches};
    if (!count || part_at(is, at))
        return false;
    if (nodes.count == nodes.room) {
        part *more = (part *)take(nodes.room * 2 + 16, sizeof *more);
        if (nodes.count)
            memcpy(more, nodes.parts, nodes.count * sizeof *more);
        nodes.parts = more;
        nodes.room = nodes.room * 2 + 16;
    }
    nodes.parts[nodes.count++] = added;
    return true;
}

/* Returns the part that a member lies in, and its index there; NULL: in none.
 */
static const part *part_around(const tcall_member *one, size_t *index)
{
    for (size_t i = 0; i < nodes.count; i++) {
        const part *in = &nodes.parts[i];
        uintptr_t off = (uintptr_t)one - (uintptr_t)in->at;
        *index = off / sizeof *one;
        if (in->is == MEMBERS && (uintptr_t)one >= (uintptr_t)in->at &&
            *index < in->count)
            return in;
    }
    return NULL;
}

static void find_rows(const tcall_row *rows);

/* Finds what a row points at. */
static void find_row(const tcall_row *row)
{
    bool patterns = row->on == TCALL_ON_PATTERNS_;
    bool own = tcall_row_has_(row->on);
    if (row->on == TCALL_ON_PATTERN_)
        add_part(MATCHES, row->of.match, 1, 0, 0);
    if (own)
        add_part(MEMBERS, row->of.members, row->count,
                 patterns ? 0 : tcall_row_tail_(row) / sizeof(uint16_t),
                 patterns ? row->count : 0);
    for (uint16_t i = 0; i < row->count; i++) {
        const tcall_match *match = tcall_row_match_(row) + i;
        if (patterns || row->on == TCALL_ON_PATTERN_)
            add_part(PROGRAM, match->program, match->count, 0, 0);
        if (own || row->on == TCALL_ON_REF_)
            find_rows(row->of.members[i].node.rows);
    }
}

/* Finds rows and all that can be reached from them. */
static void find_rows(const tcall_row *rows)
{
    const tcall_row *row;
    size_t count = 0;
    for (row = rows; row; row = tcall_row_next_(row))
        count++;
    if (rows && add_part(ROWS, rows, count, 0, 0))
        for (row = rows; row; row = tcall_row_next_(row))
            find_row(row);
}

/* Returns the member that the root lies in. */
static const tcall_member *member_of(const tcall_node *top)
{
    return (const tcall_member *)(const void *)((const char *)top -
                                                offsetof(tcall_member, node));
}

/* Adds what stands alone: the root, and what a $ref leads to in a list that is
 * reached by nothing else. */
static void find_alone(const tcall_node *top)
{
    size_t index, lists = nodes.count;
    add_part(MEMBERS, member_of(top), 1, 0, 0);
    for (size_t i = 0; i < lists; i++) {
        const tcall_row *row = (const tcall_row *)nodes.parts[i].at;
        for (; nodes.parts[i].is == ROWS && row; row = tcall_row_next_(row))
            if (row->on == TCALL_ON_REF_ &&
                !part_around(row->of.members, &index))
                add_part(MEMBERS, row->of.members, 1, 0, 0);
    }
}

/* -- The text of it ------------------------------------------------------ */

static void say_part(buffer *to, const part *of)
{
    say(to, "%s_nodes.%s%lu", nodes.name, sorts[of->is].letter,
        (unsigned long)(of - nodes.parts));
}

/* Adds the pointer to the first thing of a part. */
static void say_list(buffer *to, sort is, const void *at)
{
    const part *of = at ? part_at(is, at) : NULL;
    if (!of) {
        say(to, "NULL");
        return;
    }
    say_part(to, of);
    say(to, of->slots || of->matches ? ".of" : "");
}

/* Adds the pointer to a member. */
static void say_pointer(buffer *to, const tcall_member *one)
{
    size_t index;
    const part *in = part_around(one, &index);
    say(to, "&");
    say_part(to, in);
    say(to, "%s[%lu]", in->slots || in->matches ? ".of" : "",
        (unsigned long)index);
}

static void say_place(buffer *to, const char *at)
{
    if (at)
        say(to, "%s_text + %lu", nodes.name, (unsigned long)(at - nodes.text));
    else
        say(to, "NULL");
}

static void say_node(buffer *to, const tcall_node *node)
{
    say(to, "{%u, TCALL_KIND_ROWS_, %u, %u, ", (unsigned)node->types,
        (unsigned)node->digits, (unsigned)node->flags);
    say_list(to, ROWS, node->rows);
    say(to, "}");
}

static void say_keyword(buffer *to, const tcall_row *row)
{
    static const char *const words[] = {"NOTHING",
#define NAME(NAME, keyword, begins, drafts) #NAME,
                                        TCALL_KEYWORDS_(NAME)
#undef NAME
    };
    say(to, "{TCALL_ON_%s_, %u, %u, {", words[row->on],
        (unsigned)(row->flags & ~TCALL_ROW_END_), (unsigned)row->count);
    if (row->on == TCALL_ON_PATTERN_) {
        say(to, ".match = ");
        say_list(to, MATCHES, row->of.match);
    } else if (row->on == TCALL_ON_REF_) {
        say(to, ".members = ");
        say_pointer(to, row->of.members);
    } else if (tcall_row_has_(row->on)) {
        say(to, ".members = ");
        say_list(to, MEMBERS, row->of.members);
    } else if (row->on >= TCALL_ON_MIN_LENGTH_ &&
               row->on <= TCALL_ON_MAX_CONTAINS_) {
        say(to, ".number = %luu", (unsigned long)row->of.number);
    } else {
        say(to, ".text = ");
        say_place(to, row->of.text);
    }
    say(to, "}}");
}

static void say_match(buffer *to, const tcall_match *match)
{
    say(to, "{");
    say_place(to, match->text);
    say(to, ", ");
    say_list(to, PROGRAM, match->program);
    say(to, ", &tcall_patterns, %lu, %lu}", (unsigned long)match->count,
        (unsigned long)match->states);
}

/* Adds the index-th thing of a part. */
static void say_thing(buffer *to, const part *of, size_t index)
{
    const char *at = (const char *)of->at + index * sorts[of->is].size;
    const void *thing = at;
    if (of->is == ROWS) {
        say_keyword(to, (const tcall_row *)thing);
    } else if (of->is == PROGRAM) {
        const tcall_node_ *step = (const tcall_node_ *)thing;
        say(to, "{0x%lxu, 0x%lxu}", (unsigned long)step->word,
            (unsigned long)step->arg);
    } else if (of->is == MEMBERS) {
        const tcall_member *named = (const tcall_member *)thing;
        say(to, "{");
        say_place(to, named->name);
        say(to, ", ");
        say_node(to, &named->node);
        say(to, "}");
    } else {
        say_match(to, (const tcall_match *)thing);
    }
}

static void say_declared(buffer *to, const part *of)
{
    const char *letter = sorts[of->is].letter;
    unsigned long number = (unsigned long)(of - nodes.parts);
    say(to, "    ");
    if (of->slots || of->matches)
        say(to,
            "struct {\n        tcall_member of[%lu];\n        %s[%lu];\n"
            "    } %s%lu;\n",
            (unsigned long)of->count,
            of->slots ? "uint16_t slots" : "tcall_match matches",
            (unsigned long)(of->slots ? of->slots : of->matches), letter,
            number);
    else
        say(to, "%s %s%lu[%lu];\n", sorts[of->is].type, letter, number,
            (unsigned long)of->count);
}

static void say_defined(buffer *to, const part *of)
{
    const void *behind = (const tcall_member *)of->at + of->count;
    bool more = of->slots || of->matches;
    say(to, more ? "    {{" : "    {");
    for (size_t i = 0; i < of->count; i++) {
        say(to, i ? ",\n     " : "");
        say_thing(to, of, i);
    }
    for (size_t i = 0; i < of->slots; i++)
        say(to, "%s%u", i ? ", " : "},\n     {",
            (unsigned)((const uint16_t *)behind)[i]);
    for (size_t i = 0; i < of->matches; i++) {
        say(to, i ? ", " : "},\n     {");
        say_match(to, (const tcall_match *)behind + i);
    }
    say(to, more ? "}},\n" : "},\n");
}

/* Adds the text of the schema. C takes no literals over 4,095 characters. */
static void say_schema_text(buffer *to, const char *text)
{
    size_t len = strlen(text);
    say(to, "static const char %s_text[] =\n    ", nodes.name);
    if (len < 4000) {
        say_literal(to, text, "\n    ");
    } else {
        for (size_t i = 0; i <= len; i++)
            say(to, "%s'\\%03o'",
                i % 10 ? ","
                : i    ? ",\n     "
                       : "{",
                (unsigned)(unsigned char)text[i]);
        say(to, "}");
    }
    say(to, ";\n");
}

/* Adds a compiled schema under a name: NAME_text, NAME_nodes, NAME_schema. */
static void say_nodes(buffer *to, const char *name, const tcall_schema *schema)
{
    memset(&nodes, 0, sizeof nodes);
    nodes.name = name;
    nodes.text = schema->text;
    find_rows(schema->root->rows);
    find_alone(schema->root);
    say_schema_text(to, schema->text);
    say(to, "static const struct {\n");
    for (size_t i = 0; i < nodes.count; i++)
        say_declared(to, &nodes.parts[i]);
    say(to, "} %s_nodes = {\n", name);
    for (size_t i = 0; i < nodes.count; i++)
        say_defined(to, &nodes.parts[i]);
    say(to,
        "};\nstatic const tcall_schema %s_schema = {\n"
        "    %s_text, sizeof %s_text - 1, 0, NULL, NULL, 0, ",
        name, name, name);
    say_pointer(to, member_of(schema->root));
    say(to, ".node, 0, %u};\n\n", (unsigned)schema->width);
}

/* -- Tools --------------------------------------------------------------- */

/* The names under which the schema of a tool's arguments comes. */
static const char *const schema_names[] = {"parameters", "inputSchema",
                                           "input_schema"};

static buffer header, table; /* what all tools become */
static int refused_tools, levels;

/* Makes the lists without maxItems shorter until the struct is one that shapes
 * can have. Refuses it where that does not help. */
static void find_room(const meaning *what)
{
    long wanted = option.list;
    output nowhere;
    char reason[128];
    memset(&nowhere, 0, sizeof nowhere);
    measuring = true;
    while (kind_of(&nowhere, what, "measured", 0).size > 65535)
        if ((option.list /= 2) == 0)
            break;
    measuring = false;
    if (option.list == 0)
        refuse(NULL, "size", "more than 65,535 bytes: see --text and --json");
    if (option.list == 0 || option.list == wanted)
        return;
    snprintf(reason, sizeof reason,
             "%ld items of each list without maxItems, not %ld: else it has "
             "more than 65,535 bytes",
             option.list, wanted);
    note(NULL, "size", reason);
}

/* Returns the name of a tool as one in C. */
static char *base_name(const char *name)
{
    char *base = letters(tcall_str_of(name), "tool");
    if (isdigit((unsigned char)*base) || *base == '_' || begins_reserved(base))
        return join("tool_", base);
    return is_reserved(base) ? join(base, "_call") : base;
}

/* Adds a tool to the table. What its annotations promise is believed: whoever
 * makes a header of definitions has read them. */
static void say_tool(const char *name, tcall_json definition)
{
    tcall_json hints = tcall_json_get(definition, "annotations");
    tcall_json reads = tcall_json_get(hints, "readOnlyHint");
    tcall_json destroys = tcall_json_get(hints, "destructiveHint");
    tcall_json text = tcall_json_get(definition, "description");
    size_t row;
    if (option.table && strcmp(name, tool_name)) {
        buffer reason = {NULL, 0, 0};
        say(&reason, "is %s in the table of tools", name);
        note(NULL, "name", reason.at);
    }
    say(&table, " \\\n");
    row = table.len;
    say(&table, "    TOOL(me, %s, TCALL_%s, %s,", name,
        tcall_json_bool(reads, false) ? "READ" : "EVERYTHING",
        tcall_json_bool(destroys, false) ? "true" : "false");
    say_text(&table, row, tcall_json_string(text, ""));
    say(&table, ")");
}

/* Makes the compiled schema of a tool. */
static void make_nodes(const char *name, tcall_json schema)
{
    static const char any[] = "{\"type\":\"object\"}";
    names ends = split("_text _nodes _schema");
    tcall_schema compiled;
    tcall_writer writer;
    buffer reason = {NULL, 0, 0};
    char *text, *room = (char *)take(option.size + sizeof any, 1);
    int n;
    tcall_writer_init(&writer, room, option.size + sizeof any);
    if (schema.at)
        tcall_write_json(&writer, schema);
    else
        tcall_write_text(&writer, any);
    text = join(room, "");
    n = tcall_schema_compile(&compiled, tcall_str_of(text), NULL, 0,
                             TCALL_DRAFT_2020);
    if (n == TCALL_E_MEMORY)
        tcall_schema_compile(&compiled, tcall_str_of(text),
                             take(compiled.need, 1), compiled.need,
                             TCALL_DRAFT_2020);
    if (!compiled.root) {
        make_room(&reason, 4096);
        tcall_writer_init(&writer, reason.at, 4096);
        tcall_write_schema_error(&writer, &compiled);
        refuse(NULL, "schema", reason.at);
        refused_tools++;
        return;
    }
    say(&header, "/* %s */\n", commented(name));
    say_nodes(&header, claim(base_name(name), &ends), &compiled);
}

/* Makes one tool of its definition, whose schema may be elsewhere. */
static void make_tool(const char *name, tcall_json schema,
                      tcall_json definition)
{
    meaning what = plain(TCALL_SHAPE_OBJECT);
    long room = option.list;
    output to;
    kind made;
    memset(&to, 0, sizeof to);
    tool_name = name;
    refusals = 0;
    if (option.nodes) {
        make_nodes(name, schema);
        return;
    }
    root = schema;
    if (tcall_json_count(schema))
        what = read_schema(NULL, schema);
    if (what.types != TCALL_SHAPE_OBJECT)
        refuse(NULL, "type", "arguments are an object");
    what.form = OBJECT;
    if (!refusals)
        find_room(&what);
    if (refusals) {
        refused_tools++;
        option.list = room;
        return;
    }
    made = kind_of(&to, &what, base_name(name), 0);
    option.list = room;
    say(&header, "/* %s */\n", commented(name));
    add(&header, to.out.at, to.out.len);
    levels = to.levels > levels ? to.levels : levels;
    say_tool(made.of, definition);
}

/* Makes the tool that a definition is: {"name", "parameters"}, or such a one as
 * its member "function". */
static void make_definition(tcall_json definition)
{
    tcall_json inside = tcall_json_get(definition, "function"), schema;
    if (!inside.at)
        inside = definition;
    schema = tcall_json_get(inside, "parameters");
    for (size_t i = 0; i < TCALL_ARRAY_LEN(schema_names) && !schema.at; i++)
        schema = tcall_json_get(inside, schema_names[i]);
    make_tool(tcall_json_string(tcall_json_get(inside, "name"), "tool"), schema,
              inside);
}

/* Makes all tools that are found in a value: a list of definitions, an object
 * that has one, a definition, or the schema of a tool's arguments. */
static void make_all(tcall_json found)
{
    static const char *const lists[] = {"tools", "result", "functions",
                                        "functionDeclarations",
                                        "function_declarations"};
    tcall_json one = tcall_json_first(found);
    if (tcall_json_type(found) == TCALL_ARRAY) {
        for (; one.at; one = tcall_json_next(one))
            make_all(one);
        return;
    }
    for (size_t i = 0; i < TCALL_ARRAY_LEN(lists); i++)
        if (tcall_json_type(tcall_json_get(found, lists[i])) >= TCALL_ARRAY) {
            make_all(tcall_json_get(found, lists[i]));
            return;
        }
    if (tcall_json_type(tcall_json_get(found, "name")) == TCALL_STRING ||
        tcall_json_get(found, "function").at)
        make_definition(found);
    else
        make_tool(option.name, found, found);
}

/* -- The program --------------------------------------------------------- */

static const char usage[] =
    "usage: shapes [OPTION]... FILE    (- is the standard input)\n"
    "  -o FILE       write a header; else the rows go to the standard output\n"
    "  --tools NAME  and a list NAME(TOOL, me) of all tools for TCALL_TOOLS\n"
    "  --name NAME   of a tool that is only a schema; default: of the file\n"
    "  --text N      bytes of a text without maxLength (64)\n"
    "  --most N      bytes of a text at most, whatever its maxLength (4096)\n"
    "  --list N      items of a list without maxItems (8)\n"
    "  --json N      bytes of a value that is kept as JSON (256)\n"
    "  --bytes       let maxLength count bytes, not characters\n"
    "  --int32       integers without bounds have 32 bits, not 64\n"
    "  --nodes       schemas as they are compiled, and no structs: any schema\n"
    "                that toolcall.h takes; needs C99, or C++20\n"
    "  --fixed N     numbers with bounds are fixed point with N digits\n"
    "  -v            name all that gets lost: format, title, examples ...\n";

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "shapes: %s: %s\n", what, why);
    exit(2);
}

/* The options that take a number or a text. */
static const struct {
    const char *name;
    long *number;
    const char **text;
    bool *set;
    long least, most;
} options[] = {
    {"-o", NULL, &option.output, NULL, 0, 0},
    {"--tools", NULL, &option.table, NULL, 0, 0},
    {"--name", NULL, &option.name, NULL, 0, 0},
    {"--text", &option.text, NULL, NULL, 1, 65534},
    {"--most", &option.most, NULL, NULL, 4, 65534},
    {"--list", &option.list, NULL, NULL, 1, 65534},
    {"--json", &option.json, NULL, NULL, 1, 65534},
    {"--fixed", &option.fixed, NULL, NULL, 1, 6},
    {"--bytes", NULL, NULL, &option.bytes, 0, 0},
    {"--int32", NULL, NULL, &option.int32, 0, 0},
    {"--nodes", NULL, NULL, &option.nodes, 0, 0},
    {"-v", NULL, NULL, &option.verbose, 0, 0},
};

/* Takes an option, and returns how many words it was. */
static int read_option(char **words)
{
    char *end;
    size_t i = 0;
    while (i < TCALL_ARRAY_LEN(options) && strcmp(options[i].name, words[0]))
        i++;
    if (i == TCALL_ARRAY_LEN(options))
        fail(words[0], "no such option; shapes without any lists them");
    if (options[i].set) {
        *options[i].set = true;
        return 1;
    }
    if (!words[1])
        fail(words[0], "needs a value");
    if (options[i].text) {
        *options[i].text = words[1];
        return 2;
    }
    *options[i].number = strtol(words[1], &end, 10);
    if (*end || *options[i].number < options[i].least ||
        *options[i].number > options[i].most)
        fail(words[0], "is out of range");
    return 2;
}

static buffer read_file(const char *name)
{
    FILE *file = strcmp(name, "-") ? fopen(name, "rb") : stdin;
    buffer read = {NULL, 0, 0};
    char bytes[4096];
    size_t len;
    if (!file)
        fail(name, "cannot be read");
    while ((len = fread(bytes, 1, sizeof bytes, file)) > 0)
        add(&read, bytes, len);
    add(&read, "", 0);
    return read;
}

static tcall_json parse(const char *name, buffer *of)
{
    size_t wrong;
    tcall_json found;
    int error = tcall_json_parse(&found, of->at, of->len, &wrong);
    if (error < 0) {
        char why[200];
        snprintf(why, sizeof why, "is no JSON, at byte %lu: %s",
                 (unsigned long)wrong, tcall_error_text(error));
        fail(name, why);
    }
    return found;
}

/* Returns the name of a file without its folder and what follows a dot. */
static char *bare_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    tcall_str bare = {name, strcspn(name, ".")};
    return letters(bare, "tool");
}

static void write_header(FILE *to)
{
    char *guard = upper(join(base_name(bare_name(option.output)), "_H"));
    fprintf(to,
            "/* Made by build/shapes of %s: do not edit. */\n#ifndef %s\n"
            "#define %s\n#include \"toolcall.h\"\n/* clang-format off */\n\n",
            commented(option.input), guard, guard);
    if (levels > 6) {
        fprintf(to,
                "#if TOOLCALL_SHAPE_LEVELS < %d\n#error "
                "compile everything with -DTOOLCALL_SHAPE_LEVELS=%d\n"
                "#endif\n\n",
                levels, levels);
    }
}

static void write_all(FILE *to)
{
    if (option.output)
        write_header(to);
    fwrite(header.at ? header.at : "", 1, header.len, to);
    if (option.table) {
        fprintf(to, "#define %s(TOOL, me)", option.table);
        fwrite(table.at ? table.at : "", 1, table.len, to);
        fputc('\n', to);
    }
    if (option.output)
        fputs("\n/* clang-format on */\n#endif\n", to);
    if (fclose(to))
        fail(option.output ? option.output : "standard output",
             "cannot be written");
}

int main(int argc, char **argv)
{
    buffer input;
    FILE *to = stdout;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) == EOF;
    for (int i = 1; i < argc;)
        if (*argv[i] == '-' && argv[i][1])
            i += read_option(argv + i);
        else
            option.input = argv[i++];
    if (!option.input) {
        fputs(usage, stderr);
        return 2;
    }
    if (!option.name)
        option.name = bare_name(option.input);
    input = read_file(option.input);
    option.size = input.len;
    make_all(parse(option.input, &input));
    if (option.output)
        to = fopen(option.output, "wb");
    if (!to)
        fail(option.output, "cannot be written");
    write_all(to);
    return refused_tools ? 1 : 0;
}
