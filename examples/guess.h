/*
 * guess.h - what the stand-in model makes of a request: calls, by rules
 *
 * A request is cut into parts. Of the tools that tcall_pick ranks for a part
 * the one is called whose arguments the part has. Which words are arguments is
 * in the tables: change those, not the functions below them. Lists of words
 * have a blank before and after each word.
 */
enum { GUESS_TOOLS = 256, GUESS_WORDS = 256, GUESS_CALLS = 8, GUESS_RANKS = 8 };

/* What people say, and how tools that do it are described. */
static const struct {
    const char *said, *meant;
} meanings[] = {
    {" open show print cat display view read say says contents ",
     "read text file"},
    {" make create save store put write touch new ", "create write file"},
    {" find search look where mention mentions mentioning grep contain "
     "contains containing occur occurs appear appears ",
     "search text regular expression lines that match"},
    {" files folder folders directory directories here ls dir dateien fichiers "
     "archivos ",
     "show list files directories below directory"},
    {" change replace substitute swap fix ", "replace text edit"},
    {" todo to-do todos task tasks list ", "list tasks todoread todowrite"},
    {" remind remember reminder note ", "replace list tasks todowrite"},
    {" computer pc box system server ", "machine"},
    {" running boot booted reboot rebooted restarted uptime up ",
     "uptime of this machine system status"},
    {" pin pins ", "gpio line"},
    {" ram memory ", "memory free"},
    {" busy cpu load ", "load"},
    {" hot warm cold temperature 温度 温度是多少？ ", "temperature warm"},
    {" date day today clock o'clock hour uhr spät heure hora horas ore "
     "几点了 现在几点 现在几点？ ",
     "date time"},
    {" website page site url browse ", "fetch page internet"},
    {" run execute ", "run command"},
};

/* Words that mean something only where a tool's name or description has them.
 */
static const char special[] =
    " delete remove erase rename move copy send mail email translate play sing "
    "install download upload buy order book call draw calculate times plus minus "
    "divided largest biggest smallest newest oldest longest timer alarm weather "
    "joke poem story song music news kernel hostname disk rain forecast tomorrow todo minutes seconds ";

/* Where a property's text stands in a part. */
enum shape {
    WORD_OF_FILE, /* a word that looks like a path */
    WORD_OF_GLOB, /* ... or like a pattern of paths */
    WORD_OF_URL,
    TEXT,   /* what follows one of the words of after, up to one of until */
    NAME,   /* likewise, with capital letters */
    GIVEN,  /* the text after, whatever was said */
    EMPTY,  /* no text, if one of the words of after was said */
    NOTHING /* never, but in quotes */
};

/* The first row that fits a property counts, and finds something. */
static const struct {
    const char *names; /* of the property */
    const char *about; /* a word in its description; "": any */
    enum shape shape;
    const char *after, *skip, *until;
} places[] = {
    {" path paths file files filename file_path file_paths ", "", WORD_OF_FILE,
     "", "", ""},
    {" pattern glob include ", "path", WORD_OF_GLOB, "", "", ""},
    {" pattern glob include ", "path", NOTHING, "", "", ""},
    {" url uri link ", "", WORD_OF_URL, "", "", ""},
    {" pattern query regex search ", "", TEXT,
     " for word words term text phrase mention mentions mentioning contain "
     "contains containing called named function about ",
     " word words term text phrase lines line with that ",
     " in inside within from defined declared used anywhere occur occurs appear "
     "appears ending end ends "},
    {" pattern query regex search ", "", TEXT,
     " find search grep where which does is are ",
     " file files line lines with that every all any place places where -i -r -n ",
     " in inside within from defined declared used anywhere occur occurs appear "
     "appears ending end ends "},
    {" content text body ", "file", TEXT,
     " says say saying text words word content contents containing contains "
     "reading line ",
     " of that ", ""},
    {" content text body ", "file", TEXT, " write save put store add ", "", ""},
    {" content text body ", "file", EMPTY, " create make touch new ", "", ""},
    {" content title task item ", "done", TEXT,
     " add put note write remember remind need must new ",
     " to that task todo to-do item reminder ", ""},
    {" content title task item ", "done", TEXT, " task todo to-do reminder ",
     " list to that ", ""},
    {" status ", "pending", GIVEN, "pending", "", ""},
    {" old old_string old_text ", "", TEXT,
     " change replace substitute swap fix edit ", " word ",
     " to with by into for "},
    {" new new_string new_text ", "", TEXT, " to with by into ", " word ", ""},
    {" command cmd ", "", TEXT, " run execute ", " command ", ""},
    {" city place location town country ", "", NAME, " in at for of to near ",
     "", ""},
};

