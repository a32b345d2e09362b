#pragma once
#include "base.h"

/* ==========================================================================
 * >>text: values
 *
 * A value is its text: strict JSON, in which each getter looks for what it is
 * asked for. It is passed by copy. Getters are total: what
 * is absent or of another type gives the fallback, so a chain of them needs one
 * check or none.
 */

/* A value in a text that was accepted and lives as long. The getters that give
 * strings decode these where they lie: the text is theirs to write to, and is
 * JSON for tcall_write_json and them alone from then on. */
typedef struct tcall_json {
    const char *at;  /* where it begins; NULL: no value */
    const char *key; /* of a member: where its name begins, else NULL */
} tcall_json;

/* Returns TCALL_OK where text is one JSON value (RFC 8259), else what is wrong
 * with it. It takes any names and numbers. */
TCALL_API int tcall_json_check(tcall_str text);
/* Makes a value of one JSON text, strictly. text must have room for len + 1
 * bytes and live as long as the value. Returns TCALL_OK, or what is wrong with
 * the text and, where at is not NULL, the offset in *at. Names that stand twice
 * in an object, however they are escaped, are refused, and numbers beyond the
 * range of double. It takes no memory: what it costs to find the former grows
 * with the square of the names of one object from some 30 on (10,000: 0.3 s on
 * a PC). */
TCALL_API int tcall_json_parse(tcall_json *out, char *text, size_t len,
                               size_t *at);

/* Returns the type; TCALL_MISSING of a missing value. */
TCALL_API tcall_type tcall_json_type(tcall_json v);
/* Returns a member of an object, an element of an array, else a missing value,
 * valid as long as the text. What stands before it is passed over. */
TCALL_API tcall_json tcall_json_get(tcall_json object, const char *key);
TCALL_API tcall_json tcall_json_at(tcall_json array, int index);
/* Returns the number of members or elements, else 0. */
TCALL_API int tcall_json_count(tcall_json v);
/* Visits the elements of an array or the values of an object, valid likewise:
 * for (v = tcall_json_first(all); v.at; v = tcall_json_next(v)); key names the
 * latter, decoded and terminated as tcall_json_string is, and is empty for any
 * other value. */
TCALL_API tcall_json tcall_json_first(tcall_json v);
TCALL_API tcall_json tcall_json_next(tcall_json v);
TCALL_API tcall_str tcall_json_key(tcall_json v);
/* Returns a decoded string, terminated by NUL and valid as long as its text;
 * fallback for every other type. */
TCALL_API const char *tcall_json_string(tcall_json v, const char *fallback);
/* The same as a slice, which also holds what follows a U+0000 (no arguments
 * have any); of a number, true, false or null its text, which nothing ends. */
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
