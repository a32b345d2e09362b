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

static void tcall_mask_begin_(tcall_mask *mask, const char *secret,
                              tcall_sink sink, void *user)
{
    memset(mask, 0, sizeof *mask);
    mask->secret = secret;
    mask->sink = sink;
    mask->user = user;
}

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

/* Reads the character at the front of some bytes, with the backslashes before
 * it. Returns how many bytes it takes, 0: not all of them are there. Gives '\0'
 * for one that no secret has. */
static uint8_t tcall_mask_unit_(const char *bytes, uint8_t len, char *character)
{
    uint8_t plain = 0, end;
    unsigned value = 0;
    while (plain < len && bytes[plain] == '\\')
        plain++;
    *character = '\0';
    if (plain == TCALL_MASK_SLASHES_)
        return plain;
    if (plain == len)
        return 0;
    *character = bytes[plain++];
    if (plain == 1 || *character != 'u')
        return plain;
    for (end = plain; end < plain + 4; end++) {
        if (end == len)
            return 0;
        if (tcall_hex_(bytes[end]) < 0)
            return plain; /* no escape: a u */
        value = value * 16 + (unsigned)tcall_hex_(bytes[end]);
    }
    *character = value < 0x80 ? (char)value : '\0';
    return end;
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

/* Lets go of the first bytes that are held. */
static void tcall_mask_drop_(tcall_mask *mask, uint8_t len)
{
    mask->held = (uint8_t)(mask->held - len);
    mask->whole = (uint8_t)(mask->whole - len);
    memmove(mask->bytes, mask->bytes + len, mask->held);
}

/* The next bytes that are held are a character. */
static void tcall_mask_take_(tcall_mask *mask, char character, uint8_t len)
{
    mask->whole = (uint8_t)(mask->whole + len);
    mask->count++;
    mask->matched = tcall_mask_match_(mask, character);
    if (mask->matched >= TCALL_SECRET_MIN) {
        if (!mask->masked)
            tcall_mask_pass_(mask, "***", 3);
        mask->masked = true;
        mask->count = 0;
        tcall_mask_drop_(mask, mask->whole);
    }
    for (; mask->count > mask->matched; mask->count--) {
        len = tcall_mask_unit_(mask->bytes, mask->whole, &character);
        tcall_mask_pass_(mask, mask->bytes, len);
        tcall_mask_drop_(mask, len);
        mask->masked = false;
    }
}

/* How many bytes cannot be the start of the secret. */
static size_t tcall_mask_plain_(const tcall_mask *mask, const char *bytes,
                                size_t len)
{
    size_t i;
    if (!mask->secret || strlen(mask->secret) < TCALL_SECRET_MIN)
        return len;
    for (i = 0; i < len; i++)
        if (bytes[i] == '\\' || bytes[i] == *mask->secret)
            break;
    return i;
}

TCALL_API int tcall_mask_put(void *user, const char *bytes, size_t len)
{
    tcall_mask *mask = (tcall_mask *)user;
    size_t done = 0;
    while (done < len) {
        char character;
        uint8_t unit;
        if (!mask->held && !mask->matched) {
            size_t plain = tcall_mask_plain_(mask, bytes + done, len - done);
            tcall_mask_pass_(mask, bytes + done, plain);
            mask->masked = mask->masked && !plain;
            done += plain;
        }
        if (done < len)
            mask->bytes[mask->held++] = bytes[done++];
        while ((unit = tcall_mask_unit_(mask->bytes + mask->whole,
                                        (uint8_t)(mask->held - mask->whole),
                                        &character)) != 0)
            tcall_mask_take_(mask, character, unit);
    }
    return mask->error < 0 ? mask->error : (int)len;
}

TCALL_API int tcall_mask_end(tcall_mask *mask)
{
    tcall_mask_pass_(mask, mask->bytes, mask->held);
    mask->matched = 0;
    mask->masked = false;
    mask->count = mask->whole = mask->held = 0;
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
    tcall_mask_begin_(&mask, secret, tcall_mask_back_, &to);
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

/* Returns the next hash of a chain, of the last one and more bytes. It begins
 * with a number of its use, so that equal texts of different uses differ. */
TCALL_SHARED_ uint64_t tcall_chain_(const tcall *tc, uint64_t hash,
                                    tcall_str bytes)
{
    const uint64_t *secret = tc->desc.hash_key;
    uint64_t key[2];
    key[0] = hash ^ (secret ? secret[0] : 0);
    key[1] = secret ? secret[1] : 0;
    return tcall_hash(key, bytes);
}

/* A hash in the making: that of what is written. */
typedef struct tcall_hashing_ {
    const tcall *tc;
    uint64_t hash;
    tcall_writer out;
    char buf[24];
} tcall_hashing_;

static int tcall_hashing_on_(void *user, const char *bytes, size_t len)
{
    tcall_hashing_ *hashing = (tcall_hashing_ *)user;
    hashing->hash =
        tcall_chain_(hashing->tc, hashing->hash, tcall_slice_(bytes, len));
    return (int)len;
}

static tcall_writer *tcall_hashing_begin_(tcall_hashing_ *hashing,
                                          const tcall *tc, uint64_t use)
{
    hashing->tc = tc;
    hashing->hash = use;
    tcall_writer_init(&hashing->out, hashing->buf, sizeof hashing->buf);
    tcall_writer_sink(&hashing->out, tcall_hashing_on_, hashing);
    return &hashing->out;
}

static uint64_t tcall_hashing_end_(tcall_hashing_ *hashing)
{
    tcall_writer_flush(&hashing->out);
    return hashing->hash;
}

/* ---- values ---- */

/* Writes a number in the form that all of its spellings share: its digits and
 * the place of the first. 5, 5.0 and 0.5e1 are the same. */
static void tcall_write_canonical_(tcall_writer *out, tcall_str text)
{
    tcall_num_ number = tcall_num_read_(text);
    int left = number.sign ? tcall_num_digits_(&number) : 0;
    tcall_write_char_(out, number.sign < 0 ? '-' : '+');
    for (; left; left--)
        tcall_write_char_(
            out, (char)('0' + tcall_num_digit_(&number, &number.first)));
    tcall_write_bytes(out, (const char *)&number.top,
                      number.sign ? sizeof number.top : 0);
}

/* Returns the hash of a value behind those of the path that leads to it; of a
 * container that of its bracket. Getters may have decoded strings. */
static uint64_t tcall_hash_part_(const tcall *tc, uint64_t path, const char *at,
                                 bool opens)
{
    tcall_hashing_ hashing;
    tcall_writer *out = tcall_hashing_begin_(&hashing, tc, path);
    if (opens)
        tcall_write_char_(out, *at);
    else if (tcall_text_type_(at) == TCALL_NUMBER)
        tcall_write_canonical_(out, tcall_text_verbatim_(at));
    else
        tcall_write_json(out, tcall_json_of_(at, NULL));
    return tcall_hashing_end_(&hashing);
}

/* What is nested deeper than this counts as it is written. */
enum { TCALL_HASH_DEPTH_ = 16 };

/* Adds up a hash for each value, chained along the path that leads to it, from
 * `path` on: so the order of members does not matter, and that of elements
 * does. White space does not either. */
static uint64_t tcall_hash_walk_(const tcall *tc, const char *at, uint64_t path)
{
    uint64_t paths[TCALL_HASH_DEPTH_]; /* each of an object, or an element */
    uint64_t sum = 0;
    size_t depth = 0;
    at = at ? tcall_text_space_(at) : "";
    while (*at) {
        bool opens = (*at == '{' || *at == '[') && depth < TCALL_HASH_DEPTH_;
        uint64_t hash = tcall_hash_part_(tc, path, at, opens);
        sum += hash;
        if (opens)
            paths[depth++] = hash;
        at = tcall_text_next_(opens ? at + 1 : tcall_text_skip_(at));
        for (; depth && *at && tcall_text_closes_(at); depth--)
            at = tcall_text_next_(at + 1);
        if (!depth)
            break;
        if (tcall_text_is_key_(at)) {
            path = tcall_hash_part_(tc, paths[depth - 1], at, false);
            at = tcall_text_value_(at);
        } else { /* behind the element before it */
            path = tcall_chain_(tc, paths[depth - 1], tcall_slice_(",", 1));
            paths[depth - 1] = path;
        }
    }
    return sum;
}

/* ---- definitions ---- */

/* Adds bytes that lie in flash to a hash. */
static void tcall_hash_flash_(tcall_writer *out, const void *from, size_t size)
{
    const char *at = (const char *)from;
    for (; size; size--, at++)
        tcall_write_char_(out, TCALL_BYTE_(at));
}

/* Adds the first texts of a list. */
static void tcall_hash_words_(tcall_writer *out, const char *words, int count)
{
    tcall_hash_flash_(out, words,
                      (size_t)(tcall_word_at_(words, count) - words));
}

static void tcall_hash_object_(tcall_writer *out, const tcall_object *from,
                               int depth);

/* Adds a value of a shape: its bounds and its place as they lie there, as their
 * schema would take much more stack to write, then what they point at. depth:
 * of the object or list that it is in; the outermost has 1. */
static void tcall_hash_shape_(tcall_writer *out, const tcall_shape *from,
                              int depth)
{
    TCALL_FETCH_(tcall_shape, shape, from);
    bool deeper = depth < TOOLCALL_SHAPE_LEVELS;
    tcall_write_bytes(out, (const char *)shape, offsetof(tcall_shape, more));
    if (shape->kind == TCALL_KIND_CHOICE)
        tcall_hash_words_(out, (const char *)shape->more, shape->high + 1);
    else if (shape->kind == TCALL_KIND_INTEGER64 ||
             shape->kind == TCALL_KIND_NUMBER)
        tcall_hash_flash_(out, shape->more, offsetof(tcall_range, store));
    else if (shape->kind == TCALL_KIND_LIST && deeper)
        tcall_hash_shape_(out, (const tcall_shape *)shape->more, depth + 1);
    else if (shape->kind == TCALL_KIND_OBJECT && deeper)
        tcall_hash_object_(out, (const tcall_object *)shape->more, depth + 1);
}

/* Adds an object: its names, what they are for, its defaults and members. */
static void tcall_hash_object_(tcall_writer *out, const tcall_object *from,
                               int depth)
{
    TCALL_FETCH_(tcall_object, object, from);
    int i;
    tcall_write_char_(out, object->open ? '+' : '.');
    tcall_hash_words_(out, object->names, object->count);
    tcall_hash_words_(out, object->descriptions, object->count);
    tcall_hash_flash_(out, object->initial, object->size);
    for (i = 0; i < object->count; i++)
        tcall_hash_shape_(out, object->members + i, depth);
}

/* Of all that says what a tool is and may do, but for schema text. */
TCALL_NOINLINE_ static uint64_t tcall_hash_traits_(const tcall *tc,
                                                   const tcall_tool *tool)
{
    const uint8_t flags[] = {tool->permissions,    tool->optional_permissions,
                             tool->no_schema_mode, tool->confirm,
                             tool->idempotent,     tool->looks_first};
    tcall_hashing_ hashing;
    tcall_writer *out = tcall_hashing_begin_(&hashing, tc, 1);
    tcall_write_bytes(out, (const char *)flags, sizeof flags);
    tcall_write_string(out, tool->name);
    tcall_write_string(out, tool->description);
    tcall_write_string(out, tool->provided_by);
    if (tcall_tool_shape_(tool))
        tcall_hash_object_(out, tcall_tool_shape_(tool), 1);
    return tcall_hashing_end_(&hashing);
}

static uint64_t tcall_hash_definition_(const tcall *tc, const tcall_tool *tool)
{
    return tcall_hash_traits_(tc, tool) +
           tcall_hash_walk_(tc, tool->parameters.text, 2) +
           3 * tcall_hash_walk_(tc, tool->output.text, 2) +
           5 * tcall_hash_walk_(tc, tool->provider_schema.text, 2);
}

/* ---- calls ---- */

/* Of the name and the arguments: what the model asked. */
TCALL_SHARED_ uint64_t tcall_hash_asked_(const tcall *tc,
                                         const tcall_call *call)
{
    uint64_t hash = tcall_chain_(tc, 5, call->name);
    if (!call->asked->args.at) /* nobody needed values: the text counts */
        return hash + tcall_chain_(tc, 6, tcall_asked_text_(call));
    return hash + tcall_hash_walk_(tc, call->asked->args.at, 0);
}

uint64_t tcall_call_what(const tcall *tc, const tcall_call *call)
{
    return call->tool ? tcall_hash_asked_(tc, call) +
                            tcall_hash_definition_(tc, call->tool)
                      : 0;
}

uint64_t tcall_call_key(const tcall *tc, const tcall_call *call)
{
    uint64_t key = 4;
    for (; call; call = call->turn ? call->turn->parent : NULL) {
        const tcall_session *session =
            call->session ? call->session : tc->desc.session;
        const uint32_t place[] = {call->turn_id, call->round, call->position};
        key = tcall_chain_(tc, key, call->id);
        key = tcall_chain_(tc, key,
                           tcall_slice_((const char *)place, sizeof place));
        if (!session)
            continue;
        key = tcall_chain_(tc, key, session->id);
        key = tcall_chain_(tc, key, session->agent);
    }
    return key;
}

void tcall_concerns(tcall_ctx *cx, tcall_str thing)
{
    uint32_t hash = cx->tc ? (uint32_t)tcall_chain_(cx->tc, 7, thing) | 2 : 1;
    cx->thing = !cx->thing || cx->thing == hash ? hash : 1;
}

/* True when the call may have changed what was kept of a thing, or of one that
 * hashes alike. */
TCALL_SHARED_ bool tcall_changes_(const tcall_ctx *cx, uint32_t thing)
{
    const tcall_tool *tool = cx->call->tool;
    return cx->tool &&
           tcall_may_(cx->tc, tool) & ~(unsigned)(TCALL_READ | TCALL_NETWORK) &&
           (cx->thing < 2 || thing < 2 || cx->thing == thing);
}

/* How the last run of the tool ended. */
enum {
    TCALL_TOOL_NOT_,   /* it was not called yet */
    TCALL_TOOL_RAN_,   /* whatever came of it */
    TCALL_TOOL_WAITS_, /* TCALL_E_AGAIN */
    TCALL_TOOL_DID_    /* well, whatever came after it */
};

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
    tcall_writer *out = cx->out;
    size_t start = cx->out_start->fill, size = out->len - cx->out_start->len;
    size_t keep = out->fill - start, left;
    size_t notice = sizeof "\n[output cut: all of it are  bytes]" - 1;
    if (out->error != TCALL_E_MEMORY)
        return out->error;
    for (left = size; left; left /= 10)
        notice++;
    keep = keep > notice ? tcall_utf8_cut_(out->buf + start, keep - notice) : 0;
    tcall_output_clear_(cx);
    cx->wanted = size;
    if (out->cap - out->fill < notice)
        return TCALL_E_MEMORY;
    out->len += keep;
    out->fill += keep;
    tcall_write_text(out, "\n[output cut: all of it are ");
    tcall_write_decimal_(out, (tcall_int)size, 0);
    return tcall_write_text(out, " bytes]");
}

/* ---- arguments in a sentence ---- */

/* Bytes of an argument that are shown, and of all arguments together. */
#define TCALL_GLANCE_     32
#define TCALL_GLANCE_ALL_ 160

/* Writes a value, cut where it is long. */
static void tcall_write_glance_(tcall_writer *out, tcall_json value)
{
    char room[TCALL_GLANCE_];
    tcall_writer glance;
    tcall_writer_init(&glance, room, sizeof room);
    tcall_write_json(&glance, value);
    tcall_write_bytes(out, room,
                      glance.error ? tcall_utf8_cut_(room, sizeof room - 1)
                                   : glance.fill);
    tcall_write_text(out, glance.error ? "..." : "");
}

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
        tcall_write_text(out, before);
        if (!passing || key.len < TCALL_GLANCE_)
            tcall_write_bytes(out, key.ptr, key.len);
        tcall_write_text(out, "=");
        if (passing)
            tcall_write_glance_(out, member);
        else
            tcall_write_bytes(out, value.ptr, value.len);
        before = ", ";
    }
    tcall_write_text(out, member.at ? ", ..." : "");
}

