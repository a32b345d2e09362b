/*
 * nodes.h - a compiled schema as const data in C
 *
 * A part of build/shapes, and included by it alone. tcall_schema_compile makes
 * nodes that point at each other and into the text of their schema; here they
 * become one const object with the same pointers, so that a chip finds in flash
 * what it would compile into memory. Whatever can be compiled can be written.
 */

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
    bool table = tcall_keyword_begins_[row->on] == '{' && !patterns &&
                 row->count > TCALL_FEW_;
    bool own = tcall_row_has_(row->on);
    if (row->on == TCALL_ON_PATTERN_)
        add_part(MATCHES, row->of.match, 1, 0, 0);
    if (own)
        add_part(MEMBERS, row->of.members, row->count,
                 table ? row->count + row->count / 2u : 0,
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
#define NAME(NAME, keyword, begins) #NAME,
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
    say(to, ", %lu, %lu}", (unsigned long)match->count,
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
