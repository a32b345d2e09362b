#pragma once
#include "bind.h"
#include "json.c"
#include "text.c"

/* ==========================================================================
 * >>bind
 */

#ifndef TOOLCALL_NO_BIND

/* Arguments as a C struct. The functions that store a value are named by the
 * table only, so what no table uses is not linked. */

int tcall_field_string_(void *out, tcall_json v, const tcall_field *f)
{
    tcall_str s = tcall_json_str(v);
    (void)f;
    if (s.len && memchr(s.ptr, 0, s.len))
        return TCALL_E_NUL;
    *(const char **)out = s.ptr;
    return TCALL_OK;
}

/* min <= value * 10^decimals <= max. whole: no fraction, 5.0 has none. */
static int tcall_field_long_(int64_t *out, tcall_json v, int decimals,
                             bool whole)
{
    tcall_num_ n = tcall_num_read_(tcall_json_str(v));
    if (whole && !tcall_num_integral_(&n))
        return TCALL_E_INVALID;
    return tcall_num_int64_(&n, decimals, out) ? TCALL_OK : TCALL_E_RANGE;
}

int tcall_field_int64_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    return tcall_field_long_((int64_t *)out, v, 0, true);
}

int tcall_field_integer_(void *out, tcall_json v, const tcall_field *f)
{
    int64_t n = 0;
    int r = tcall_field_long_(&n, v, 0, true);
    (void)f;
    if (n < INT_MIN || n > INT_MAX)
        r = TCALL_E_RANGE;
    if (r == TCALL_OK)
        *(int *)out = (int)n;
    return r;
}

int tcall_field_fixed_(void *out, tcall_json v, const tcall_field *f)
{
    int64_t n = 0;
    int r = tcall_field_long_(&n, v, f->decimals, false);
    if (n < LONG_MIN || n > LONG_MAX)
        r = TCALL_E_RANGE;
    if (r == TCALL_OK)
        *(long *)out = (long)n;
    return r;
}

int tcall_field_number_(void *out, tcall_json v, const tcall_field *f)
{
    tcall_num_ n = tcall_num_read_(tcall_json_str(v));
    (void)f;
    return tcall_num_double_(&n, out) ? TCALL_OK : TCALL_E_RANGE;
}

int tcall_field_boolean_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(bool *)out = tcall_json_bool(v, false);
    return TCALL_OK;
}

int tcall_field_choice_(void *out, tcall_json v, const tcall_field *f)
{
    const char *p = (const char *)f->more;
    tcall_str s = tcall_json_str(v);
    int i;
    for (i = 0; (p = strchr(p, '"')) != NULL; i++) {
        const char *name = p + 1;
        p = strchr(name, '"');
        if (!p)
            break;
        if (tcall_str_eq(s, tcall_slice_(name, (size_t)(p - name)))) {
            *(int *)out = i;
            return TCALL_OK;
        }
        p++;
    }
    return TCALL_E_INVALID;
}

int tcall_field_json_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(tcall_json *)out = v;
    return TCALL_OK;
}

typedef struct tcall_bind_ {
    char *path; /* grows at its front, from the value up to the root */
    size_t cap, len;
} tcall_bind_;

static void tcall_bind_put_(tcall_bind_ *b, char c)
{
    if (b->len + 1 >= b->cap) {
        if (b->len == 0)
            return;
        b->len--; /* the tail goes, the root stays */
    }
    memmove(b->path + 1, b->path, b->len);
    b->path[0] = c;
    b->path[++b->len] = 0;
}

/* One step of the path, from its last character to its first. */
TCALL_NOINLINE_ static void tcall_bind_name_(tcall_bind_ *b, const char *name)
{
    size_t i = strlen(name);
    while (i-- > 0) {
        const char *escape = tcall_pointer_escape_(name[i]);
        tcall_bind_put_(b, escape ? escape[1] : name[i]);
        if (escape)
            tcall_bind_put_(b, escape[0]);
    }
    tcall_bind_put_(b, '/');
}

TCALL_NOINLINE_ static void tcall_bind_index_(tcall_bind_ *b, int i)
{
    do {
        tcall_bind_put_(b, (char)('0' + i % 10));
        i /= 10;
    } while (i);
    tcall_bind_put_(b, '/');
}

/* The default: text as if the model had sent it. */
TCALL_NOINLINE_ static int tcall_bind_text_(char *at, const tcall_field *f)
{
    tcall_tok tok;
    memset(&tok, 0, sizeof tok);
    tok.type = f->type;
    tok.end = (int)strlen(f->text);
    tok.span = 1;
    return f->read(at, tcall_json_cursor_(f->text, &tok), f);
}

/* Objects within objects recurse, TCALL_BIND_DEPTH times at most. */
static int tcall_bind_object_(tcall_bind_ *b, char *out, tcall_json object,
                              const tcall_field *f, int depth)
{
    int r = TCALL_OK;
    for (; f->name && r == TCALL_OK; f++) {
        tcall_json v = tcall_json_get(object, f->name), item = v;
        tcall_type type = tcall_json_type(v);
        char *at = out + f->offset;
        int i = 0, end = f->capacity ? f->capacity : 1;
        memset(at, 0, (size_t)f->size * (size_t)end);
        if (f->capacity) {
            item = tcall_json_first(v);
            memset(out + f->count_at, 0, sizeof(int));
        }
        if (type == TCALL_MISSING || (type == TCALL_NULL && f->type)) {
            if (f->required)
                r = TCALL_E_INVALID;
            else if (f->text)
                r = tcall_bind_text_(at, f);
            item.tok = NULL;
        } else if (f->capacity && type != TCALL_ARRAY) {
            r = TCALL_E_INVALID;
        }
        for (; item.tok && r == TCALL_OK; i++, at += f->size) {
            if (i == end)
                r = TCALL_E_RANGE;
            else if (f->type && tcall_json_type(item) != (tcall_type)f->type)
                r = TCALL_E_INVALID;
            else if (f->read)
                r = f->read(at, item, f);
            else if (depth == TCALL_BIND_DEPTH)
                r = TCALL_E_DEPTH;
            else
                r = tcall_bind_object_(b, at, item,
                                       (const tcall_field *)f->more, depth + 1);
            if (r < 0 && f->capacity)
                tcall_bind_index_(b, i);
            item = f->capacity ? tcall_json_next(item) : tcall_json_none_();
        }
        if (f->capacity && r == TCALL_OK)
            memcpy(out + f->count_at, &i, sizeof i);
        if (r < 0)
            tcall_bind_name_(b, f->name);
    }
    return r;
}

int tcall_bind(void *out, tcall_json args, const tcall_field *fields,
               char *path, size_t cap)
{
    tcall_bind_ b;
    b.path = path;
    b.cap = path ? cap : 0;
    b.len = 0;
    if (b.cap)
        *path = 0;
    if (tcall_json_type(args) != TCALL_OBJECT)
        return TCALL_E_INVALID;
    return tcall_bind_object_(&b, (char *)out, args, fields, 1);
}

#else

/* tcall_init refuses tools with fields, so that nothing is left to do. */
TCALL_SHARED_ int tcall_bind(void *out, tcall_json args,
                             const tcall_field *fields, char *path, size_t cap)
{
    (void)out;
    (void)args;
    (void)fields;
    (void)path;
    (void)cap;
    return TCALL_E_USAGE;
}

#endif /* TOOLCALL_NO_BIND */