/* What people write for a value of an enum or a pattern of paths: a list each,
 * which that begins. */
static const char aliases[] =
    "; kilometre kilometres km kilometer kilometers kms ; metre metres m meter "
    "meters ; centimetre centimetres cm centimeter centimeters ; millimetre "
    "millimetres mm millimeter millimeters ; inch inches \" ; foot feet ft ; "
    "yard yards yd yds ; mile miles mi ; gram grams g gr ; kilogram kilograms "
    "kg kgs kilo kilos ; ounce ounces oz ; pound pounds lb lbs ; millilitre "
    "millilitres ml milliliter milliliters ; litre litres l liter liters ; "
    "gallon gallons gal ; metre_per_second m/s ; kilometre_per_hour km/h kmh "
    "kph ; mile_per_hour mph ; knot knots kn knots ; celsius c centigrade °c ; "
    "fahrenheit f °f ; kelvin k ; **/*.md markdown md ; **/*.txt txt ; **/*.csv "
    "csv ; **/*.html html ; **/*.py python py ; **/*.h header headers ; "
    "**/*.json json ";

/* A part begins with them, and articles begin no text. */
static const char starters[] =
    " what what's how which where who when is are can please open show read "
    "list find search grep create make write save add put remind tell give get "
    "run convert switch turn set change replace edit delete fetch then now ";
/* A request that begins so asks, and changes nothing ... */
static const char questions[] =
    " is are does do was what what's which how who ";
/* ... as tools do that have one of them in their name. */
static const char *const changes[] = {"write", "set",  "switch", "create",
                                      "edit",  "send", "delete"};
static const char articles[] = " a an the my our me us ";
/* What a text is put into: "... in the file", "... to my list". */
static const char into[] = " in into inside to on onto as from within called ";
static const char containers[] =
    " file files list folder directory project workspace here todo to-do "
    "todos tasks ";

/* ---- words ---- */

typedef struct guess_word {
    tcall_str text; /* without its quotes */
    bool quoted;
    bool last; /* a part ends with it */
    bool used; /* it became an argument */
} guess_word;

typedef struct guess_call {
    const char *name;
    char arguments[4096];
} guess_call;

typedef struct guess {
    tcall_tool tools[GUESS_TOOLS];
    tcall_json parameters[GUESS_TOOLS]; /* of each */
    int tool_count;
    guess_word words[GUESS_WORDS];
    int word_count;
    int from, to; /* the words of the part at hand */
    int next;     /* where the next argument is looked for first */
    guess_call calls[GUESS_CALLS];
    int call_count;
    const char *lonely; /* a tool that was meant, but lacks an argument */
    char missing[64];   /* that one's name */
    char elsewhere[64]; /* a place that was meant and that no tool takes */
    tcall tc;
    char memory[64 * 1024];
} guess;

static bool is_word(const guess_word *w, const char *text)
{
    size_t len = strlen(text); /* a plural is as good: miles for mile */
    bool plural = w->text.len == len + 1 && tolower(w->text.ptr[len]) == 's';
    return (w->text.len == len || plural) &&
           strncasecmp(w->text.ptr, text, len) == 0;
}

/* Where the word is in a list, with a blank before and after each, or NULL. */
static const char *is_one_of(const guess_word *w, const char *list)
{
    char text[24];
    if (w->quoted || w->text.len + 3 > sizeof text)
        return NULL;
    snprintf(text, sizeof text, " %.*s ", (int)w->text.len, w->text.ptr);
    return strcasestr(list, text);
}