/* Writes "suggestion":"Example: name(key=value)". */
static void tcall_write_example_(tcall_writer *out, const tcall_tool *tool,
                                 tcall_json example)
{
    tcall_write_quote(tcall_keyed_(out, "suggestion"));
    tcall_write_text(out, "Example: ");
    tcall_write_text(out, tool->name);
    tcall_write_text(out, "(");
    tcall_write_members_(out, example, false);
    tcall_write_text(out, ")");
    tcall_write_unquote(out);
}

/* ---- permission ---- */

/* Writes the names of a set of permissions. */
TCALL_NOINLINE_ static void tcall_write_permissions_(tcall_writer *out,
                                                     unsigned set,
                                                     const char *names,
                                                     const char *separator)
{
    const char *before = "";
    for (; set; set >>= 1, names = tcall_nth_(names, 1))
        if (set & 1) {
            tcall_write_text(out, before);
            tcall_write_text(out, names);
            before = separator;
        }
    tcall_write_text(out, *before ? "" : "nothing");
}

/* Writes why the tool is not permitted. */
static void tcall_say_denied_(tcall_writer *out, const tcall_ctx *cx)
{
    static const char names[] = "read\0write\0execute\0network\0actuate\0";
    const tcall_tool *tool = cx->call->tool;
    unsigned allow = cx->tc->desc.allow & TCALL_EVERYTHING;
    if (tool->permissions > TCALL_EVERYTHING) {
        tcall_write_text(out, "this tool was removed");
    } else if (tcall_enabled(tool, allow)) {
        tcall_write_text(out, "is not for this user: ");
        tcall_write_text(out, tcall_withheld_(cx->tc, tool));
    } else {
        tcall_write_text(out, "needs ");
        if (tool->permissions)
            tcall_write_permissions_(out, tool->permissions, names, " and ");
        else
            tcall_write_text(out, "everything, as it declares no permissions");
        tcall_write_text(out, "; the registry allows ");
        tcall_write_permissions_(out, allow, names, " and ");
    }
}

