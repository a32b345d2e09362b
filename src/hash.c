#pragma once
#include "hash.h"
#include "call.c"

/* ==========================================================================
 * >>hash
 */

static uint64_t tcall_rotl_(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static void tcall_sip_rounds_(uint64_t *v, int n)
{
    for (; n; n--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = tcall_rotl_(v[1], 13) ^ v[0];
        v[3] = tcall_rotl_(v[3], 16) ^ v[2];
        v[0] = tcall_rotl_(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = tcall_rotl_(v[3], 21) ^ v[0];
        v[1] = tcall_rotl_(v[1], 17) ^ v[2];
        v[2] = tcall_rotl_(v[2], 32);
    }
}

uint64_t tcall_hash(const uint64_t key[2], tcall_str bytes)
{
    static const uint64_t start[] = {0x736F6D6570736575u, 0x646F72616E646F6Du,
                                     0x6C7967656E657261u, 0x7465646279746573u};
    uint64_t v[4], word = 0;
    size_t i, last = bytes.len | 7; /* there stands the length */
    for (i = 0; i < 4; i++)
        v[i] = key[i & 1] ^ start[i];
    for (i = 0; i <= last; i++) {
        size_t c = i == last ? bytes.len : 0;
        if (i < bytes.len)
            c = (unsigned char)bytes.ptr[i];
        word = word >> 8 | (uint64_t)c << 56;
        if ((i & 7) != 7)
            continue;
        v[3] ^= word;
        tcall_sip_rounds_(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xFF;
    tcall_sip_rounds_(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* One hash more in a chain. */
static void tcall_chain_(const tcall *tc, uint64_t *h, tcall_str bytes)
{
    uint64_t key[2];
    key[0] = tc->desc.hash_key[0] ^ *h;
    key[1] = tc->desc.hash_key[1];
    *h = tcall_hash(key, bytes);
}

/* The hash of the one text that the chain with this number has. */
TCALL_SHARED_ uint64_t tcall_hash_text_(const tcall *tc, unsigned chain,
                                        tcall_str text)
{
    uint64_t h = chain;
    tcall_chain_(tc, &h, text);
    return h;
}

/* A scalar by its type and what it means. */
static void tcall_hash_scalar_(const tcall *tc, uint64_t *h, tcall_json v)
{
    tcall_str s = tcall_json_str(v);
    tcall_num_ n;
    char digits[32];
    const char *p;
    size_t fill = 0;
    int i, all;
    digits[0] = (char)tcall_json_type(v);
    tcall_chain_(tc, h, tcall_slice_(digits, 1));
    if (digits[0] == TCALL_NUMBER) {
        n = tcall_num_read_(s);
        all = tcall_num_digits_(&n);
        n.top = n.sign ? n.top : 0;
        digits[fill++] = n.sign < 0;
        for (i = 0; i < 4; i++)
            digits[fill++] = (char)((uint32_t)n.top >> i * 8);
        for (p = n.first, i = 0; i < all; i++) {
            digits[fill++] = (char)tcall_num_digit_(&n, &p);
            if (fill == sizeof digits) {
                tcall_chain_(tc, h, tcall_slice_(digits, fill));
                fill = 0;
            }
        }
        s = tcall_slice_(digits, fill);
    }
    tcall_chain_(tc, h, s);
}

/* A container on the way down. */
typedef struct tcall_hash_level_ {
    uint64_t path;
    const tcall_tok *end;
    uint32_t index;
} tcall_hash_level_;

/* The sum over all values of a hash chained down the path that leads there:
 * the order of members does not matter, that of elements does. */
int tcall_hash_json(tcall *tc, tcall_json value, uint64_t *out)
{
    size_t size;
    tcall_hash_level_ *level =
        (tcall_hash_level_ *)(void *)tcall_hydrate_gap_(&tc->block, 0, &size);
    const tcall_tok *end;
    tcall_json v = value;
    uint64_t path = 0, sum = 0;
    size_t depth = 0;
    *out = 0;
    if (!value.tok)
        return TCALL_OK;
    for (end = v.tok + v.tok->span; v.tok < end; v.tok++) {
        uint64_t h;
        while (depth && v.tok >= level[depth - 1].end)
            depth--;
        if (depth && !(v.tok->type & TCALL_MEMBER_)) { /* a step down */
            tcall_hash_level_ *up = &level[depth - 1];
            tcall_str step = tcall_tok_str_(v.text, v.tok);
            if (!(v.tok->type & TCALL_KEY_))
                step = tcall_slice_((const char *)&up->index, 4);
            path = up->path;
            tcall_chain_(tc, &path, step);
            up->index++;
        }
        if (v.tok->type & TCALL_KEY_)
            continue;
        h = path;
        tcall_hash_scalar_(tc, &h, v);
        sum += h;
        if (tcall_json_type(v) < TCALL_ARRAY)
            continue;
        if (!tcall_block_room_(&tc->block, (depth + 1) * sizeof *level + 8))
            return TCALL_E_MEMORY;
        level[depth].path = path;
        level[depth].end = v.tok + v.tok->span;
        level[depth++].index = 0;
    }
    *out = sum;
    return TCALL_OK;
}

/* Of the tool's definition and the arguments: what runs, exactly. */
TCALL_SHARED_ int tcall_hash_call_(tcall *tc, const tcall_call *call,
                                   uint64_t *out)
{
    const tcall_tool *t = call->tool;
    const char *const texts[] = {t->name,   t->description,     t->parameters,
                                 t->output, t->provider_schema, t->provided_by};
    uint64_t h = 1;
    size_t i;
    char flags[5];
    int r = tcall_hash_json(tc, call->args, out);
    for (i = 0; i < TCALL_ARRAY_LEN(texts); i++)
        tcall_chain_(tc, &h, tcall_str_of(texts[i]));
    flags[0] = (char)t->permissions;
    flags[1] = (char)t->optional_permissions;
    flags[2] = (char)t->no_schema_mode;
    flags[3] = (char)t->confirm;
    flags[4] = (char)t->idempotent;
    tcall_chain_(tc, &h, tcall_slice_(flags, sizeof flags));
    *out += h;
    return r;
}