static bool has_word(const guess *g, const char *list)
{
    for (int i = g->from; i < g->to; i++)
        if (is_one_of(&g->words[i], list))
            return true;
    return false;
}

/* The value that people mean by a word, until the next one, or NULL. */
static const char *alias_of(const guess_word *w)
{
    static char value[32];
    const char *at = is_one_of(w, aliases);
    while (at && *at != ';')
        at--;
    return at && sscanf(at, "; %31s", value) == 1 ? value : NULL;
}

static bool is_number(const guess_word *w, bool whole)
{
    char text[32], *end;
    if (w->quoted || w->text.len >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)w->text.len, w->text.ptr);
    strtod(text, &end);
    return isdigit((unsigned char)text[*text == '-']) && !*end &&
           !(whole && strchr(text, '.'));
}

static bool has_shape(const guess_word *w, enum shape shape)
{
    tcall_str t = w->text;
    bool url = t.len > 8 && strncasecmp(t.ptr, "http", 4) == 0 &&
               memmem(t.ptr, 8, "://", 3);
    bool glob = memchr(t.ptr, '*', t.len) || (t.len > 1 && *t.ptr == '.' &&
                                              isalnum((unsigned char)t.ptr[1]));
    if (shape == WORD_OF_URL)
        return url;
    if (shape == WORD_OF_GLOB)
        return glob;
    if (url || glob || is_number(w, false) || alias_of(w) ||
        memchr(t.ptr, ' ', t.len))
        return false;
    for (size_t i = 1; i + 1 < t.len; i++)
        if (t.ptr[i] == '.' && isalnum((unsigned char)t.ptr[i + 1]))
            return true;
    return memchr(t.ptr, '/', t.len) ||
           is_one_of(w, " readme makefile license changelog dockerfile ");
}

/* Cuts a number off the unit that is written right after it: 72F. */
static void split_unit(guess *g)
{
    guess_word *w = &g->words[g->word_count - 1], unit = *w;
    size_t n = *w->text.ptr == '-';
    while (n < w->text.len && strchr("0123456789.", w->text.ptr[n]))
        n++;
    unit.text.ptr += n;
    unit.text.len -= n;
    if (w->quoted || !unit.text.len ||
        !isdigit((unsigned char)unit.text.ptr[-1]) || !alias_of(&unit) ||
        g->word_count == GUESS_WORDS)
        return;
    w->text.len = n;
    w->last = false;
    g->words[g->word_count++] = unit;
}

/* A part ends with a sentence, or where another thing is asked for. */
static void split_parts(guess *g)
{
    for (int i = 0; i + 1 < g->word_count; i++) {
        guess_word *w = &g->words[i];
        bool joins = is_one_of(w, " and then ");
        char mark = w->text.ptr[w->text.len + w->quoted];
        if ((joins || strchr(",;:", mark)) &&
            is_one_of(
                &g->words[i + 1 + (!joins && is_one_of(w + 1, " and then "))],
                starters))
            w->last = true;
    }
}

/* Where a text in quotes that begins here ends; NULL: none does. A single quote
 * within a word is an apostrophe. */
static const char *quote_end(const char *p, const char *end)
{
    const char *q = p + 1;
    if (*p != '"' && *p != '\'')
        return NULL;
    while (q < end && !(*q == *p && (q + 1 == end || *p == '"' ||
                                     !isalnum((unsigned char)q[1]))))
        q++;
    return q < end ? q : NULL;
}

static void split_words(guess *g, tcall_str request)
{
    const char *p = request.ptr, *end = p + request.len;
    g->word_count = 0;
    while (g->word_count < GUESS_WORDS) {
        guess_word *w = &g->words[g->word_count];
        const char *from, *close;
        while (p < end && isspace((unsigned char)*p))
            p++;
        if (p == end)
            break;
        memset(w, 0, sizeof *w);
        close = quote_end(p, end);
        w->quoted = close != NULL;
        from = p += w->quoted;
        while (p < end &&
               (w->quoted ? p != close : !isspace((unsigned char)*p)))
            p++;
        w->text = (tcall_str){from, (size_t)(p - from)};
        p += w->quoted;
        while (!w->quoted && w->text.len &&
               strchr(",;:.?!", w->text.ptr[w->text.len - 1]))
            w->last = strchr(".?!", w->text.ptr[--w->text.len]) != NULL;
        if (!w->text.len && !w->quoted)
            continue;
        g->word_count++;
        split_unit(g);
    }
    split_parts(g);
}

