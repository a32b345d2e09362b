#pragma once
#include "scan.h"

/* ==========================================================================
 * >>json: values
 *
 * JSON text in the caller's memory becomes an array of tokens: recognised by
 * and split by the scanner, decoded in place. A value is a small cursor
 * passed by copy. Getters are total: what is absent or of another type gives
 * the fallback, so a chain of them needs one check or none.
 */

/* A value in text and tokens that the caller keeps for as long. */
typedef struct tcall_json {
    const char *text;
    const tcall_tok *tok; /* NULL: no value */
} tcall_json;

/* Parse one JSON text strictly. text must have room for len + 1 bytes and is
 * decoded in place; it and tok must live as long as the value. Returns the
 * number of tokens; TCALL_E_MEMORY when there are more than cap (*need, where
 * need is not NULL, is then the number), or what is wrong with the text
 * (*need: the offset). Duplicate keys, after decoding, are refused. */
TCALL_API int tcall_json_parse(tcall_json *out, char *text, size_t len,
                               tcall_tok *tok, size_t cap, size_t *need);

/* Returns the type; TCALL_MISSING of a missing value. */
TCALL_API tcall_type tcall_json_type(tcall_json v);
/* Returns a member of an object, an element of an array, else a missing value:
 * it and its texts are valid as long as the text and the tokens are. */
TCALL_API tcall_json tcall_json_get(tcall_json object, const char *key);
TCALL_API tcall_json tcall_json_at(tcall_json array, int index);
/* Returns the number of members or elements, else 0. */
TCALL_API int tcall_json_count(tcall_json v);
/* Visits the elements of an array or the values of an object, valid likewise:
 * for (v = tcall_json_first(all); v.tok; v = tcall_json_next(v)); key names the
 * latter. */
TCALL_API tcall_json tcall_json_first(tcall_json v);
TCALL_API tcall_json tcall_json_next(tcall_json v);
TCALL_API tcall_str tcall_json_key(tcall_json v);
/* Returns a decoded string, terminated by NUL and valid likewise; fallback for
 * every other type. */
TCALL_API const char *tcall_json_string(tcall_json v, const char *fallback);
/* The same as a slice; of a number, true, false or null its text. */
TCALL_API tcall_str tcall_json_str(tcall_json v);
TCALL_API bool tcall_json_bool(tcall_json v, bool fallback);
/* Returns an integer value (also 5.0 and 5e2); fallback for fractions and
 * beyond range. */
TCALL_API int tcall_json_int(tcall_json v, int fallback);
TCALL_API int64_t tcall_json_int64(tcall_json v, int64_t fallback);
/* Fixed point without floating point: 21.5 with decimals 2 is 2150; surplus
 * digits are cut off. */
TCALL_API long tcall_json_fixed(tcall_json v, int decimals, long fallback);
/* Returns the nearest double, of two the even one; what is too small is 0.
 * Returns fallback for every other type and beyond the range of double. */
TCALL_API double tcall_json_double(tcall_json v, double fallback);
