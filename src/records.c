#pragma once
#include "records.h"
#include "invoke.c"
#include "mask.c"

/* ==========================================================================
 * >>records
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

/* A text that is hashed. */
typedef struct tcall_hashed_ {
    const tcall *tc;
    tcall_hash_level_ *levels;
    size_t room; /* of levels */
    size_t used; /* most at a time; more than room: they did not do */
    bool source; /* a definition: what is nested deeper, and strings and
                  * numbers, count as they are written */
} tcall_hashed_;

/* Returns the value of a member or element, which is at `at`, and the path to
 * it. */
static const char *tcall_hash_step_(const tcall_hashed_ *hashed,
                                    tcall_hash_level_ *level, const char *at,
                                    uint64_t *path)
{
    tcall_str step = tcall_slice_((const char *)&level->index, 4);
    const char *value = level->object ? tcall_text_value_(at) : at;
    if (level->object)
        step =
            hashed->source ? tcall_text_verbatim_(at) : tcall_text_decode_(at);
    *path = level->path;
    tcall_chain_(hashed->tc, path, step);
    level->index++;
    return value;
}

/* Adds up a hash for each value, chained along the path that leads to it, from
 * `path` on: so the order of members does not matter, and that of elements
 * does. */
static uint64_t tcall_hash_walk_(tcall_hashed_ *hashed, const char *at,
                                 uint64_t path)
{
    tcall_hash_level_ *level = hashed->levels;
    uint64_t sum = 0;
    while (at) {
        size_t depth = (size_t)(level - hashed->levels) + 1;
        bool opens = *at == '{' || *at == '[';
        uint64_t hash = path;
        if (opens && hashed->used < depth)
            hashed->used = depth;
        opens = opens && depth <= hashed->room;
        if (!hashed->source)
            tcall_hash_scalar_(hashed->tc, &hash, tcall_json_of_(at, NULL));
        else
            tcall_chain_(hashed->tc, &hash,
                         opens ? tcall_slice_(at, 1)
                               : tcall_text_verbatim_(at));
        sum += hash;
        if (opens) {
            level->path = path;
            level->index = 0;
            level++->object = *at == '{';
        }
        at = tcall_text_next_(opens ? at + 1 : tcall_text_skip_(at));
        for (; level > hashed->levels && *at && tcall_text_closes_(at); level--)
            at = tcall_text_next_(at + 1);
        at = level > hashed->levels && *at
                 ? tcall_hash_step_(hashed, level - 1, at, &path)
                 : NULL;
    }
    return sum;
}

int tcall_hash_json(tcall *tc, tcall_json value, uint64_t *out)
{
    size_t size;
    char *gap = tcall_hydrate_gap_(&tc->block, 0, &size);
    tcall_hashed_ hashed = {tc, NULL, size / sizeof(tcall_hash_level_), 0,
                            false};
    hashed.levels = (tcall_hash_level_ *)(void *)gap;
    *out = tcall_hash_walk_(&hashed, value.at, 0);
    size = hashed.used * sizeof *hashed.levels + 8;
    if (!hashed.used || tcall_block_room_(&tc->block, size))
        return TCALL_OK;
    *out = 0;
    return TCALL_E_MEMORY;
}

/* ---- definitions ---- */

/* What is nested deeper than this counts as it is written. */
enum { TCALL_HASH_DEPTH_ = 16 };

/* Hashes JSON text: white space and the order of members do not matter. */
static uint64_t tcall_hash_source_(const tcall *tc, const char *text)
{
    tcall_hash_level_ levels[TCALL_HASH_DEPTH_];
    tcall_hashed_ hashed = {tc, NULL, TCALL_HASH_DEPTH_, 0, true};
    hashed.levels = levels;
    return tcall_hash_walk_(&hashed, text ? tcall_text_space_(text) : NULL, 2);
}

/* A hash in the making, and the sink that makes it. */
typedef struct tcall_hashing_ {
    const tcall *tc;
    uint64_t hash;
} tcall_hashing_;

static int tcall_hash_on_(void *user, const char *bytes, size_t len)
{
    tcall_hashing_ *hashing = (tcall_hashing_ *)user;
    tcall_chain_(hashing->tc, &hashing->hash, tcall_slice_(bytes, len));
    return (int)len;
}