/* ---- arguments ---- */

/* A property of a tool, and what the tables call it. */
typedef struct property {
    tcall_str name;
    const char *about;
    bool required;
} property;

static bool write_alias(const guess_word *w, tcall_json values,
                        tcall_writer *out)
{
    const char *alias = alias_of(w);
    tcall_json v = tcall_json_first(values);
    for (; v.at; v = tcall_json_next(v)) {
        const char *value = tcall_json_string(v, "");
        if (is_word(w, value) || (alias && strcmp(alias, value) == 0))
            return tcall_write_json(out, v) == TCALL_OK;
    }
    return false;
}

/* What a word is as a value of this schema: writes it, or answers false. */
static bool write_word(const guess_word *w, tcall_json schema, const char *type,
                       tcall_writer *out)
{
    tcall_json values = tcall_json_get(schema, "enum");
    if (values.at)
        return write_alias(w, values, out);
    if (strcmp(type, "boolean") == 0) {
        bool on = is_one_of(w, " on true yes high ");
        return (on || is_one_of(w, " off false no low ")) &&
               tcall_write_bool(out, on) == TCALL_OK;
    }
    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        return is_number(w, *type == 'i') &&
               tcall_write_verbatim(out, w->text) == TCALL_OK;
    return false;
}

/* Does the text end before this word, which says what it is put into? */
static bool ends_text(const guess *g, int i)
{
    if (!is_one_of(&g->words[i], into))
        return false;
    for (int k = i + 1; k < g->to && k <= i + 3; k++)
        if (has_shape(&g->words[k], WORD_OF_FILE) ||
            is_one_of(&g->words[k], containers))
            return true;
    return false;
}

/* Writes the words from first up to end as they were written. */
static bool take_words(guess *g, int first, int end, tcall_writer *out)
{
    const guess_word *last = &g->words[end - 1];
    const char *from;
    if (first >= end)
        return false;
    from = g->words[first].text.ptr - g->words[first].quoted;
    for (int i = first; i < end; i++)
        if (g->words[i].used)
            return false;
    for (int i = first; i < end; i++)
        g->words[i].used = true;
    return tcall_write_str(
               out, (tcall_str){from, (size_t)(last->text.ptr + last->text.len +
                                               last->quoted - from)}) ==
           TCALL_OK;
}

/* The text of a row of places: TEXT or NAME. */
static bool take_text(guess *g, size_t row, tcall_writer *out)
{
    const char *after = places[row].after;
    bool name = places[row].shape == NAME;
    for (int i = g->from; i < g->to; i++) {
        int first = i + 1, end;
        if (!is_one_of(&g->words[i], after))
            continue;
        while (first < g->to && (is_one_of(&g->words[first], after) ||
                                 is_one_of(&g->words[first], articles) ||
                                 is_one_of(&g->words[first], places[row].skip)))
            first++;
        for (end = first; end < g->to; end++)
            if (name ? !isupper((unsigned char)*g->words[end].text.ptr)
                     : g->words[end].quoted || ends_text(g, end) ||
                           has_shape(&g->words[end], WORD_OF_FILE) ||
                           is_one_of(&g->words[end], places[row].until))
                break;
        if (take_words(g, first, end, out))
            return true;
    }
    return false;
}

