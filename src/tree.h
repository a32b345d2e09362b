#pragma once
#include "scan.h"

/* ==========================================================================
 * >>tree: tokens of arguments, while they are checked
 *
 * Only what checks by tokens has them, and goes with it: a value is text.
 */

/* A value in text and tokens that the caller keeps for as long. */
typedef struct tcall_tree_ {
    const char *text;
    const tcall_tok_ *tok; /* NULL: no value */
} tcall_tree_;

/* Parse one JSON text strictly. text must have room for len + 1 bytes and is
 * decoded in place; it and tok must live as long as the value. Returns the
 * number of tokens; TCALL_E_MEMORY when there are more than cap (*need, where
 * need is not NULL, is then the number), or what is wrong with the text
 * (*need: the offset). Duplicate keys, after decoding, are refused. */
TCALL_API int tcall_tree_parse_(tcall_tree_ *out, char *text, size_t len,
                                tcall_tok_ *tok, size_t cap, size_t *need);

/* Returns the type; TCALL_MISSING of a missing value. */
TCALL_API tcall_type tcall_tree_type_(tcall_tree_ v);
/* Returns a member of an object, an element of an array, else a missing value:
 * it and its texts are valid as long as the text and the tokens are. */
TCALL_API tcall_tree_ tcall_tree_get_(tcall_tree_ object, const char *key);
/* Returns the number of members or elements, else 0. */
TCALL_API int tcall_tree_count_(tcall_tree_ v);
/* Visits the elements of an array or the values of an object, valid likewise:
 * for (v = tcall_tree_first_(all); v.tok; v = tcall_tree_next_(v)); key names
 * the latter. */
TCALL_API tcall_tree_ tcall_tree_first_(tcall_tree_ v);
TCALL_API tcall_tree_ tcall_tree_next_(tcall_tree_ v);
TCALL_API tcall_str tcall_tree_key_(tcall_tree_ v);
/* Returns a string, decoded, or the text of a number, true, false or null. */
TCALL_API tcall_str tcall_tree_str_(tcall_tree_ v);