/* ---- what is wrong ---- */

/* Writes a member with the beginning of a text. */
static void tcall_write_start_(tcall_writer *out, const char *key,
                               tcall_str text, size_t most)
{
    if (text.len > most)
        text.len = tcall_utf8_cut_(text.ptr, most);
    tcall_write_pair_(out, key, text);
}

/* Writes what the schema or shape says, fault by fault; or what a validator
 * complained of; or where the text stops being JSON, and how it begins, since
 * such arguments are not sent back to the model. */
static void tcall_write_attempt_errors_(tcall_writer *out,
                                        const tcall_tool *tool,
                                        const tcall_attempt *attempt)
{
    tcall_str came = attempt->came;
    size_t i;
    if (attempt->faults && attempt->step == TCALL_STEP_VALIDATE) {
        tcall_write_nest_(out, "errors", '[');
        for (i = 0; i < attempt->faults; i++)
            tcall_write_fault_(out, tool->parameters.reader->say,
                               attempt->args.at, &attempt->fault[i]);
        tcall_write_close(out, ']');
    } else if (attempt->complaint.len) {
        tcall_write_pair_(out, "errors", attempt->complaint);
    } else if (attempt->step == TCALL_STEP_PARSE &&
               attempt->error_at <= came.len) {
        tcall_write_int(tcall_keyed_(out, "at"), (tcall_int)attempt->error_at);
        tcall_write_start_(out, "near",
                           tcall_slice_(came.ptr + attempt->error_at,
                                        came.len - attempt->error_at),
                           24);
        tcall_write_start_(out, "received", came, 64);
    }
}