/* A word that looks as the row says, or one that stands for such a pattern. */
static bool take_shape(guess *g, size_t row, tcall_writer *out)
{
    for (int i = g->from; i < g->to; i++) {
        guess_word *w = &g->words[i];
        const char *alias = alias_of(w);
        char text[64] = "";
        if (w->used)
            continue;
        if (places[row].shape == WORD_OF_GLOB && alias && *alias == '*')
            snprintf(text, sizeof text, "%s", alias);
        else if (!has_shape(w, places[row].shape))
            continue;
        else if (*w->text.ptr == '.' && places[row].shape == WORD_OF_GLOB)
            snprintf(text, sizeof text, "**/*%.*s", (int)w->text.len,
                     w->text.ptr);
        w->used = true;
        return (*text ? tcall_write_string(out, text)
                      : tcall_write_str(out, w->text)) == TCALL_OK;
    }
    return false;
}

static bool take_place(guess *g, size_t row, tcall_writer *out)
{
    switch (places[row].shape) {
    case TEXT:
    case NAME: return take_text(g, row, out);
    case GIVEN: return tcall_write_string(out, places[row].after) == TCALL_OK;
    case EMPTY:
        return has_word(g, places[row].after) &&
               tcall_write_string(out, "") == TCALL_OK;
    case NOTHING: return false;
    default: return take_shape(g, row, out);
    }
}

static bool is_named(const property *p, const char *names)
{
    char name[64];
    snprintf(name, sizeof name, " %.*s ", (int)p->name.len, p->name.ptr);
    return strcasestr(names, name) != NULL;
}

static bool fits(size_t row, const property *p)
{
    return is_named(p, places[row].names) &&
           strcasestr(p->about, places[row].about);
}

static bool take_quoted(guess *g, tcall_writer *out)
{
    for (int i = g->from; i < g->to; i++) {
        guess_word *w = &g->words[i];
        if (w->quoted && !w->used)
            return w->used = true, tcall_write_str(out, w->text) == TCALL_OK;
    }
    return false;
}

/* A string: what looks like it, else a quoted text, else what the part says
 * where such texts stand. */
static bool take_string(guess *g, const property *p, tcall_writer *out)
{
    bool late = false;
    for (size_t row = 0; row < TCALL_ARRAY_LEN(places); row++)
        if (fits(row, p)) {
            if (places[row].shape >= TEXT && !late) {
                late = true;
                if (take_quoted(g, out))
                    return true;
            }
            if ((p->required || places[row].shape < TEXT ||
                 places[row].shape == NAME) &&
                take_place(g, row, out))
                return true;
            if (places[row].shape == NOTHING)
                return false;
        }
    return !late && p->required && take_quoted(g, out);
}

static bool fill_object(guess *g, tcall_json schema, tcall_writer *out);

/* The first unused word that suits, from the last argument on. */
static bool fill_value(guess *g, const property *p, tcall_json schema,
                       tcall_writer *out)
{
    tcall_json any = tcall_json_get(schema, "anyOf"), type;
    int count = g->to - g->from;
    /* Many a number is another one. */
    const char *after = is_named(p, " offset ")  ? " line lines from offset "
                        : is_named(p, " limit ") ? " first top limit next "
                                                 : NULL;
    const char *name;
    if (any.at)
        schema = tcall_json_first(any);
    type = tcall_json_get(schema, "type");
    if (tcall_json_type(type) == TCALL_ARRAY)
        type = tcall_json_first(type);
    name = tcall_json_string(type, "");
    if (strcmp(name, "object") == 0)
        return fill_object(g, schema, out);
    if (strcmp(name, "array") == 0) {
        bool filled;
        tcall_write_open(out, '[');
        filled = fill_value(g, p, tcall_json_get(schema, "items"), out);
        tcall_write_close(out, ']');
        return filled;
    }
    for (int i = 0; i < count; i++) {
        int at = g->from + (g->next - g->from + i) % count;
        if (!g->words[at].used &&
            (!after || (at > g->from && is_one_of(&g->words[at - 1], after))) &&
            write_word(&g->words[at], schema, name, out)) {
            g->next = at + 1;
            return g->words[at].used = true;
        }
    }
    return strcmp(name, "string") == 0 && take_string(g, p, out);
}

static bool is_required(tcall_json schema, tcall_str name)
{
    tcall_json v = tcall_json_first(tcall_json_get(schema, "required"));
    while (v.at && !tcall_str_eq(tcall_json_str(v), name))
        v = tcall_json_next(v);
    return v.at != NULL;
}

