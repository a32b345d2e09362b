#pragma once
#include "hash.h"
#include "call.c"

/* ==========================================================================
 * >>hash
 */

/* Rotates to the left. */
static uint64_t tcall_rotl_(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

/* SipRound of the paper, some times. */
static void tcall_sip_rounds_(uint64_t *state, int rounds)
{
    for (; rounds; rounds--) {
        state[0] += state[1];
        state[2] += state[3];
        state[1] = tcall_rotl_(state[1], 13) ^ state[0];
        state[3] = tcall_rotl_(state[3], 16) ^ state[2];
        state[0] = tcall_rotl_(state[0], 32) + state[3];
        state[2] += state[1];
        state[3] = tcall_rotl_(state[3], 21) ^ state[0];
        state[1] = tcall_rotl_(state[1], 17) ^ state[2];
        state[2] = tcall_rotl_(state[2], 32);
    }
}

/* Bytes are taken in words of eight, lowest first; the last word is filled with
 * zeros up to its last byte, the length. */
uint64_t tcall_hash(const uint64_t key[2], tcall_str bytes)
{
    /* "somepseudorandomlygeneratedbytes" */
    static const uint64_t start[] = {0x736F6D6570736575u, 0x646F72616E646F6Du,
                                     0x6C7967656E657261u, 0x7465646279746573u};
    uint64_t state[4], word = 0;
    size_t i, last = bytes.len | 7; /* its byte is the length */
    for (i = 0; i < 4; i++)
        state[i] = key[i & 1] ^ start[i];
    for (i = 0; i <= last; i++) {
        size_t byte = i == last ? bytes.len : 0;
        if (i < bytes.len)
            byte = (unsigned char)bytes.ptr[i];
        word = word >> 8 | (uint64_t)byte << 56;
        if ((i & 7) != 7)
            continue;
        state[3] ^= word;
        tcall_sip_rounds_(state, 2);
        state[0] ^= word;
    }
    state[2] ^= 0xFF;
    tcall_sip_rounds_(state, 4);
    return state[0] ^ state[1] ^ state[2] ^ state[3];
}

/* Makes the next hash of a chain, of the last one and more bytes. */
static void tcall_chain_(const tcall *tc, uint64_t *hash, tcall_str bytes)
{
    uint64_t key[2];
    key[0] = tc->desc.hash_key[0] ^ *hash;
    key[1] = tc->desc.hash_key[1];
    *hash = tcall_hash(key, bytes);
}

/* Hashes one text. Each use has a number of its own, so that equal texts of
 * different uses have different hashes. */
TCALL_SHARED_ uint64_t tcall_hash_text_(const tcall *tc, unsigned chain,
                                        tcall_str text)
{
    uint64_t hash = chain;
    tcall_chain_(tc, &hash, text);
    return hash;
}

/* Hashes a scalar by its type and what it means: of a number that is its sign,
 * the place of its first digit and its digits. */
static void tcall_hash_scalar_(const tcall *tc, uint64_t *hash,
                               tcall_json value)
{
    tcall_str text = tcall_json_str(value);
    tcall_num_ number;
    char digits[32];
    const char *cursor;
    size_t fill = 0;
    int i, count;
    digits[0] = (char)tcall_json_type(value);
    tcall_chain_(tc, hash, tcall_slice_(digits, 1));
    if (digits[0] == TCALL_NUMBER) {
        number = tcall_num_read_(text);
        count = tcall_num_digits_(&number);
        number.top = number.sign ? number.top : 0;
        digits[fill++] = number.sign < 0;
        for (i = 0; i < 4; i++)
            digits[fill++] = (char)((uint32_t)number.top >> i * 8);
        for (cursor = number.first, i = 0; i < count; i++) {
            digits[fill++] = (char)tcall_num_digit_(&number, &cursor);
            if (fill == sizeof digits) {
                tcall_chain_(tc, hash, tcall_slice_(digits, fill));
                fill = 0;
            }
        }
        text = tcall_slice_(digits, fill);
    }
    tcall_chain_(tc, hash, text);
}

/* A container on the way down. */
typedef struct tcall_hash_level_ {
    uint64_t path;
    uint32_t index;
    bool object;
} tcall_hash_level_;

/* Returns the path to a member or element of a container. */
static uint64_t tcall_hash_step_(const tcall *tc, tcall_hash_level_ *level,
                                 tcall_json value)
{
    uint64_t path = level->path;
    tcall_chain_(tc, &path,
                 level->object ? tcall_json_key(value)
                               : tcall_slice_((const char *)&level->index, 4));
    level->index++;
    return path;
}

/* Adds up a hash for each value, chained along the path that leads to it: so
 * the order of members does not matter, and that of elements does. */
int tcall_hash_json(tcall *tc, tcall_json value, uint64_t *out)
{
    size_t size, depth = 0;
    tcall_hash_level_ *level =
        (tcall_hash_level_ *)(void *)tcall_hydrate_gap_(&tc->block, 0, &size);
    uint64_t path = 0, sum = 0;
    const char *next;
    *out = 0;
    while (value.at) {
        uint64_t hash = path;
        tcall_hash_scalar_(tc, &hash, value);
        sum += hash;
        next = tcall_text_first_(value.at);
        if (next) {
            if (!tcall_block_room_(&tc->block, (depth + 1) * sizeof *level + 8))
                return TCALL_E_MEMORY;
            level[depth].path = path;
            level[depth].object = *value.at == '{';
            level[depth++].index = 0;
        } else if (depth) {
            const char *end = tcall_text_skip_(value.at);
            while (depth && !(next = tcall_text_after_(end))) {
                end = tcall_text_space_(end) + 1;
                depth--;
            }
        }
        value = tcall_json_here_(next, depth && level[depth - 1].object);
        if (value.at)
            path = tcall_hash_step_(tc, &level[depth - 1], value);
    }
    *out = sum;
    return TCALL_OK;
}

/* Goes on with an object: its names and descriptions, and its defaults. */
static void tcall_hash_object_(const tcall *tc, uint64_t *hash,
                               const tcall_object *object)
{
    tcall_chain_(tc, hash, tcall_words_text_(object->names, object->count));
    tcall_chain_(tc, hash,
                 tcall_words_text_(object->descriptions, object->count));
    tcall_chain_(tc, hash,
                 tcall_slice_((const char *)object->initial, object->size));
}

/* Goes on with a value's node: with what it says, not where that lies. */
static void tcall_hash_node_(const tcall *tc, uint64_t *hash,
                             const tcall_shape *node)
{
    const int32_t bounds[] = {node->low, node->high};
    const tcall_range *range = (const tcall_range *)node->more;
    char head[4];
    head[0] = (char)node->types;
    head[1] = (char)node->kind;
    head[2] = (char)node->digits;
    head[3] = (char)node->flags;
    tcall_chain_(tc, hash, tcall_slice_(head, sizeof head));
    tcall_chain_(tc, hash, tcall_slice_((const char *)bounds, sizeof bounds));
    if (node->kind == TCALL_KIND_INTEGER64 || node->kind == TCALL_KIND_NUMBER)
        tcall_chain_(
            tc, hash,
            tcall_slice_((const char *)&range->low, 2 * sizeof range->low));
    else if (node->kind == TCALL_KIND_CHOICE)
        tcall_chain_(tc, hash,
                     tcall_words_text_((const char *)node->more,
                                       (unsigned)node->high + 1));
    else if (node->kind == TCALL_KIND_OBJECT)
        tcall_hash_object_(tc, hash, (const tcall_object *)node->more);
}

/* Goes on with all that a shape says. */
TCALL_NOINLINE_ static void tcall_hash_shape_(const tcall *tc, uint64_t *hash,
                                              const tcall_object *shape)
{
    tcall_shape_walk_ walk;
    tcall_hash_object_(tc, hash, shape);
    tcall_walk_begin_(&walk, shape, NULL);
    while (tcall_walk_on_(&walk))
        tcall_hash_node_(tc, hash, walk.node);
}

/* ---- definitions ---- */

/* A container of a text on the way down. */
typedef struct tcall_hash_place_ {
    uint64_t path;
    uint32_t index;
    bool object;
} tcall_hash_place_;

/* What is nested deeper than this counts as it is written. */
enum { TCALL_HASH_DEPTH_ = 16 };

/* Goes on from the end of a value to the next one, and gives the path to that.
 * Returns NULL at the end of all. */
static const char *tcall_hash_next_(const tcall *tc, const char *at,
                                    tcall_hash_place_ *places, int *depth,
                                    uint64_t *path)
{
    tcall_hash_place_ *place;
    tcall_str step;
    at = tcall_text_next_(at);
    while (*depth && *at && tcall_text_closes_(at)) {
        --*depth;
        at = tcall_text_next_(at + 1);
    }
    if (!*depth || !*at)
        return NULL;
    place = &places[*depth - 1];
    step = tcall_slice_((const char *)&place->index, sizeof place->index);
    *path = place->path;
    if (place->object) {
        step = tcall_text_verbatim_(at);
        at = tcall_text_value_(at);
    }
    tcall_chain_(tc, path, step);
    place->index++;
    return at;
}

/* Hashes JSON text as tcall_hash_json does a value, but strings and numbers as
 * they are written: white space and the order of members do not matter. */
static uint64_t tcall_hash_source_(const tcall *tc, const char *text)
{
    tcall_hash_place_ places[TCALL_HASH_DEPTH_];
    uint64_t path = 2, sum = 0;
    int depth = 0;
    if (text)
        text = tcall_text_space_(text);
    while (text) {
        tcall_str value = tcall_text_verbatim_(text);
        bool opens =
            (*text == '{' || *text == '[') && depth < TCALL_HASH_DEPTH_;
        uint64_t hash = path;
        if (opens) {
            places[depth].path = path;
            places[depth].index = 0;
            places[depth++].object = *text == '{';
            value.len = 1;
        }
        tcall_chain_(tc, &hash, value);
        sum += hash;
        text = tcall_hash_next_(tc, text + value.len, places, &depth, &path);
    }
    return sum;
}

/* Of all that says what a tool is and may do. */
static uint64_t tcall_hash_definition_(const tcall *tc, const tcall_tool *tool)
{
    const char *const texts[] = {tool->name, tool->description,
                                 tool->provided_by};
    uint64_t hash = 1;
    size_t i;
    char flags[6];
    for (i = 0; i < TCALL_ARRAY_LEN(texts); i++)
        tcall_chain_(tc, &hash, tcall_str_of(texts[i]));
    if (tool->shape)
        tcall_hash_shape_(tc, &hash, tool->shape);
    flags[0] = (char)tool->permissions;
    flags[1] = (char)tool->optional_permissions;
    flags[2] = (char)tool->no_schema_mode;
    flags[3] = (char)tool->confirm;
    flags[4] = (char)tool->idempotent;
    flags[5] = (char)tool->looks_first;
    tcall_chain_(tc, &hash, tcall_slice_(flags, sizeof flags));
    hash += tcall_hash_source_(tc, tool->parameters);
    hash += 3 * tcall_hash_source_(tc, tool->output);
    return hash + 5 * tcall_hash_source_(tc, tool->provider_schema);
}

/* ---- calls ---- */

/* Of the name and the arguments: what the model asked. */
static int tcall_hash_asked_(tcall *tc, const tcall_call *call, uint64_t *out)
{
    int r = tcall_hash_json(tc, call->args, out);
    if (!call->args.at) /* nobody needed values: the text counts */
        *out = tcall_hash_text_(tc, 6, call->arguments);
    *out += tcall_hash_text_(tc, 5, call->name);
    return r;
}

uint64_t tcall_call_what(tcall *tc, const tcall_call *call)
{
    uint64_t what;
    if (!call->tool || tcall_hash_asked_(tc, call, &what) < 0)
        return 0;
    return what + tcall_hash_definition_(tc, call->tool);
}

uint64_t tcall_call_key(const tcall *tc, const tcall_call *call)
{
    uint64_t key = 4;
    for (; call; call = call->turn ? call->turn->parent : NULL) {
        const tcall_session *session =
            call->session ? call->session : tc->desc.session;
        const uint32_t place[] = {call->turn_id, call->round, call->position};
        tcall_chain_(tc, &key, call->id);
        tcall_chain_(tc, &key, tcall_slice_((const char *)place, sizeof place));
        if (!session)
            continue;
        tcall_chain_(tc, &key, session->id);
        tcall_chain_(tc, &key, session->agent);
    }
    return key;
}

/* Of the turn that a call belongs to, in this memory: 0 without one. */
TCALL_SHARED_ uint64_t tcall_hash_turn_(const tcall *tc, const tcall_call *call)
{
    const tcall_turn *turn = call->turn;
    uint64_t hash = 0;
    while (turn) {
        tcall_chain_(tc, &hash, tcall_slice_((const char *)&turn, sizeof turn));
        tcall_chain_(tc, &hash,
                     tcall_slice_((const char *)&turn->id, sizeof turn->id));
        call = turn->parent;
        if (call)
            tcall_chain_(tc, &hash, call->id);
        turn = call ? call->turn : NULL;
    }
    return hash;
}

void tcall_concerns(tcall_ctx *cx, tcall_str thing)
{
    uint32_t hash =
        cx->tc ? (uint32_t)tcall_hash_text_(cx->tc, 7, thing) | 2 : 1;
    cx->thing = !cx->thing || cx->thing == hash ? hash : 1;
}

/* True when the call may have changed what was kept of a thing, or of one that
 * hashes alike. */
TCALL_SHARED_ bool tcall_changes_(const tcall_ctx *cx, uint32_t thing)
{
    const tcall_tool *tool = cx->call->tool;
    return cx->tool_ran &&
           tcall_may_(cx->tc, tool) & ~(unsigned)(TCALL_READ | TCALL_NETWORK) &&
           (cx->thing < 2 || thing < 2 || cx->thing == thing);
}
