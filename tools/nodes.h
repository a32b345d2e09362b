/*
 * nodes.h - a compiled schema as const data in C
 *
 * A part of build/shapes, and included by it alone. tcall_schema_compile makes
 * nodes that point at each other and into the text of their schema; here they
 * become one const object with the same pointers, so that a chip finds in flash
 * what it would compile into memory. Whatever can be compiled can be written.
 */

/* Things that lie behind each other in a compiled schema. */
typedef enum sort { ROWS, MEMBERS, MATCHES, BRANCHES, NODE, PROGRAM } sort;
static const struct {
    const char *type, *letter;
    size_t size;
} sorts[] = {{"tcall_row", "r", sizeof(tcall_row)},
             {"tcall_member", "m", sizeof(tcall_member)},
             {"tcall_match", "p", sizeof(tcall_match)},
             {"const tcall_node *", "b", sizeof(const tcall_node *)},
             {"tcall_node", "n", sizeof(tcall_node)},
             {"tcall_node_", "x", sizeof(tcall_node_)}};

typedef struct part {
    sort is;
    const void *at;
    size_t count, slots; /* slots: of the hash table behind members */
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
static bool add_part(sort is, const void *at, size_t count, size_t slots)
{
    part added = {is, at, count, slots};
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

/* Returns the part that a node lies in, and its index there; NULL: in none. */
static const part *part_around(const tcall_node *node, size_t *index)
{
    for (size_t i = 0; i < nodes.count; i++) {
        const part *in = &nodes.parts[i];
        size_t size = sorts[in->is].size;
        uintptr_t off = (uintptr_t)node - (uintptr_t)in->at;
        *index = off / size;
        if ((in->is == MEMBERS || in->is == MATCHES || in->is == NODE) &&
            (uintptr_t)node >= (uintptr_t)in->at && *index < in->count)
            return in;
    }
    return NULL;
}

static void find_rows(const tcall_row *rows);

static void find_match(const tcall_match *match, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_part(PROGRAM, match[i].program, match[i].count, 0);
        find_rows(match[i].node.rows);
    }
}

/* Finds what a row points at. */
static void find_row(const tcall_row *row)
{
    bool table =
        tcall_keyword_begins_[row->on] == '{' && row->count > TCALL_FEW_;
    size_t slots = table ? row->count + row->count / 2u : 0;
    if (row->on == TCALL_ON_PATTERN_) {
        if (add_part(MATCHES, row->of.match, 1, 0))
            find_match(row->of.match, 1);
        return;
    }
    switch (tcall_row_has_(row->on)) {
    case TCALL_HAS_MEMBERS_:
        add_part(MEMBERS, row->of.members, row->count, slots);
        break;
    case TCALL_HAS_MATCHES_:
        if (add_part(MATCHES, row->of.match, row->count, 0))
            find_match(row->of.match, row->count);
        return;
    case TCALL_HAS_LIST_:
        add_part(BRANCHES, row->of.nodes, row->count, 0);
        break;
    default: break;
    }
    for (uint16_t i = 0; i < row->count; i++) {
        const tcall_node *node = tcall_row_node_(row, i);
        if (node)
            find_rows(node->rows);
    }
}

/* Finds rows and all that can be reached from them. */
static void find_rows(const tcall_row *rows)
{
    const tcall_row *row;
    size_t count = 0;
    for (row = rows; row; row = tcall_row_next_(row))
        count++;
    if (rows && add_part(ROWS, rows, count, 0))
        for (row = rows; row; row = tcall_row_next_(row))
            find_row(row);
}

/* Adds the nodes that stand alone: those that are in no list. */
static void find_alone(const tcall_node *top)
{
    size_t index, lists = nodes.count;
    add_part(NODE, top, 1, 0);
    for (size_t i = 0; i < lists; i++) {
        const tcall_row *row = (const tcall_row *)nodes.parts[i].at;
        for (; nodes.parts[i].is == ROWS && row; row = tcall_row_next_(row))
            for (uint16_t k = 0; k < row->count; k++) {
                const tcall_node *node = tcall_row_node_(row, k);
                if (node && !part_around(node, &index))
                    add_part(NODE, node, 1, 0);
            }
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
    say(to, of->slots ? ".of" : "");
}

static void say_pointer(buffer *to, const tcall_node *node)
{
    size_t index;
    const part *in = node ? part_around(node, &index) : NULL;
    if (!in) {
        say(to, "NULL");
        return;
    }
    say(to, "&");
    say_part(to, in);
    say(to, "%s[%lu]%s", in->slots ? ".of" : "", (unsigned long)index,
        in->is == NODE ? "" : ".node");
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
    int has = tcall_row_has_(row->on);
    say(to, "{TCALL_ON_%s_, %u, %u, {", words[row->on],
        (unsigned)(row->flags & ~TCALL_ROW_END_), (unsigned)row->count);
    if (row->on == TCALL_ON_PATTERN_ || has == TCALL_HAS_MATCHES_) {
        say(to, ".match = ");
        say_list(to, MATCHES, row->of.match);
    } else if (has == TCALL_HAS_MEMBERS_) {
        say(to, ".members = ");
        say_list(to, MEMBERS, row->of.members);
    } else if (has == TCALL_HAS_LIST_) {
        say(to, ".nodes = ");
        say_list(to, BRANCHES, row->of.nodes);
    } else if (has == TCALL_HAS_ONE_) {
        say(to, ".node = ");
        say_pointer(to, row->of.node);
    } else if (row->on >= TCALL_ON_MIN_LENGTH_ &&
               row->on <= TCALL_ON_MAX_CONTAINS_) {
        say(to, ".number = %luu", (unsigned long)row->of.number);
    } else {
        say(to, ".text = ");
        say_place(to, row->of.text);
    }
    say(to, "}}");
}

/* Adds the index-th thing of a part. */
static void say_thing(buffer *to, const part *of, size_t index)
{
    const char *at = (const char *)of->at + index * sorts[of->is].size;
    const void *thing = at;
    if (of->is == ROWS) {
        say_keyword(to, (const tcall_row *)thing);
    } else if (of->is == NODE) {
        say_node(to, (const tcall_node *)thing);
    } else if (of->is == BRANCHES) {
        say_pointer(to, *(const tcall_node *const *)thing);
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
        const tcall_match *match = (const tcall_match *)thing;
        say(to, "{");
        say_place(to, match->text);
        say(to, ", ");
        say_list(to, PROGRAM, match->program);
        say(to, ", %lu, %lu, ", (unsigned long)match->count,
            (unsigned long)match->states);
        say_node(to, &match->node);
        say(to, "}");
    }
}

static void say_declared(buffer *to, const part *of)
{
    const char *letter = sorts[of->is].letter;
    unsigned long number = (unsigned long)(of - nodes.parts);
    say(to, "    ");
    if (of->slots)
        say(to,
            "struct {\n        %s of[%lu];\n        uint16_t slots[%lu];\n"
            "    } %s%lu;\n",
            sorts[of->is].type, (unsigned long)of->count,
            (unsigned long)of->slots, letter, number);
    else
        say(to, "%s %s%lu[%lu];\n", sorts[of->is].type, letter, number,
            (unsigned long)of->count);
}

static void say_defined(buffer *to, const part *of)
{
    const uint16_t *slots =
        (const uint16_t *)(const void *)((const tcall_member *)of->at +
                                         of->count);
    say(to, of->slots ? "    {{" : "    {");
    for (size_t i = 0; i < of->count; i++) {
        say(to, i ? ",\n     " : "");
        say_thing(to, of, i);
    }
    for (size_t i = 0; i < of->slots; i++)
        say(to, "%s%u", i ? ", " : "},\n     {", (unsigned)slots[i]);
    say(to, of->slots ? "}},\n" : "},\n");
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
    say_pointer(to, schema->root);
    say(to, ", 0, %u};\n\n", (unsigned)schema->width);
}