/* Required properties first. False: one of them found nothing: missing. */
static bool fill_object(guess *g, tcall_json schema, tcall_writer *out)
{
    tcall_json properties = tcall_json_get(schema, "properties");
    tcall_write_open(out, '{');
    for (int required = 1; required >= 0; required--)
        for (tcall_json v = tcall_json_first(properties); v.at;
             v = tcall_json_next(v)) {
            property p = {tcall_json_key(v), "", required};
            char value[2048];
            tcall_writer w;
            p.about = tcall_json_string(tcall_json_get(v, "description"), "");
            if (is_required(schema, p.name) != required)
                continue;
            tcall_writer_init(&w, value, sizeof value - 1);
            if (fill_value(g, &p, v, &w)) {
                value[w.error ? 0 : w.len] = '\0';
                tcall_write_str(out, p.name);
                tcall_write_text(out, ":");
                tcall_write_verbatim(out, tcall_str_of(value));
            } else if (required) {
                snprintf(g->missing, sizeof g->missing, "%.*s", (int)p.name.len,
                         p.name.ptr);
                return false;
            }
        }
    tcall_write_close(out, '}');
    return true;
}

/* ---- tools ---- */

static int never_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args, (void)out;
    return TCALL_E_FAILED;
}

/* A registry to pick from. */
static bool guess_tools(guess *g, tcall_writer *faults)
{
    tcall_desc d = {.lenient = &tcall_lenient,
                    .block = g->memory,
                    .block_size = sizeof g->memory,
                    .tools = g->tools,
                    .tool_count = (size_t)g->tool_count,
                    .allow = TCALL_EVERYTHING,
                    .report = &tcall_report,
                    .faults = faults};
    return tcall_init(&g->tc, &d) == TCALL_OK;
}

/* Makes a call of this tool, if the part has all its arguments. Returns how
 * many of its words they are, or -1. */
static int make_call(guess *g, int tool, guess_call *call)
{
    tcall_writer w;
    int used = 0;
    for (int i = g->from; i < g->to; i++)
        g->words[i].used = false;
    g->next = g->from;
    tcall_writer_init(&w, call->arguments, sizeof call->arguments - 1);
    call->name = g->tools[tool].name;
    if (!fill_object(g, g->parameters[tool], &w) || w.error)
        return -1;
    call->arguments[w.len] = '\0';
    for (int i = g->from; i < g->to; i++)
        used += g->words[i].used;
    return used;
}

static void add_call(guess *g, int tool, const guess_call *call)
{
    static const char first[] = "was read before";
    if (g->call_count < GUESS_CALLS &&
        strstr(g->tools[tool].description, first))
        for (int i = 0; i < g->tool_count; i++)
            if (strcmp(g->tools[i].name, "read") == 0 &&
                make_call(g, i, &g->calls[g->call_count]) >= 0)
                g->call_count++;
    if (g->call_count < GUESS_CALLS)
        g->calls[g->call_count++] = *call;
}

/* A place in which something is to be, though no argument took it. */
static bool is_elsewhere(guess *g)
{
    for (int i = g->from; i + 1 < g->to; i++) {
        const guess_word *w = &g->words[i + 1];
        if (is_one_of(w - 1, " in at for of ") && !w->used && !w->quoted &&
            w->text.len > 1 && isupper((unsigned char)w->text.ptr[0]) &&
            islower((unsigned char)w->text.ptr[1]) && !alias_of(w) &&
            !has_shape(w, WORD_OF_FILE)) {
            snprintf(g->elsewhere, sizeof g->elsewhere, "%.*s",
                     (int)w->text.len, w->text.ptr);
            return true;
        }
    }
    return false;
}

/* The words of a part by which its tool is picked, and what they mean. Texts in
 * quotes choose none. */