/* Goes on with all that a shape says: the schema that is written from it. */
TCALL_NOINLINE_ static void tcall_hash_shape_(const tcall *tc, uint64_t *hash,
                                              const tcall_object *shape)
{
    char piece[64];
    tcall_writer writer;
    tcall_hashing_ hashing = {tc, 0};
    hashing.hash = *hash;
    tcall_writer_init(&writer, piece, sizeof piece);
    tcall_writer_sink(&writer, tcall_hash_on_, &hashing);
    tcall_write_shape(&writer, shape);
    tcall_writer_flush(&writer);
    *hash = hashing.hash;
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
    hash += tcall_hash_source_(tc, tool->parameters.text);
    hash += 3 * tcall_hash_source_(tc, tool->output.text);
    return hash + 5 * tcall_hash_source_(tc, tool->provider_schema.text);
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

/* ---- what is written of a call ---- */

/* Writes which call it is: its id and, where an agent made it, its place. */
static void tcall_write_identity_(tcall_writer *out, const tcall_call *call)
{
    static const char names[][9] = {"turn", "round", "position"};
    const uint32_t place[] = {call->turn_id, call->round, call->position};
    size_t i;
    tcall_write_pair_(out, "call_id", call->id);
    for (i = 0; i < TCALL_ARRAY_LEN(place) && call->turn_id; i++)
        tcall_write_count_(out, names[i], place[i]);
}

/* ---- where the arguments came from ---- */

/* Writes which definition the tool had: two that say the same have one hash. */
static void tcall_write_hash_(tcall_writer *out, uint64_t hash)
{
    int shift;
    tcall_write_key(out, "definition");
    tcall_write_quote(out);
    for (shift = 60; shift >= 0; shift -= 4)
        tcall_write_char_(out, tcall_write_hex_((int)(hash >> shift & 15)));
    tcall_write_unquote(out);
}

/* Writes the names of what lenient parsing has set right. */
static void tcall_write_fixes_(tcall_writer *out, uint32_t fixes)
{
    int i;
    tcall_write_key(out, "fixes");
    tcall_write_open(out, '[');
    for (i = 0; i < TCALL_FIX_COUNT; i++)
        if (fixes >> i & 1)
            tcall_write_string(out, tcall_fix_name(i));
    tcall_write_close(out, ']');
}

/* Writes one attempt at the arguments: what it read, and what was wrong. */
static void tcall_write_attempt_(tcall_writer *out, const tcall_call *attempt,
                                 const char *by)
{
    int error = attempt->validated ? TCALL_OK : attempt->error;
    tcall_write_open(out, '{');
    tcall_write_pair_(out, "by", tcall_str_of(by));
    tcall_write_pair_(out, "arguments", attempt->arguments);
    tcall_write_fixes_(out, attempt->fixes);
    tcall_write_pair_(out, "outcome", tcall_str_of(tcall_error_code(error)));
    if (error < 0)
        tcall_write_call_errors(out, attempt);
    tcall_write_close(out, '}');
}

/* Writes what came and its repair, whichever of them the call is now. */
static void tcall_write_attempts_(tcall_writer *out, const tcall_call *call)
{
    const tcall_call *came = call->repaired ? call->other : call;
    const tcall_call *repair = call->repaired ? call : call->other;
    tcall_write_key(out, "attempts");
    tcall_write_open(out, '[');
    tcall_write_attempt_(out, came, "model");
    tcall_write_attempt_(out, repair, "repair");
    tcall_write_close(out, ']');
}

/* Writes whose arguments hooks replaced: the earliest, which came, are last. */
static void tcall_write_replaced_(tcall_writer *out, const tcall_change *change)
{
    tcall_write_key(out, "replaced");
    tcall_write_open(out, '[');
    for (; change; change = change->before) {
        if (!change->input.at)
            continue;
        tcall_write_open(out, '{');
        tcall_write_pair_(out, "by", tcall_str_of(change->by));
        tcall_write_key(out, "arguments");
        tcall_write_json(out, change->input);
        tcall_write_close(out, '}');
    }
    tcall_write_close(out, ']');
}

/* Writes who checked the arguments, and whether its schema was compiled at the
 * start or for this call. */
static void tcall_write_validator_(const tcall *tc, const tcall_tool *tool,
                                   tcall_writer *out)
{
    const tcall_validator *validator = tc->desc.validator;
    bool eager = tcall_is_compiled_(tc, tool);
    tcall_write_key(out, "validator");
    tcall_write_open(out, '{');
    tcall_write_pair_(out, "name",
                      tcall_str_of(validator ? validator->name : "builtin"));
    tcall_write_pair_(
        out, "version",
        tcall_str_of(validator ? validator->version : TOOLCALL_VERSION));
    tcall_write_pair_(out, "mode",
                      tcall_str_of(validator     ? "foreign"
                                   : tool->shape ? "shape"
                                   : eager       ? "eager"
                                                 : "lazy"));
    tcall_write_close(out, '}');
}

/* Whether arguments were checked, what a tool that checks none may do, and
 * whether what runs is a repair. */
static void tcall_write_validated_(tcall_writer *out, const tcall_call *call)
{
    static const char modes[][15] = {"read-only", "human-approval", "full"};
    const tcall_tool *tool = call->tool;
    tcall_write_flag_(out, "validated", call->validated);
    if (tool && !tcall_is_checked_(tool))
        tcall_write_pair_(out, "no_schema_mode",
                          tcall_str_of(modes[tool->no_schema_mode % 3]));
    tcall_write_flag_(out, "repaired", call->repaired);
}

static void tcall_write_origin_(tcall_writer *out, const tcall *tc,
                                const tcall_call *call)
{
    static const char steps[][9] = {"find", "parse", "validate", "done"};
    const tcall_tool *tool = call->tool;
    tcall_write_open(out, '{');
    tcall_write_pair_(out, "provider", tcall_str_of(call->provider));
    tcall_write_identity_(out, call);
    tcall_write_pair_(out, "tool", call->name);
    if (tool)
        tcall_write_hash_(out, tcall_hash_definition_(tc, tool));
    tcall_write_pair_(out, "arguments",
                      (call->repaired ? call->other : call)->arguments);
    tcall_write_fixes_(out, call->fixes);
    tcall_write_key(out, "coercions");
    tcall_write_verbatim(out, call->coerced.len ? call->coerced
                                                : tcall_str_of("[]"));
    if (tool && tool->provided_by)
        tcall_write_pair_(out, "provided_by", tcall_str_of(tool->provided_by));
    if (call->step >= TCALL_STEP_VALIDATE && tcall_is_checked_(tool))
        tcall_write_validator_(tc, tool, out);
    tcall_write_flag_(out, "ran", call->cx.result.ran);
    tcall_write_count_(out, "ms", call->hydrate_ms);
    tcall_write_validated_(out, call);
    if (call->validated && call->args.at) {
        tcall_write_key(out, "value");
        tcall_write_json(out, call->args);
    }
    if (call->repaired)
        tcall_write_pair_(out, "repaired_arguments", call->arguments);
    if (call->other)
        tcall_write_attempts_(out, call);
    if (call->cx.history)
        tcall_write_replaced_(out, call->cx.history);
    tcall_write_pair_(out, "step",
                      tcall_str_of(steps[call->step % TCALL_ARRAY_LEN(steps)]));
    tcall_write_pair_(out, "outcome",
                      tcall_str_of(tcall_error_code(call->error)));
    if (call->error < 0)
        tcall_write_call_errors(out, call);
    tcall_write_close(out, '}');
}

/* A writer through a filter to a sink, which has to take all that it is given.
 * Neither must move. */
typedef struct tcall_masked_ {
    tcall_mask mask;
    char buf[64];
} tcall_masked_;

static void tcall_masked_begin_(tcall_masked_ *masked, tcall_writer *writer,
                                const char *secret, tcall_sink sink, void *user)
{
    memset(&masked->mask, 0, sizeof masked->mask);
    masked->mask.secret = secret;
    masked->mask.sink = sink;
    masked->mask.user = user;
    tcall_writer_init(writer, masked->buf, sizeof masked->buf);
    tcall_writer_sink(writer, tcall_mask_put, &masked->mask);
}

static int tcall_masked_end_(tcall_masked_ *masked, tcall_writer *writer)
{
    int result = tcall_writer_flush(writer);
    return result < 0 ? result : tcall_mask_end(&masked->mask);
}

/* Writes the line of an audit through a small buffer, so that its length does
 * not matter. */
TCALL_SHARED_ int tcall_write_audit_(tcall_ctx *cx, tcall_sink sink, void *user)
{
    const tcall_call *call = cx->call;
    tcall_masked_ masked;
    tcall_writer out;
    tcall_masked_begin_(&masked, &out, cx->tc->key, sink, user);
    tcall_write_open(&out, '{');
    tcall_write_identity_(&out, call);
    tcall_write_pair_(&out, "tool", call->name);
    if (cx->session) {
        tcall_write_pair_(&out, "session", cx->session->id);
        tcall_write_pair_(&out, "request", cx->session->request);
        tcall_write_pair_(&out, "agent", cx->session->agent);
        tcall_write_pair_(&out, "user", cx->session->user);
    }
    tcall_write_key(&out, "arguments");
    if (call->args.at)
        tcall_write_json(&out, call->args);
    else
        tcall_write_str(&out, call->arguments);
    tcall_write_validated_(&out, call);
    tcall_write_count_(&out, "attempts", cx->attempt);
    tcall_write_flag_(&out, "ran", cx->result.ran);
    tcall_write_count_(&out, "ms", tcall_now_(cx->tc) - cx->started);
    tcall_write_flag_(&out, "approved", call->approved);
    tcall_write_pair_(&out, "outcome",
                      tcall_str_of(tcall_error_code(cx->failure.error)));
    if (cx->failure.reason.len)
        tcall_write_pair_(&out, "reason", cx->failure.reason);
    tcall_write_text(&out, "}\n");
    return tcall_masked_end_(&masked, &out);
}

/* A sink whose user is a writer, which keeps its own error and counts on. */
static int tcall_write_on_(void *writer, const char *bytes, size_t len)
{
    tcall_write_bytes((tcall_writer *)writer, bytes, len);
    return (int)len;
}

int tcall_write_provenance(tcall_writer *out, const tcall *tc,
                           const tcall_call *call)
{
    tcall_masked_ masked;
    tcall_writer writer;
    tcall_write_verbatim(out, tcall_str_of("")); /* a comma, where one is due */
    tcall_masked_begin_(&masked, &writer, tc->key, tcall_write_on_, out);
    tcall_write_origin_(&writer, tc, call);
    tcall_masked_end_(&masked, &writer);
    return out->error;
}
