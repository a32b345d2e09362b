#pragma once
#include "node.h"
#include "text.c"

/* ==========================================================================
 * >>node
 */

/* The words of the keywords: one object, which is linked where one is named. */
static const struct tcall_keyword_words_ {
#define TCALL_X_(NAME, keyword, begins, drafts) char NAME##_[sizeof keyword];
    TCALL_X_(NOTHING, "", 0, ALL)
    TCALL_KEYWORDS_(TCALL_X_)
    TCALL_NO_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
} tcall_keyword_words_ = {"",
#define TCALL_X_(NAME, keyword, begins, drafts) keyword,
                          TCALL_KEYWORDS_(TCALL_X_) TCALL_NO_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

/* Where they begin in it, by their numbers. */
static const uint16_t tcall_keyword_offsets_[] = {
#define TCALL_X_(NAME, keyword, begins, drafts) \
    offsetof(struct tcall_keyword_words_, NAME##_),
    TCALL_X_(NOTHING, "", 0, ALL) TCALL_KEYWORDS_(TCALL_X_)
        TCALL_NO_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

/* Returns the word of a keyword. */
TCALL_SHARED_ const char *tcall_keyword_word_(uint8_t on)
{
    return (const char *)&tcall_keyword_words_ + tcall_keyword_offsets_[on];
}

/* Returns the number of a keyword, or NOTHING. */
TCALL_SHARED_ uint8_t tcall_keyword_of_(tcall_str word)
{
    uint8_t on = TCALL_ON_LAST_KEYWORD_;
    while (on && (tcall_keyword_offsets_[on + 1] !=
                      tcall_keyword_offsets_[on] + word.len + 1 ||
                  memcmp(tcall_keyword_word_(on), word.ptr, word.len) != 0))
        on--;
    return on;
}

/* ---- rows ---- */

/* Returns the next row of a node, or NULL. */
TCALL_SHARED_ const tcall_row *tcall_row_next_(const tcall_row *row)
{
    return row->flags & TCALL_ROW_LAST_ ? NULL : row + 1;
}

/* Returns the first row of a keyword, or NULL. */
TCALL_SHARED_ const tcall_row *tcall_row_of_(const tcall_node *node, uint8_t on)
{
    const tcall_row *row = node->rows;
    while (row && row->on < on)
        row = tcall_row_next_(row);
    return row && row->on == on ? row : NULL;
}

/* Returns the keyword that a row was in the schema: one of an older draft may
 * have another name today. */
TCALL_SHARED_ uint8_t tcall_row_keyword_(const tcall_row *row)
{
    return !(row->flags & TCALL_ROW_OLD_) ? row->on
           : row->on == TCALL_ON_PREFIX_  ? (uint8_t)TCALL_ON_ITEMS_
           : row->on == TCALL_ON_ITEMS_   ? (uint8_t)TCALL_ON_EXTRA_
           : row->on == TCALL_ON_DEFS_    ? (uint8_t)TCALL_ON_DEFINITIONS_
                                          : (uint8_t)TCALL_ON_DEPENDENCIES_;
}

/* Returns the pattern of a row; those of patternProperties follow its members.
 */
TCALL_SHARED_ const tcall_match *tcall_row_match_(const tcall_row *row)
{
    return row->on == TCALL_ON_PATTERN_
               ? row->of.match
               : (const tcall_match *)(const void *)(row->of.members +
                                                     row->count);
}

/* ---- members ---- */

/* Names that are more than this, but those of patterns, are followed by a hash
 * table of half as many slots again, each 0 or 1 + the index of a member. Names
 * that hash alike are compared: it decides nothing but time. */
#define TCALL_FEW_ 16

/* Returns the slot of the hash table that a name is in, or the free one for it,
 * and counts what it looks at. */
TCALL_SHARED_ uint16_t *
tcall_member_slot_(const tcall_row *row, tcall_text_bytes_ name, int32_t *steps)
{
    uint16_t *slots = (uint16_t *)(uintptr_t)(row->of.members + row->count);
    uint32_t count = row->count + row->count / 2u;
    uint32_t i = tcall_text_hash_(name) % count;
    while (slots[i] && --*steps >= 0 &&
           !tcall_text_match_(row->of.members[slots[i] - 1].name, name))
        i = (i + 1) % count;
    return &slots[i];
}

/* Returns which of the members of a row has a name, or NO_MEMBER. */
TCALL_SHARED_ uint16_t tcall_member_named_(const tcall_row *row,
                                           tcall_text_bytes_ name)
{
    int32_t steps = INT32_MAX;
    uint16_t i;
    if (row->count > TCALL_FEW_ && row->on != TCALL_ON_PATTERNS_)
        return (uint16_t)(*tcall_member_slot_(row, name, &steps) - 1);
    for (i = 0; i < row->count; i++)
        if (tcall_text_match_(row->of.members[i].name, name))
            return i;
    return TCALL_NO_MEMBER_;
}

/* Returns which of the members of properties has the name at a quote, whose
 * length with quotes is len, 0: unknown; or NO_MEMBER. Names tend to come in
 * order: the search begins at i. */
TCALL_SHARED_ uint16_t tcall_member_of_(const tcall_row *row, uint16_t i,
                                        const char *quote, size_t len)
{
    uint16_t tried, most = row->count > TCALL_FEW_ ? 1 : row->count;
    for (tried = 0; tried < most; tried++, i++) {
        const tcall_member *member;
        i = i < row->count ? i : 0;
        member = &row->of.members[i];
        if (member->node.digits && len
                ? member->node.digits == len &&
                      memcmp(member->name, quote, len) == 0
                : tcall_text_equal_(member->name, quote))
            return i;
    }
    return most < row->count
               ? tcall_member_named_(row, tcall_text_bytes_of_(quote))
               : TCALL_NO_MEMBER_;
}