int tcall_write_call_errors(tcall_writer *out, const tcall_call *call)
{
    tcall_write_attempt_errors_(out, call->tool, call->asked);
    return out->error;
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

/* True where the faults of the arguments say why the call failed. */
static bool tcall_was_refused_(const tcall_ctx *cx)
{
    return cx->failure.error == TCALL_E_INVALID && cx->call->asked->faults &&
           !cx->failure.reason.len;
}

/* True where the registry does not permit the tool. */
static bool tcall_was_denied_(const tcall_ctx *cx)
{
    return cx->failure.error == TCALL_E_DENIED && cx->call->tool &&
           tcall_withheld_(cx->tc, cx->call->tool) && !cx->failure.reason.len;
}

/* Returns what an error means: of those that only agents report, where the
 * program names its reporter. */
static const char *tcall_meaning_(const tcall *tc, int error)
{
    return tc->desc.report ? tc->desc.report->text(error)
                           : tcall_call_error_text_(error);
}

/* Writes why the call failed but for faults of its arguments, into a string. */
static void tcall_say_reason_(tcall_writer *out, const tcall_ctx *cx)
{
    tcall_str reason = cx->failure.reason;
    if (tcall_was_denied_(cx))
        tcall_say_denied_(out, cx);
    else if (reason.len)
        tcall_write_bytes(out, reason.ptr, reason.len);
    else
        tcall_write_text(out, tcall_meaning_(cx->tc, cx->failure.error));
}

/* Writes why the call failed, into a string. */
static void tcall_say_why_(tcall_writer *out, const tcall_ctx *cx)
{
    if (tcall_was_refused_(cx))
        tcall_say_refused_(out, cx->call);
    else
        tcall_say_reason_(out, cx);
}

/* Writes what has become of a tool that does more than read, into a string: the
 * model would make the call again. One that failed has said why. */
static void tcall_say_ran_(tcall_writer *out, const tcall_ctx *cx)
{
    if (cx->tool == TCALL_TOOL_DID_)
        tcall_write_text(out, ". The tool has run: do not repeat the call");
    else if (cx->stop < 0)
        tcall_write_text(out, ". The tool had begun: look whether it had its "
                              "effect before you repeat the call");
}

/* Writes what was called, who failed and why, into a string. */
TCALL_NOINLINE_ static void tcall_say_failure_(tcall_writer *out,
                                               const tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    if (call->tool && call->asked->args.at && !tcall_was_refused_(cx)) {
        tcall_write_text(out, call->tool->name);
        tcall_write_text(out, "(");
        tcall_write_members_(out, call->asked->args, true);
        tcall_write_text(out, "): ");
    }
    if (cx->failure.by) {
        tcall_write_text(out, cx->failure.by);
        tcall_write_text(out, ": ");
    }
    tcall_say_why_(out, cx);
}

/* Writes what the model can do about the failure. */
static void tcall_write_help_(tcall_writer *out, const tcall_ctx *cx,
                              tcall_json example)
{
    const tcall_failure *failure = &cx->failure;
    const tcall_call *call = cx->call;
    if (cx->result.suggestion)
        tcall_write_word_(out, "suggestion", cx->result.suggestion);
    else if (example.at)
        tcall_write_example_(out, call->tool, example);
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

static void tcall_write_failure_at_(tcall_ctx *cx, int brevity,
                                    tcall_json example)
{
    const tcall_failure *failure = &cx->failure;
    tcall_writer *out = cx->out;
    bool ran = cx->result.ran && !tcall_repeatable_(cx);
    tcall_output_clear_(cx);
    tcall_write_open(out, '{');
    tcall_write_bool(tcall_keyed_(out, "success"), false);
    if (brevity <= TCALL_TELL_WHY_) {
        tcall_write_quote(tcall_keyed_(out, "error"));
        tcall_say_failure_(out, cx);
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
        tcall_write_bool(tcall_keyed_(out, "ran"), true);
    if (brevity == TCALL_TELL_ALL_)
        tcall_write_help_(out, cx, example);
    tcall_write_close(out, '}');
}

/* Writes the result of a call that failed, instead of the output. The example
 * is made here, as to read it takes much stack. */
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_write_failure_(tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    tcall_block *block = &cx->tc->block;
    size_t wanted = cx->failure.error == TCALL_E_MEMORY ? cx->wanted : 0;
    size_t high = block->high;
    int brevity = TCALL_TELL_ALL_;
    tcall_json example = tcall_json_of_(NULL, NULL);
    tcall_str text;
    if (cx->failure.error == TCALL_E_INVALID && tool &&
        tcall_is_checked_(tool) && !cx->result.suggestion &&
        tcall_example_text_(block, tool->parameters, &text) == TCALL_OK)
        example = tcall_example_(cx->call, text);
    tcall_write_failure_at_(cx, brevity, example);
    if (cx->out->error)
        wanted = cx->out->len - cx->out_start->len;
    while (cx->out->error && brevity++ < TCALL_TELL_LEAST_)
        tcall_write_failure_at_(cx, brevity, example);
    if (cx->out->error)
        tcall_output_clear_(cx);
    cx->wanted = wanted;
    tcall_block_back_(block, high);
}

/* ---- events ---- */

/* Writes what the developer does about a tool that is not permitted. */
static void tcall_say_remedy_(tcall_writer *out, const tcall_ctx *cx)
{
    static const char names[] = "TCALL_READ\0TCALL_WRITE\0TCALL_EXECUTE\0"
                                "TCALL_NETWORK\0TCALL_ACTUATE\0";
    const tcall_tool *tool = cx->call->tool;
    unsigned missing = tcall_needs_(tool) & ~(unsigned)cx->tc->desc.allow;
    if (tool->permissions > TCALL_EVERYTHING || !missing)
        return;
    tcall_write_text(out, ": add ");
    tcall_write_permissions_(out, missing, names, " | ");
    tcall_write_text(out, " to tcall_desc.allow");
}

/* Makes an event about a call, where anybody listens. */
static void tcall_event_of_(const tcall_call *call, tcall_event_kind kind,
                            const tcall_str *text, int value)
{
    const tcall_failure *failure = &call->cx.failure;
    tcall_event event;
    if (!tcall_is_heard_(call->cx.tc))
        return;
    memset(&event, 0, sizeof event);
    event.call = call;
    if (text)
        event.text = *text;
    if (kind == TCALL_EVENT_APPROVAL || kind == TCALL_EVENT_VERDICT)
        event.verdict = value;
    else
        event.error = value < 0            ? value
                      : failure->error < 0 ? failure->error
                                           : call->error;
    event.ms = kind == TCALL_EVENT_END        ? call->run_ms
               : kind == TCALL_EVENT_HYDRATED ? call->hydrate_ms
                                              : 0;
    tcall_tell_(call->cx.tc, &event, kind);
}

/* Reports why a call failed: in words that are written for it where there are
 * none, to memory of the call. */
static void tcall_event_error_(const tcall_ctx *cx)
{
    tcall_block *block = &cx->tc->block;
    tcall_str words = cx->failure.reason;
    bool denied = tcall_was_denied_(cx);
    if (denied || tcall_was_refused_(cx)) {
        tcall_writer out = tcall_hydrate_writer_(block);
        tcall_write_text(&out, denied ? cx->call->tool->name : "");
        tcall_write_text(&out, denied ? " " : "");
        tcall_say_why_(&out, cx);
        if (denied)
            tcall_say_remedy_(&out, cx);
        tcall_hydrate_keep_(block, out.buf, out.len, &words);
    }
    if (!words.len)
        words = tcall_str_of(tcall_meaning_(cx->tc, cx->failure.error));
    tcall_event_of_(cx->call, TCALL_EVENT_ERROR, &words, 0);
}

TCALL_DATA_ const struct tcall_events_ tcall_events = {tcall_event_of_,
                                                       tcall_event_error_};

void tcall_subscribe(tcall *tc, tcall_listener *listener)
{
    tcall_unsubscribe(tc, listener);
    listener->next = tc->listeners;
    tc->listeners = listener;
    tc->desc.events = &tcall_events;
}

void tcall_unsubscribe(tcall *tc, tcall_listener *listener)
{
    tcall_listener **at = &tc->listeners;
    tcall_dispatch_ *dispatch;
    while (*at && *at != listener)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = listener->next;
    for (dispatch = tc->dispatch; dispatch; dispatch = dispatch->outer)
        if (dispatch->next == listener)
            dispatch->next = listener->next;
}

/* ---- what is written for logs ---- */

/* Writes an object about a call through a mask for the key of its agent, in
 * pieces, so that its length does not matter, to a sink, which has to take all
 * that it is given. */
static int tcall_write_masked_(const tcall *tc, const tcall_call *call,
                               void (*write)(tcall_writer *out, const tcall *tc,
                                             const tcall_call *call),
                               tcall_sink sink, void *user)
{
    tcall_mask mask;
    tcall_writer out;
    char buf[64];
    int result;
    tcall_mask_begin_(&mask, tc->key, sink, user);
    tcall_writer_init(&out, buf, sizeof buf);
    tcall_writer_sink(&out, tcall_mask_put, &mask);
    write(&out, tc, call);
    result = tcall_writer_flush(&out);
    return result < 0 ? result : tcall_mask_end(&mask);
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
    tcall_write_quote(tcall_keyed_(out, "definition"));
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
    const char *mode =
        tc->nodes && tc->nodes[tool - tc->desc.tools] ? "eager" : "lazy";
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
    tcall_write_bool(tcall_keyed_(out, "validated"), call->asked->validated);
    if (tool && !tcall_is_checked_(tool))
        tcall_write_word_(out, "no_schema_mode",
                          modes[tool->no_schema_mode % 3]);
    tcall_write_bool(tcall_keyed_(out, "repaired"), call->repaired);
}

static void tcall_write_origin_(tcall_writer *out, const tcall *tc,
                                const tcall_call *call)
{
    static const char steps[][9] = {"find", "parse", "validate", "done"};
    const tcall_tool *tool = call->tool;
    const tcall_attempt *asked = call->asked;
    tcall_write_open(out, '{');
    tcall_write_word_(out, "provider", call->provider);
    tcall_write_identity_(out, call);
    if (tool)
        tcall_write_hash_(out, tcall_hash_definition_(tc, tool));
    tcall_write_pair_(out, "arguments", call->arguments);
    tcall_write_fixes_(out, asked->fixes);
    tcall_write_key(out, "coercions");
    if (asked->coercion)
        tc->desc.lenient->write(out, asked->args.at, asked->coercion,
                                asked->coercions);
    else
        tcall_write_verbatim(out, tcall_str_of("[]"));
    if (tool && tool->provided_by)
        tcall_write_word_(out, "provided_by", tool->provided_by);
    if (asked->step >= TCALL_STEP_VALIDATE && tcall_is_checked_(tool))
        tcall_write_validator_(out, tc, tool);
    tcall_write_bool(tcall_keyed_(out, "ran"), call->cx.result.ran);
    tcall_write_count_(out, "ms", call->hydrate_ms);
    tcall_write_validated_(out, call);
    if (asked->validated && asked->args.at) {
        tcall_write_json(tcall_keyed_(out, "value"), asked->args);
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
    tcall_write_verbatim(out, tcall_str_of("")); /* a comma, where one is due */
    tcall_write_masked_(tc, call, tcall_write_origin_, tcall_write_on_, out);
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

/* Writes the line of an audit. */
static void tcall_write_line_(tcall_writer *out, const tcall *tc,
                              const tcall_call *call)
{
    const tcall_ctx *cx = &call->cx;
    tcall_write_open(out, '{');
    tcall_write_identity_(out, call);
    if (cx->session)
        tcall_write_session_(out, cx->session);
    tcall_write_key(out, "arguments");
    if (call->asked->args.at)
        tcall_write_json(out, call->asked->args);
    else
        tcall_write_str(out, tcall_asked_text_(call));
    tcall_write_validated_(out, call);
    tcall_write_count_(out, "attempts", cx->attempt);
    tcall_write_bool(tcall_keyed_(out, "ran"), cx->result.ran);
    tcall_write_count_(out, "ms", tcall_now_(tc) - cx->started);
    tcall_write_bool(tcall_keyed_(out, "approved"), call->approved);
    tcall_write_outcome_(out, cx->failure.error);
    if (cx->failure.reason.len || tcall_was_denied_(cx)) {
        tcall_write_quote(tcall_keyed_(out, "reason"));
        tcall_say_reason_(out, cx);
        tcall_write_unquote(out);
    }
    tcall_write_text(out, "}\n");
}

TCALL_SHARED_ int tcall_write_audit_(tcall_ctx *cx, tcall_sink sink, void *user)
{
    return tcall_write_masked_(cx->tc, cx->call, tcall_write_line_, sink, user);
}
