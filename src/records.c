#pragma once
#include "records.h"
#include "call.c"
#include "text.c"

/* ==========================================================================
 * >>records
 *
 * A mask takes the text as characters, each with the backslashes before it.
 * What may be the start of the secret is held until TCALL_SECRET_MIN characters
 * agree; then "***" goes out, and from there on nothing has to be held. After a
 * character that does not agree, the longest end of what was matched that is a
 * start of the secret too goes on (Knuth, Morris and Pratt).
 */

static void tcall_mask_pass_(tcall_mask *mask, const char *bytes, size_t len)
{
    int result;
    if (!len || mask->error < 0)
        return;
    result = mask->sink(mask->user, bytes, len);
    if (result < 0)
        mask->error = result;
    else if ((size_t)result < len)
        mask->error = TCALL_E_LIMIT;
}

/* Lets go of the first characters that are held. */
static void tcall_mask_drop_(tcall_mask *mask, uint8_t count, bool pass)
{
    uint8_t bytes = 0, i;
    for (i = 0; i < count; i++)
        bytes = (uint8_t)(bytes + mask->lengths[i]);
    if (pass)
        tcall_mask_pass_(mask, mask->bytes, bytes);
    mask->count = (uint8_t)(mask->count - count);
    mask->held = (uint8_t)(mask->held - bytes);
    memmove(mask->bytes, mask->bytes + bytes, mask->held);
    memmove(mask->lengths, mask->lengths + count, mask->count);
}

/* How much of the secret the text shows after one more character; '\0' is none
 * that a secret can have. */
static size_t tcall_mask_match_(const tcall_mask *mask, char character)
{
    const char *secret = mask->secret;
    size_t matched = mask->matched, most;
    while (matched && (!character || secret[matched] != character))
        for (most = matched--;
             matched && memcmp(secret, secret + most - matched, matched) != 0;)
            matched--;
    return matched + (character && secret[matched] == character);
}

/* The last `len` bytes that are held are a character. */
static void tcall_mask_take_(tcall_mask *mask, char character, uint8_t len)
{
    mask->begun = 0;
    mask->lengths[mask->count++] = len;
    mask->matched = tcall_mask_match_(mask, character);
    if (mask->matched >= TCALL_SECRET_MIN) {
        if (!mask->masked)
            tcall_mask_pass_(mask, "***", 3);
        mask->masked = true;
        tcall_mask_drop_(mask, mask->count, false);
    } else if (mask->count > mask->matched) {
        tcall_mask_drop_(mask, (uint8_t)(mask->count - mask->matched), true);
        mask->masked = false;
    }
}

/* The character that four hexadecimal digits say; '\0' where it is no ASCII. */
static char tcall_mask_hex_(const char *digits)
{
    unsigned value = 0;
    int i;
    for (i = 0; i < 4; i++)
        value = value * 16 + (unsigned)tcall_hex_(digits[i]);
    return value < 0x80 ? (char)value : '\0';
}

static void tcall_mask_byte_(tcall_mask *mask, char byte)
{
    const char *unit;
    uint8_t slashes = 0, len;
    mask->bytes[mask->held++] = byte;
    len = ++mask->begun;
    unit = mask->bytes + mask->held - len;
    while (slashes < len && unit[slashes] == '\\')
        slashes++;
    if (slashes == len) {
        if (len == TCALL_MASK_SLASHES_)
            tcall_mask_take_(mask, '\0', len);
    } else if (!slashes || unit[slashes] != 'u') {
        tcall_mask_take_(mask, byte, len);
    } else if (len > slashes + 1 && tcall_hex_(byte) < 0) {
        /* no escape: a u, and what follows it once more */
        uint8_t rest = (uint8_t)(len - slashes - 1), i;
        char again[4];
        memcpy(again, unit + slashes + 1, rest);
        mask->held = (uint8_t)(mask->held - rest);
        tcall_mask_take_(mask, 'u', (uint8_t)(slashes + 1));
        for (i = 0; i < rest; i++)
            tcall_mask_byte_(mask, again[i]);
    } else if (len == slashes + 5) {
        tcall_mask_take_(mask, tcall_mask_hex_(unit + slashes + 1), len);
    }
}