static void describe_part(const guess *g, char *text, size_t size)
{
    tcall_writer w;
    tcall_writer_init(&w, text, size - 1);
    for (int i = g->from; i < g->to; i++) {
        const guess_word *word = &g->words[i];
        const char *alias = alias_of(word);
        if (!word->quoted && !has_shape(word, WORD_OF_FILE)) {
            tcall_write_bytes(&w, word->text.ptr, word->text.len);
            tcall_write_text(&w, " ");
        }
        for (size_t k = 0; k < TCALL_ARRAY_LEN(meanings); k++)
            if (is_one_of(word, meanings[k].said)) {
                tcall_write_text(&w, meanings[k].meant);
                tcall_write_text(&w, " ");
            }
        if (alias && i > g->from &&
            (is_number(word - 1, false) ||
             (i > g->from + 1 && is_number(word - 2, false))))
            tcall_write_text(&w, "convert value units ");
        if (has_shape(word, WORD_OF_FILE))
            tcall_write_text(&w, "read file ");
        if (has_shape(word, WORD_OF_GLOB) || (alias && *alias == '*'))
            tcall_write_text(&w, "glob pattern ");
        if (has_shape(word, WORD_OF_URL))
            tcall_write_text(&w, "fetch page internet ");
    }
    text[w.fill] = '\0';
}

static bool has_text(const guess *g, int tool, const char *text)
{
    tcall_json v = tcall_json_get(g->parameters[tool], "properties");
    size_t len = strlen(text);
    for (v = tcall_json_first(v); v.at; v = tcall_json_next(v)) {
        tcall_str name = tcall_json_key(v);
        if (name.len >= len && !strncasecmp(name.ptr, text, len))
            return true;
    }
    return strcasestr(g->tools[tool].name, text) ||
           strcasestr(g->tools[tool].description, text);
}

/* Has the tool all special words of the part that are no arguments? And does it
 * change nothing, when something was only asked? */
static bool is_meant(const guess *g, int tool)
{
    bool asks = is_one_of(&g->words[g->from], questions);
    for (size_t i = 0; asks && i < TCALL_ARRAY_LEN(changes); i++)
        if (strcasestr(g->tools[tool].name, changes[i]))
            return false;
    for (int i = g->from; i < g->to; i++) {
        const guess_word *w = &g->words[i];
        char text[24];
        snprintf(text, sizeof text, "%.*s", (int)w->text.len, w->text.ptr);
        if (!w->used && is_one_of(w, special) && !has_text(g, tool, text))
            return false;
    }
    return true;
}

/* What a part asks for, if anything: of the tools that are meant, the one whose
 * arguments are most of its words. */
static void guess_part_call(guess *g)
{
    static const tcall_pick_opts opts = {
        .max = GUESS_RANKS,
        .allow_unsafe = true,
        .relative = 40,
        .synonyms = tcall_synonyms,
    };
    static guess_call tried;
    tcall_picked picks[GUESS_RANKS];
    char text[4096];
    int count, first = -1, best = -1, most = -1;
    describe_part(g, text, sizeof text);
    count = tcall_pick(&g->tc, tcall_str_of(text), &opts, picks, GUESS_RANKS);
    for (int i = 0; i < count; i++) {
        int used = make_call(g, picks[i].index, &tried);
        if (!is_meant(g, picks[i].index))
            continue;
        first = first < 0 ? picks[i].index : first;
        if (used > most) {
            most = used;
            best = picks[i].index;
        }
    }
    if (first < 0)
        return;
    best = best < 0 ? first : best;
    if (make_call(g, best, &tried) < 0 || is_elsewhere(g))
        g->lonely = g->tools[best].name;
    else
        add_call(g, best, &tried);
}

/* Makes the calls that a request asks for: those of its parts, or of all. */
static void guess_calls(guess *g, tcall_str request)
{
    split_words(g, request);
    g->call_count = g->from = 0;
    g->lonely = NULL;
    g->elsewhere[0] = '\0';
    for (int i = 0; i < g->word_count; i++) {
        g->to = i + 1;
        if (!g->words[i].last && g->to < g->word_count)
            continue;
        guess_part_call(g);
        g->from = g->to;
    }
    g->from = 0;
    if (!g->call_count && !g->elsewhere[0])
        guess_part_call(g);
}
