/*
 * shown.h - a filter that shows characters which a terminal would obey
 *
 * It stands in front of the sink of whatever a person looks at, as >>invoke in
 * toolcall.h does for secrets; of both the mask comes first:
 *
 *     static ttool_shown shown = {my_sink};
 *     mask.sink = ttool_shown_put;
 *     mask.user = &shown;
 *
 * C0 and C1 controls, DEL, and the characters that turn the direction of text
 * or have no width are written as \x1b, \u202e or \U000e0001; bytes that are no
 * UTF-8 as U+FFFD. Tabs and line ends stay. Results of tools went through the
 * same filter before.
 */
#ifndef TTOOL_SHOWN_H
#define TTOOL_SHOWN_H

#include "tools/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero but for the first three. */
typedef struct ttool_shown {
    tcall_sink sink;
    void *user;
    bool json; /* the text is JSON, and stays it: controls are \u001b, \u202e
                  and \udb40\udc01, which are read as what they are */
    /* private */
    ttool_held_ held;
} ttool_shown;

/* Passes bytes on: a tcall_sink whose user is a ttool_shown. Returns len, or
 * the sink's error. The start of a character waits for its rest. */
int ttool_shown_put(void *shown, const char *bytes, size_t len);
/* Passes on what waits: the text is over, or somebody reads it now. Returns
 * TCALL_OK or the sink's error. */
int ttool_shown_end(ttool_shown *shown);

/* Hides a secret in what a tool answered, before the model and everybody else
 * sees it: a hook whose user is a const char *, the secret, or NULL as long as
 * there is none.
 *
 *     static const tcall_hook hooks[] = {TTOOL_HIDE(&key)};
 */
#define TTOOL_HIDE(secret)                                                    \
    {                                                                         \
        "hide the key", TCALL_WILL_REDACT_OUTPUT, 0, ttool_hide, NULL, secret \
    }
int ttool_hide(tcall_ctx *cx, void *user);

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_SHOWN_H */