/* How many bytes cannot be the start of the secret. */
static size_t tcall_mask_plain_(const tcall_mask *mask, const char *bytes,
                                size_t len)
{
    size_t i;
    for (i = 0; i < len; i++)
        if (bytes[i] == '\\' || bytes[i] == *mask->secret)
            break;
    return i;
}

TCALL_API int tcall_mask_put(void *user, const char *bytes, size_t len)
{
    tcall_mask *mask = (tcall_mask *)user;
    size_t done = 0;
    if (!mask->secret || strlen(mask->secret) < TCALL_SECRET_MIN) {
        tcall_mask_pass_(mask, bytes, len);
        done = len;
    }
    while (done < len) {
        if (!mask->held && !mask->matched) {
            size_t plain = tcall_mask_plain_(mask, bytes + done, len - done);
            tcall_mask_pass_(mask, bytes + done, plain);
            mask->masked = mask->masked && !plain;
            done += plain;
        }
        if (done < len)
            tcall_mask_byte_(mask, bytes[done++]);
    }
    return mask->error < 0 ? mask->error : (int)len;
}

TCALL_API int tcall_mask_end(tcall_mask *mask)
{
    tcall_mask_pass_(mask, mask->bytes, mask->held);
    mask->matched = 0;
    mask->masked = false;
    mask->count = mask->held = mask->begun = 0;
    return mask->error < 0 ? mask->error : TCALL_OK;
}

static int tcall_mask_back_(void *user, const char *bytes, size_t len)
{
    char **to = (char **)user;
    memmove(*to, bytes, len);
    *to += len;
    return (int)len;
}

/* Masks a secret in a text, in its place, where it becomes no longer. Returns
 * how long it is then. */
TCALL_SHARED_ size_t tcall_mask_text_(char *text, size_t len,
                                      const char *secret)
{
    char *to = text;
    tcall_mask mask;
    memset(&mask, 0, sizeof mask);
    mask.secret = secret;
    mask.sink = tcall_mask_back_;
    mask.user = &to;
    tcall_mask_put(&mask, text, len);
    tcall_mask_end(&mask);
    return (size_t)(to - text);
}

/* ---- hashes ---- */

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

/* Of a number its sign counts, the place of its first digit and its digits: 5,
 * 5.0 and 0.5e1 are the same. */
static void tcall_hash_number_(const tcall *tc, uint64_t *hash, tcall_str text)
{
    tcall_num_ number = tcall_num_read_(text);
    int left = number.sign ? tcall_num_digits_(&number) : 0;
    int32_t word[3] = {number.sign, number.sign ? number.top : 0, 0};
    for (; left; left--) {
        word[2] = word[2] * 10 + tcall_num_digit_(&number, &number.first);
        if (left % 8 == 1) {
            tcall_chain_(tc, hash,
                         tcall_slice_((const char *)word, sizeof word));
            word[2] = 0;
        }
    }
    tcall_chain_(tc, hash, tcall_slice_((const char *)word, sizeof word));
}

/* What is nested deeper than this counts as it is written. */
enum { TCALL_HASH_DEPTH_ = 16 };

/* A container on the way down. */
typedef struct tcall_hash_level_ {
    uint64_t path;
    uint32_t index;
    bool object;
} tcall_hash_level_;

/* Returns a string or name: of a schema, which lies in flash, as it is written;
 * of arguments, which getters may have decoded, as it is meant. */
static tcall_str tcall_hash_string_(const char *at, bool source)
{
    return source ? tcall_text_verbatim_(at) : tcall_text_decode_(at);
}

