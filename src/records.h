#pragma once
#include "call.h"

/* ==========================================================================
 * >>records: what programs and logs read of a call
 */

/* Returns SipHash-2-4 (Aumasson and Bernstein, 2012) of bytes. */
TCALL_API uint64_t tcall_hash(const uint64_t key[2], tcall_str bytes);

/* Returns a number for a call that stays the same over a restart and that no
 * other call has: it is made of its place in the conversation, its id and that
 * of its session, the session's agent, and, for a sub-agent, of the call that
 * it works for. */
TCALL_API uint64_t tcall_call_key(const tcall *tc, const tcall_call *call);
/* Returns a number for what a call would do, which is what a person sees who
 * has to decide: its tool's definition and its arguments, hashed with
 * desc.hash_key, whatever the order of members and the form of numbers: 5, 5.0
 * and 0.5e1 are the same. Below 16 levels both count. 0: the call was not
 * hydrated, or is of an unknown tool. */
TCALL_API uint64_t tcall_call_what(const tcall *tc, const tcall_call *call);

/* For tools: says that the call reads or changes one thing only, such as the
 * file with this path. A call that changes it leaves what was kept of other
 * things (TCALL_CACHE, TCALL_LOOPS). A call that says nothing, or names two
 * things, reads or changes everything. */
TCALL_API void tcall_concerns(tcall_ctx *cx, tcall_str thing);

/* Makes the events of calls: tcall_desc.events is this where there is an
 * on_event. */
#ifndef TOOLCALL_STATIC
TCALL_API const struct tcall_events_ tcall_events;
#endif
/* Adds or removes a listener. Events go to desc.on_event first, then to the
 * latest listener and so on. One that is added twice is told once. Listeners
 * may come and go while an event is told: one that was removed is not called
 * any more and may be freed; a new one is told of the next event. */
TCALL_API void tcall_subscribe(tcall *tc, tcall_listener *listener);
TCALL_API void tcall_unsubscribe(tcall *tc, tcall_listener *listener);

/* Writes, for logs, a JSON object about where the arguments came from and what
 * was done to them: provider, ids, the hash of the tool's definition, raw
 * arguments, fixes, coercions, validator and its mode, times, validated,
 * repaired, no_schema_mode, the value that was checked, errors; where a repair
 * or a hook made others of them, all attempts, by whom each is. The key of the
 * agent, if there is one, is masked in it, see tcall_mask. */
TCALL_API int tcall_write_provenance(tcall_writer *w, const tcall *tc,
                                     const tcall_call *call);

/* ---- masks ---- */

/* A mask is a filter that a secret does not pass. It stands in front of the
 * sink of anything that leaves the program, such as
 * a log or a terminal. What an agent writes itself, messages of servers, audit
 * and provenance, goes through one for its key without being asked. Several
 * secrets need as many filters, each the sink of the one before:
 *
 *     tcall_mask mask = {0};
 *     mask.secret = key;
 *     mask.sink = my_sink;
 *     tcall_mask_put(&mask, bytes, len);
 *
 * The secret is found in whatever pieces it comes, and as JSON may write it:
 * behind backslashes, as \u0041, and both again in a string of JSON in a string
 * of JSON. Where only its beginning is there, 8 characters or more, that is
 * masked too. Not found are other encodings of it, such as base64, %41 and
 * hexadecimal, its end alone, and the secret with other characters between its
 * own.
 */

/* A secret that is shorter is none: "none" and "ollama" are words. */
enum { TCALL_SECRET_MIN = 8 };

/* So many backslashes are before no character, or JSON would be in a fourth
 * string. */
enum { TCALL_MASK_SLASHES_ = 8, TCALL_MASK_UNIT_ = TCALL_MASK_SLASHES_ + 5 };

/* All zero but for the first three. It must not move while it is in use. */
typedef struct tcall_mask {
    const char *secret; /* visible characters, no backslash; NULL: none */
    tcall_sink sink;    /* gets the rest; has to take all that it is given */
    void *user;
    /* private */
    size_t matched; /* characters of the secret that the text has just shown */
    bool masked;    /* of these, all that are not held went out as "***" */
    uint8_t count;  /* of the characters that are held and whole */
    uint8_t whole, held; /* bytes of these, and of all that are held */
    char bytes[(size_t)TCALL_SECRET_MIN * TCALL_MASK_UNIT_];
    int error; /* of the sink */
} tcall_mask;

/* Passes bytes on, but for the secret: a tcall_sink whose user is a tcall_mask.
 * Returns len, or the sink's error. The start of what may be the secret waits
 * for what follows. */
TCALL_API int tcall_mask_put(void *mask, const char *bytes, size_t len);
/* Passes on what waits: the text is over, or somebody reads it now. Returns
 * TCALL_OK or the sink's error. */
TCALL_API int tcall_mask_end(tcall_mask *mask);