/* Hashes a value, of a container its bracket. */
static void tcall_hash_part_(const tcall *tc, uint64_t *hash, const char *at,
                             bool opens, bool source)
{
    tcall_type type = tcall_text_type_(at);
    tcall_str text = opens ? tcall_slice_(at, 1) : tcall_text_verbatim_(at);
    tcall_chain_(tc, hash, tcall_slice_((const char *)&type, sizeof type));
    if (type == TCALL_NUMBER)
        tcall_hash_number_(tc, hash, text);
    else
        tcall_chain_(tc, hash,
                     type == TCALL_STRING ? tcall_hash_string_(at, source)
                                          : text);
}

/* Adds up a hash for each value, chained along the path that leads to it, from
 * `path` on: so the order of members does not matter, and that of elements
 * does. */
static uint64_t tcall_hash_walk_(const tcall *tc, const char *at, uint64_t path,
                                 bool source)
{
    tcall_hash_level_ levels[TCALL_HASH_DEPTH_], *level = levels;
    uint64_t sum = 0, hash;
    while (at && *at) {
        bool opens =
            (*at == '{' || *at == '[') && level < levels + TCALL_HASH_DEPTH_;
        hash = path;
        tcall_hash_part_(tc, &hash, at, opens, source);
        sum += hash;
        if (opens) {
            level->path = path;
            level->index = 0;
            level++->object = *at == '{';
        }
        at = tcall_text_next_(opens ? at + 1 : tcall_text_skip_(at));
        for (; level > levels && *at && tcall_text_closes_(at); level--)
            at = tcall_text_next_(at + 1);
        if (level == levels)
            break;
        path = level[-1].path;
        if (level[-1].object) {
            tcall_chain_(tc, &path, tcall_hash_string_(at, source));
            at = tcall_text_value_(at);
        } else {
            tcall_chain_(tc, &path,
                         tcall_slice_((const char *)&level[-1].index,
                                      sizeof level[-1].index));
        }
        level[-1].index++;
    }
    return sum;
}

uint64_t tcall_hash_json(const tcall *tc, tcall_json value)
{
    return tcall_hash_walk_(tc, value.at, 0, false);
}

/* ---- definitions ---- */

/* Hashes JSON text: white space and the order of members do not matter. */
static uint64_t tcall_hash_source_(const tcall *tc, tcall_schema_text source)
{
    const char *text = source.text ? tcall_text_space_(source.text) : NULL;
    return tcall_hash_walk_(tc, text, 2, true);
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
    const uint8_t flags[] = {tool->permissions,    tool->optional_permissions,
                             tool->no_schema_mode, tool->confirm,
                             tool->idempotent,     tool->looks_first};
    uint64_t hash = 1;
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(texts); i++)
        tcall_chain_(tc, &hash, tcall_str_of(texts[i]));
    if (tcall_tool_shape_(tool))
        tcall_hash_shape_(tc, &hash, tcall_tool_shape_(tool));
    tcall_chain_(tc, &hash, tcall_slice_((const char *)flags, sizeof flags));
    return hash + tcall_hash_source_(tc, tool->parameters) +
           3 * tcall_hash_source_(tc, tool->output) +
           5 * tcall_hash_source_(tc, tool->provider_schema);
}

/* ---- calls ---- */

/* Of the name and the arguments: what the model asked. */
TCALL_SHARED_ uint64_t tcall_hash_asked_(const tcall *tc,
                                         const tcall_call *call)
{
    uint64_t hash = tcall_hash_text_(tc, 5, call->name);
    if (!call->asked->args.at) /* nobody needed values: the text counts */
        return hash + tcall_hash_text_(tc, 6, tcall_asked_text_(call));
    return hash + tcall_hash_json(tc, call->asked->args);
}

uint64_t tcall_call_what(const tcall *tc, const tcall_call *call)
{
    if (!call->tool)
        return 0;
    return tcall_hash_asked_(tc, call) + tcall_hash_definition_(tc, call->tool);
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

/* ---- output ---- */

/* Takes back all that was written since the call began. */
TCALL_SHARED_ void tcall_output_clear_(tcall_ctx *cx)
{
    *cx->out = *cx->out_start;
    cx->wanted = 0;
}

/* Where the output did not fit, keeps whole characters and says so. Returns the
 * writer's error of any other kind, or TCALL_E_MEMORY where not even that fits.
 */
TCALL_SHARED_ int tcall_output_cut_(tcall_ctx *cx)
{
    tcall_writer *out = cx->out, notice;
    size_t start = cx->out_start->fill, size = out->len - cx->out_start->len;
    size_t keep = out->fill - start;
    char text[64];
    if (out->error != TCALL_E_MEMORY)
        return out->error;
    tcall_writer_init(&notice, text, sizeof text);
    tcall_write_text(&notice, "\n[output cut: all of it are ");
    tcall_write_int(&notice, (tcall_int)size);
    tcall_write_text(&notice, " bytes]");
    keep = keep > notice.fill
               ? tcall_utf8_cut_(out->buf + start, keep - notice.fill)
               : 0;
    tcall_output_clear_(cx);
    cx->wanted = size;
    if (out->cap - out->fill < notice.fill)
        return TCALL_E_MEMORY;
    out->len += keep;
    out->fill += keep;
    tcall_write_bytes(out, text, notice.fill);
    return TCALL_OK;
}

/* ---- arguments in a sentence ---- */

/* Bytes of an argument that are shown, and of all arguments together. */
#define TCALL_GLANCE_     32
#define TCALL_GLANCE_ALL_ 160

/* Writes the members of an object as key=value, ..., in passing: a long value
 * is cut, and so is a long list. */
TCALL_NOINLINE_ static void
tcall_write_members_(tcall_writer *out, tcall_json object, bool passing)
{
    size_t most = passing ? TCALL_GLANCE_ALL_ : SIZE_MAX, start = out->len;
    tcall_json member = tcall_json_first(object);
    const char *before = "";
    for (; member.at && out->len - start < most;
         member = tcall_json_next(member)) {
        tcall_str key = tcall_json_key(member);
        tcall_str value = tcall_text_verbatim_(member.at);
        char room[TCALL_GLANCE_];
        tcall_writer glance;
        tcall_writer_init(&glance, room, sizeof room);
        if (passing) { /* getters may have decoded it */
            tcall_write_json(&glance, member);
            value = tcall_slice_(room, glance.len);
        }
        tcall_write_text(out, before);
        if (!passing || key.len < TCALL_GLANCE_)
            tcall_write_bytes(out, key.ptr, key.len);
        tcall_write_text(out, "=");
        if (glance.error)
            value.len = tcall_utf8_cut_(room, sizeof room - 1);
        tcall_write_bytes(out, value.ptr, value.len);
        tcall_write_text(out, glance.error ? "..." : "");
        before = ", ";
    }
    tcall_write_text(out, member.at ? ", ..." : "");
}

/* ---- an example of a call that would do ---- */

/* Longer examples are left out. */
enum { TCALL_EXAMPLE_ = 512 };

/* Makes an example at the end of the block and reads it like arguments that
 * came. Returns whether the call would take it. */
static bool tcall_example_fits_(const tcall_call *call, tcall_attempt *example)
{
    const tcall_tool *tool = call->tool;
    tcall_block *block = &call->cx.tc->block;
    tcall_writer out;
    tcall_hydrate_writer_(block, &out);
    if (out.cap > TCALL_EXAMPLE_)
        out.cap = TCALL_EXAMPLE_;
    tool->parameters.reader->example(&out, tool->parameters);
    return !out.error &&
           tcall_hydrate_keep_(block, out.buf, out.fill, &example->came) ==
               TCALL_OK &&
           tcall_attempt_arguments_(call, example) == TCALL_OK;
}

/* Writes "suggestion":"Example: name(key=value)" with what is required, where
 * an example can be made. */
TCALL_NOINLINE_ static void tcall_write_example_(tcall_writer *out,
                                                 const tcall_call *call)
{
    tcall_block *block = &call->cx.tc->block;
    size_t base = block->high;
    tcall_attempt example;
    memset(&example, 0, sizeof example);
    if (tcall_example_fits_(call, &example)) {
        tcall_write_key(out, "suggestion");
        tcall_write_quote(out);
        tcall_write_text(out, "Example: ");
        tcall_write_text(out, call->tool->name);
        tcall_write_text(out, "(");
        tcall_write_members_(out, example.args, false);
        tcall_write_text(out, ")");
        tcall_write_unquote(out);
    }
    tcall_block_back_(block, base);
}

/* ---- permission ---- */

/* Writes the names of a set of permissions. */
TCALL_NOINLINE_ TCALL_SHARED_ void
tcall_write_permissions_(tcall_writer *out, unsigned set,
                         const char *const *names, const char *separator)
{
    const char *before = "";
    for (; set; set >>= 1, names++)
        if (set & 1) {
            tcall_write_text(out, before);
            tcall_write_text(out, *names);
            before = separator;
        }
    tcall_write_text(out, *before ? "" : "nothing");
}

/* Writes why the tool is not permitted. */
TCALL_SHARED_ void tcall_write_denial_(tcall_writer *out, const tcall_ctx *cx)
{
    static const char *const names[] = {"read", "write", "execute", "network",
                                        "actuate"};
    const tcall_tool *tool = cx->call->tool;
    unsigned allow = cx->tc->desc.allow, missing = tcall_needs_(tool) & ~allow;
    if (tool->permissions > TCALL_EVERYTHING) {
        tcall_write_text(out, "this tool was removed");
    } else if (!missing) {
        tcall_write_text(out, "is not for this user: ");
        tcall_write_text(out, tcall_withheld_(cx->tc, tool));
    } else {
        tcall_write_text(out, "needs ");
        if (tool->permissions)
            tcall_write_permissions_(out, tool->permissions, names, " and ");
        else
            tcall_write_text(out, "everything, as it declares no permissions");
        tcall_write_text(out, "; the registry allows ");
        tcall_write_permissions_(out, allow & TCALL_EVERYTHING, names, " and ");
    }
}

/* ---- failures ---- */

/* True when a second run for the same call has no second effect. */
TCALL_SHARED_ bool tcall_repeatable_(const tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    return tool->idempotent ||
           (tcall_may_(cx->tc, tool) & ~(unsigned)TCALL_NETWORK) == TCALL_READ;
}

/* Writes which tools there are, so that the model can choose again. */
static void tcall_write_available_(tcall_writer *out, const tcall_call *call)
{
    const tcall *tc = call->cx.tc;
    size_t i;
    tcall_write_nest_(out, "available", '[');
    for (i = 0; i < tc->desc.tool_count; i++)
        if (tcall_is_offered_(tc, &tc->desc.tools[i], call->by_model))
            tcall_write_string(out, tc->desc.tools[i].name);
    tcall_write_close(out, ']');
}

/* Writes what the schema or shape says of the arguments, into a string. */
TCALL_NOINLINE_ static void tcall_say_refused_(tcall_writer *out,
                                               const tcall_call *call)
{
    size_t i;
    tcall_write_text(out, call->tool->name);
    for (i = 0; i < call->asked->faults; i++) {
        tcall_write_text(out, i ? ". " : ": ");
        tcall_say_fault_(out, call->tool->parameters.reader->say,
                         call->asked->args.at, &call->asked->fault[i], true);
    }
}

/* True where the faults of the arguments say what was wrong. */
static bool tcall_was_refused_(const tcall_ctx *cx)
{
    return cx->failure.error == TCALL_E_INVALID && cx->call->asked->faults &&
           !cx->failure.reason.len;
}

/* Writes what has become of a tool that does more than read, into a string: the
 * model would make the call again. One that failed has said why. */
static void tcall_say_ran_(tcall_writer *out, const tcall_ctx *cx)
{
    if (cx->tool_did)
        tcall_write_text(out, ". The tool has run: do not repeat the call");
    else if (cx->stop < 0)
        tcall_write_text(out, ". The tool had begun: look whether it had its "
                              "effect before you repeat the call");
}

/* Writes what was called, who failed and why, into a string. */
TCALL_NOINLINE_ static void tcall_say_reason_(tcall_writer *out,
                                              const tcall_ctx *cx)
{
    const tcall_failure *failure = &cx->failure;
    const tcall_call *call = cx->call;
    if (call->tool && call->asked->args.at) {
        tcall_write_text(out, call->tool->name);
        tcall_write_text(out, "(");
        tcall_write_members_(out, call->asked->args, true);
        tcall_write_text(out, "): ");
    }
    if (failure->by) {
        tcall_write_text(out, failure->by);
        tcall_write_text(out, ": ");
    }
    if (failure->reason.len)
        tcall_write_bytes(out, failure->reason.ptr, failure->reason.len);
    else
        tcall_write_text(out, tcall_meaning_(cx->tc, failure->error));
}

/* Writes what the model can do about the failure. */
static void tcall_write_help_(tcall_writer *out, const tcall_ctx *cx)
{
    const tcall_failure *failure = &cx->failure;
    const tcall_call *call = cx->call;
    if (cx->result.suggestion)
        tcall_write_word_(out, "suggestion", cx->result.suggestion);
    else if (failure->error == TCALL_E_INVALID && call->tool &&
             tcall_is_checked_(call->tool))
        tcall_write_example_(out, call);
    if (failure->retry_ms)
        tcall_write_count_(out, "retry_after_ms", failure->retry_ms);
    if (failure->error == TCALL_E_UNKNOWN)
        tcall_write_available_(out, cx->call);
    else
        tcall_write_call_errors(out, call);
}

/* How much of a failure is told: what has no room is left out as a whole, so
 * that the result is JSON in any room. */
enum { TCALL_TELL_ALL_, TCALL_TELL_WHY_, TCALL_TELL_CODE_, TCALL_TELL_LEAST_ };

static void tcall_write_failure_at_(tcall_ctx *cx, int brevity)
{
    const tcall_failure *failure = &cx->failure;
    tcall_writer *out = cx->out;
    bool ran = cx->result.ran && !tcall_repeatable_(cx);
    tcall_output_clear_(cx);
    tcall_write_open(out, '{');
    tcall_write_flag_(out, "success", false);
    if (brevity <= TCALL_TELL_WHY_) {
        tcall_write_key(out, "error");
        tcall_write_quote(out);
        if (tcall_was_refused_(cx))
            tcall_say_refused_(out, cx->call);
        else
            tcall_say_reason_(out, cx);
        if (ran)
            tcall_say_ran_(out, cx);
        tcall_write_unquote(out);
        tcall_write_word_(out, "error_type", tcall_error_type(failure->error));
    }
    if (brevity <= TCALL_TELL_CODE_) /* a hook may have given its own */
        tcall_write_word_(out, "code",
                          failure->code ? failure->code
                                        : tcall_error_code(failure->error));
    if (ran && brevity <= TCALL_TELL_CODE_)
        tcall_write_flag_(out, "ran", true);
    if (brevity == TCALL_TELL_ALL_)
        tcall_write_help_(out, cx);
    tcall_write_close(out, '}');
}

/* Writes the result of a call that failed, instead of the output. */
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_write_failure_(tcall_ctx *cx)
{
    size_t wanted = cx->failure.error == TCALL_E_MEMORY ? cx->wanted : 0;
    int brevity = TCALL_TELL_ALL_;
    tcall_write_failure_at_(cx, brevity);
    if (cx->out->error)
        wanted = cx->out->len - cx->out_start->len;
    while (cx->out->error && brevity++ < TCALL_TELL_LEAST_)
        tcall_write_failure_at_(cx, brevity);
    if (cx->out->error)
        tcall_output_clear_(cx);
    cx->wanted = wanted;
}

/* ---- what is written for logs ---- */

/* A writer through a mask to a sink, which has to take all that it is given.
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
    tcall_write_open(writer, '{');
}

static int tcall_masked_end_(tcall_masked_ *masked, tcall_writer *writer)
{
    int result = tcall_writer_flush(writer);
    return result < 0 ? result : tcall_mask_end(&masked->mask);
}

/* Writes which call it is: its id and, where an agent made it, its place. */
static void tcall_write_identity_(tcall_writer *out, const tcall_call *call)
{
    tcall_write_pair_(out, "call_id", call->id);
    if (call->turn_id) {
        tcall_write_count_(out, "turn", call->turn_id);
        tcall_write_count_(out, "round", call->round);
        tcall_write_count_(out, "position", call->position);
    }
    tcall_write_pair_(out, "tool", call->name);
}

/* Writes which definition the tool had: two that say the same have one hash. */
static void tcall_write_hash_(tcall_writer *out, uint64_t hash)
{
    int shift;
    tcall_write_key(out, "definition");
    tcall_write_quote(out);
    for (shift = 60; shift >= 0; shift -= 4)
        tcall_write_char_(out, tcall_hex_digit_((int)(hash >> shift & 15)));
    tcall_write_unquote(out);
}

static void tcall_write_outcome_(tcall_writer *out, int error)
{
    tcall_write_word_(out, "outcome", tcall_error_code(error));
}

/* Writes the names of what lenient parsing has set right. */
static void tcall_write_fixes_(tcall_writer *out, uint32_t fixes)
{
    int i;
    tcall_write_nest_(out, "fixes", '[');
    for (i = 0; i < TCALL_FIX_COUNT; i++)
        if (fixes >> i & 1)
            tcall_write_string(out, tcall_fix_name(i));
    tcall_write_close(out, ']');
}

/* Writes one attempt at the arguments: what it read, and what was wrong. */
static void tcall_write_attempt_(tcall_writer *out, const tcall_tool *tool,
                                 const tcall_attempt *attempt)
{
    if (!attempt->step) /* it is of an output */
        return;
    tcall_write_open(out, '{');
    tcall_write_word_(out, "by", attempt->by);
    tcall_write_pair_(out, "arguments", attempt->came);
    tcall_write_fixes_(out, attempt->fixes);
    tcall_write_outcome_(out, attempt->error);
    if (attempt->error < 0)
        tcall_write_attempt_errors_(out, tool, attempt);
    tcall_write_close(out, '}');
}

/* Writes all attempts but those with what was injected. */
static void tcall_write_attempts_(tcall_writer *out, const tcall_call *call)
{
    const tcall_attempt *attempt;
    tcall_write_nest_(out, "attempts", '[');
    for (attempt = call->attempts; attempt; attempt = attempt->next)
        tcall_write_attempt_(out, call->tool, attempt);
    tcall_write_close(out, ']');
}

/* Writes who checked the arguments, and whether its schema was compiled at the
 * start or for this call. */
static void tcall_write_validator_(tcall_writer *out, const tcall *tc,
                                   const tcall_tool *tool)
{
    const tcall_validator *foreign = tc->desc.validator;
    const char *mode = tcall_is_compiled_(tc, tool) ? "eager" : "lazy";
    tcall_write_nest_(out, "validator", '{');
    tcall_write_word_(out, "name", foreign ? foreign->name : "builtin");
    tcall_write_word_(out, "version",
                      foreign ? foreign->version : TOOLCALL_VERSION);
    tcall_write_word_(out, "mode",
                      foreign                   ? "foreign"
                      : tcall_tool_shape_(tool) ? "shape"
                                                : mode);
    tcall_write_close(out, '}');
}

/* Whether arguments were checked, what a tool that checks none may do, and
 * whether what runs is a repair. */
static void tcall_write_validated_(tcall_writer *out, const tcall_call *call)
{
    static const char modes[][15] = {"read-only", "human-approval", "full"};
    const tcall_tool *tool = call->tool;
    tcall_write_flag_(out, "validated", call->asked->validated);
    if (tool && !tcall_is_checked_(tool))
        tcall_write_word_(out, "no_schema_mode",
                          modes[tool->no_schema_mode % 3]);
    tcall_write_flag_(out, "repaired", call->repaired);
}

static void tcall_write_origin_(tcall_writer *out, const tcall *tc,
                                const tcall_call *call)
{
    static const char steps[][9] = {"find", "parse", "validate", "done"};
    const tcall_tool *tool = call->tool;
    const tcall_attempt *asked = call->asked;
    tcall_write_word_(out, "provider", call->provider);
    tcall_write_identity_(out, call);
    if (tool)
        tcall_write_hash_(out, tcall_hash_definition_(tc, tool));
    tcall_write_pair_(out, "arguments", call->arguments);
    tcall_write_fixes_(out, asked->fixes);
    tcall_write_key(out, "coercions");
    tcall_write_verbatim(out, asked->coerced.len ? asked->coerced
                                                 : tcall_str_of("[]"));
    if (tool && tool->provided_by)
        tcall_write_word_(out, "provided_by", tool->provided_by);
    if (asked->step >= TCALL_STEP_VALIDATE && tcall_is_checked_(tool))
        tcall_write_validator_(out, tc, tool);
    tcall_write_flag_(out, "ran", call->cx.result.ran);
    tcall_write_count_(out, "ms", call->hydrate_ms);
    tcall_write_validated_(out, call);
    if (asked->validated && asked->args.at) {
        tcall_write_key(out, "value");
        tcall_write_json(out, asked->args);
    }
    if (call->attempts && call->attempts->next)
        tcall_write_attempts_(out, call);
    tcall_write_word_(out, "step", steps[asked->step % TCALL_ARRAY_LEN(steps)]);
    tcall_write_outcome_(out, call->error);
    if (call->error < 0)
        tcall_write_call_errors(out, call);
    tcall_write_close(out, '}');
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

static void tcall_write_session_(tcall_writer *out,
                                 const tcall_session *session)
{
    tcall_write_pair_(out, "session", session->id);
    tcall_write_pair_(out, "request", session->request);
    tcall_write_pair_(out, "agent", session->agent);
    tcall_write_pair_(out, "user", session->user);
}

/* Writes the line of an audit through a small buffer, so that its length does
 * not matter. */
TCALL_SHARED_ int tcall_write_audit_(tcall_ctx *cx, tcall_sink sink, void *user)
{
    const tcall_call *call = cx->call;
    tcall_masked_ masked;
    tcall_writer out;
    tcall_masked_begin_(&masked, &out, cx->tc->key, sink, user);
    tcall_write_identity_(&out, call);
    if (cx->session)
        tcall_write_session_(&out, cx->session);
    tcall_write_key(&out, "arguments");
    if (call->asked->args.at)
        tcall_write_json(&out, call->asked->args);
    else
        tcall_write_str(&out, tcall_asked_text_(call));
    tcall_write_validated_(&out, call);
    tcall_write_count_(&out, "attempts", cx->attempt);
    tcall_write_flag_(&out, "ran", cx->result.ran);
    tcall_write_count_(&out, "ms", tcall_now_(cx->tc) - cx->started);
    tcall_write_flag_(&out, "approved", call->approved);
    tcall_write_outcome_(&out, cx->failure.error);
    if (cx->failure.reason.len)
        tcall_write_pair_(&out, "reason", cx->failure.reason);
    tcall_write_text(&out, "}\n");
    return tcall_masked_end_(&masked, &out);
}
