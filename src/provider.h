#pragma once
#include "say.h"
#include "chat.h"
#include "tools.h"

/* ==========================================================================
 * >>provider: requests, and what all wire formats share
 *
 * A provider is data: the members that matter in its answers, the words it
 * uses, what distinguishes it, and the forms of its requests. One reader serves
 * all of them, and one writer.
 */

typedef enum tcall_choice {
    TCALL_CHOICE_AUTO,
    TCALL_CHOICE_NONE, /* tools are sent: a call that comes must not be run */
    TCALL_CHOICE_REQUIRED,
    TCALL_CHOICE_ONE /* the tool that choice_name names */
} tcall_choice;

/* A variable of descriptions: ${name} in a tool's description is sent as text.
 * A table of them ends with a row without a name. What a variable holds is not
 * searched for variables; unknown ones stay as they are written. Texts may
 * change between requests, but not while one is written. */
typedef struct tcall_variable {
    const char *name; /* "workspace" for ${workspace} */
    const char *text;
} tcall_variable;

/* All that a request is made of. */
typedef struct tcall_chat_request {
    const char *model;
    const char *system; /* instructions; may be NULL */
    const tcall_chat *chat;
    const tcall_tool *tools;
    size_t tool_count;
    /* Bits: which of the tools are sent, the lowest of a byte first; NULL:
     * those that these permissions suffice for. */
    const uint8_t *offer;
    unsigned allow;
    tcall_choice choice;
    const char *choice_name;
    int max_tokens; /* of the answer, thinking included; default 8192 where one
                     * must be given */
    long context;   /* tokens that the conversation may take, for servers that
                     * have to be told; 0: the server's default */
    bool stream;
    bool no_parallel; /* at most one call in an answer */
    /* The server is asked to keep the beginning, where that has to be asked
     * for: what is sent again then costs less. */
    bool cache_prompt;
    /* Further members of the body, the JSON text of an object; NULL: none.
     * {"temperature":0.2} or TCALL_TEXT({"reasoning_effort" : "none"}). Limits
     * and options that stand here count instead of those above. */
    const char *extra;
    const tcall_variable *variables; /* of descriptions; may be NULL */
    /* Private: what an agent remembers of the request before, so that it counts
     * only what is new; or NULL. */
    struct tcall_counted_ *counted;
} tcall_chat_request;

typedef struct tcall_provider tcall_provider;

/* Returns the id that requests to a provider have for a call with this id:
 * the caller's, or, where the provider would refuse it, nine letters and
 * digits, always the same ones, which it writes to made. */
TCALL_API tcall_str tcall_id_for(const tcall_provider *to, tcall_str id,
                                 char made[9]);

/* -- For authors of providers -- */

/* What a member of a provider's answers is. A call is read
 * as an element that has some of id, name, arguments and index, whole or as a
 * piece of one that came before. */
enum {
    TCALL_FIELD_NONE,    /* only its inside counts */
    TCALL_FIELD_ELEMENT, /* the object that is a call, a text, a reasoning,
                                or a piece of one */
    /* Parts of an element. Outside of one each is an element by itself. */
    TCALL_FIELD_ID,             /* the first that is not empty counts */
    TCALL_FIELD_NAME,           /* likewise */
    TCALL_FIELD_SIGNATURE,      /* likewise */
    TCALL_FIELD_ARGUMENTS,      /* a string is a piece; an object is whole */
    TCALL_FIELD_ALL_ARGUMENTS,  /* whole, and may come repeatedly */
    TCALL_FIELD_REASONING,      /* a piece of its words */
    TCALL_FIELD_REASONING_TOO,  /* likewise, unless they came by that name */
    TCALL_FIELD_REASONING_DATA, /* a piece of what is no words: item.raw */
    TCALL_FIELD_TEXT,           /* a piece of the model's text */
    TCALL_FIELD_DELTA,          /* a piece; the event says of what */
    TCALL_FIELD_IGNORE, /* true: the element is reasoning; an object: it does
                           not count */
    TCALL_FIELD_UNREAD, /* arguments in a form that is not read: the call fails
                           with TCALL_E_UNHANDLED */

    TCALL_FIELD_CHOICE, /* the object that is one of several answers */
    /* Something that only whole answers have. It counts where its document is
     * no piece of a stream: that has a PIECE, or an element or a DELTA outside
     * of it. */
    TCALL_FIELD_WHOLE_ANSWER,
    TCALL_FIELD_PIECE,   /* an object that only pieces have */
    TCALL_FIELD_ERROR,   /* an object, or the words, of an error */
    TCALL_FIELD_MESSAGE, /* the words of an error */
    /* Numbers. */
    TCALL_FIELD_INDEX,        /* of the element */
    TCALL_FIELD_CHOICE_INDEX, /* of the choice; only number 0 is read */
    TCALL_FIELD_INPUT_TOKENS,
    TCALL_FIELD_OUTPUT_TOKENS,
    /* Words that are looked up. */
    TCALL_FIELD_TYPE,        /* of the element, in types */
    TCALL_FIELD_EVENT,       /* what this document is, in types */
    TCALL_FIELD_STOP,        /* why it stopped, in stops; then it is complete */
    TCALL_FIELD_STOP_REASON, /* likewise, believed only if it says cut off or
                                filtered */
    /* Other words. */
    TCALL_FIELD_RETRY_DELAY, /* how long to wait: "1.5s" */
    TCALL_FIELD_ERROR_TYPE,
    TCALL_FIELD_ERROR_CODE /* says more than the type unless it is a number */
};

/* What matters in the answers of a format, as a table: a list of rows
 *
 *     X(T, object, name, field, more, inside)
 *
 * one for each member that is read: the object it is a member of (a word of the
 * table's own), its name, what it is (TCALL_FIELD_... without that prefix) and
 * TCALL_ROW_... The rows of an object follow each other, in the order in which
 * the members mostly come, and the last one says so. What is itself an object
 * names the row that those of its inside begin with, object_name, else none.
 * So an object may share the last rows of another. The answer comes first.
 *
 * In memory a row is five bytes, of which the last two are where the inside
 * begins, and the name: it goes with a format that nobody names. */
enum {
    TCALL_ROW_LAST = 32,  /* of its object */
    TCALL_ROW_TEXT = 64,  /* an object or array is read as its JSON text,
                             without white space */
    TCALL_ROW_ARRAY = 128 /* see TCALL_EACH */
};

/* The inside is that of an array's elements, which are this field. */
#define TCALL_EACH(field) ((int)TCALL_ROW_ARRAY | TCALL_FIELD_##field)

/* Makes the table `me` of such a list. */
#define TCALL_ROWS(me, list)                              \
    struct me##of_ {                                      \
        uint8_t none[6];                                  \
        list(TCALL_ROW_PLACE_, me##of_)                   \
    };                                                    \
    static const struct me##of_ me = {{0, 0, 0, 6, 0, 0}, \
                                      list(TCALL_ROW_, me##of_)};
#define TCALL_ROW_PLACE_(T, object, name, field, more, inside) \
    uint8_t object##_##name[5];                                \
    char object##_##name##_[sizeof #name];
#define TCALL_ROW_(T, object, name, field, more, inside)                 \
    {sizeof #name - 1, TCALL_FIELD_##field, more,                        \
     offsetof(struct T, inside) & 255, offsetof(struct T, inside) >> 8}, \
        #name,

/* What the type of an element, or the name of an event, means. */
enum {
    TCALL_MEANS_UNKNOWN, /* nothing was said yet */
    TCALL_MEANS_OTHER,   /* a word that is not in the table */
    TCALL_MEANS_CALL,
    TCALL_MEANS_TEXT, /* of an event: its DELTA is text */
    TCALL_MEANS_REASONING,
    TCALL_MEANS_UNHANDLED,     /* the program would have to do something that it
                                  cannot: the answer stops there */
    TCALL_MEANS_ARGUMENTS,     /* event: its DELTA is a piece of arguments */
    TCALL_MEANS_ALL_ARGUMENTS, /* event: its DELTA is all of them */
    TCALL_MEANS_ELEMENT_BEGINS,
    TCALL_MEANS_ELEMENT_ENDS,
    TCALL_MEANS_ANSWER_BEGINS, /* and will say when it ends */
    TCALL_MEANS_RESTART,       /* everything before is void */
    TCALL_MEANS_ANSWER_ENDS
};

/* Words, one behind the other, an empty one at their end, and what each means:
 * a tcall_stop, or TCALL_MEANS_... */
typedef struct tcall_words {
    const char *words;
    const uint8_t *means;
} tcall_words;

/* Makes me, a tcall_words, of a list X(word, meaning) ... */
#define TCALL_WORDS(me, list)                                    \
    static const char me##words_[] = list(TCALL_MEANT_TEXT_);    \
    static const uint8_t me##means_[] = {list(TCALL_MEANT_AS_)}; \
    static const tcall_words me[] = {{me##words_, me##means_}};
#define TCALL_MEANT_TEXT_(word, means) word "\0"
#define TCALL_MEANT_AS_(word, means)   means,

/* What of the model's reasoning is kept and goes back with the history. */
enum {
    TCALL_KEEPS_SIGNS_ = 1,
    TCALL_KEEPS_WORDS_ = 2,
    TCALL_KEEPS_LISTS_ = 4,
    TCALL_KEEPS_DATA_ = 8,

    TCALL_REASONING_NONE = 0,
    /* of calls, texts and reasoning */
    TCALL_REASONING_SIGNATURES = 16 | TCALL_KEEPS_SIGNS_,
    /* words, as tcall_provider.member */
    TCALL_REASONING_TEXT = TCALL_KEEPS_WORDS_,
    /* lists of objects, as OpenRouter has them */
    TCALL_REASONING_DETAILS = TCALL_KEEPS_LISTS_,
    /* words, signatures and what is no words */
    TCALL_REASONING_DATA = TCALL_KEEPS_SIGNS_ | TCALL_KEEPS_WORDS_ |
                           TCALL_KEEPS_LISTS_ | TCALL_KEEPS_DATA_,
    /* elements whose type says so, as they came */
    TCALL_REASONING_ELEMENTS = 32 | TCALL_KEEPS_SIGNS_
};

/* What distinguishes a server from its format (tcall_provider.quirks). */
enum {
    TCALL_QUIRK_ASK_REASONING = 1,   /* reasoning has to be asked for */
    TCALL_QUIRK_NINE_LETTER_IDS = 2, /* ids are nine letters and digits: others
                                        are mapped to such */
    TCALL_QUIRK_ANY = 4,             /* "any" is its word for "required" */
    TCALL_QUIRK_WEAK_CHOICE = 8,     /* it does not obey where a tool is named:
                                        then that one is sent alone */
    TCALL_QUIRK_NO_CHOICE = 16,      /* nor anything else about the choice */
    TCALL_QUIRK_NO_PARALLEL = 32,    /* no switch for calls side by side */
    TCALL_QUIRK_SAY_PARALLEL = 64,   /* one call, unless asked for more */
    TCALL_QUIRK_MAX_TOKENS = 128,    /* so named, not max_completion_tokens */
    TCALL_QUIRK_NO_USAGE = 256,      /* no stream_options */
    TCALL_QUIRK_SAY_CONTEXT = 512,   /* it cuts what it was not told to hold */
    TCALL_QUIRK_PLAIN_IDS = 1024,    /* ids are letters, digits, _ and - */
    TCALL_QUIRK_BOUND_REASONING = 2048, /* reasoning is refused where anything
                                           before it has changed */
    TCALL_QUIRK_ORDERED = 4096,  /* text, reasoning and calls of an answer keep
                                    their order; else the text is one, and first
                                  */
    TCALL_QUIRK_NO_FORCE = 8192, /* a choice that forces a call is refused:
                                    where a tool is named, that one is sent
                                    alone */
    TCALL_QUIRK_FREE_REASONING = 16384, /* reasoning may be left out, and is
                                           where there is no room for it */
    TCALL_QUIRK_SHORT_IDS = 32768       /* ids have 40 bytes at most, not 64 */
};

/* Who may follow whom, where a provider minds (tcall_provider.turns). */
enum {
    TCALL_TURNS_ANSWERED = 1 /* not the user a result of a tool: words of the
                                model stand between */
};

/* How requests to a provider are written and its answers read, as data. */
struct tcall_provider {
    const char *name;
    const char *url; /* where it is; "": every user has one of his own */
    /* Of the request, below the URL; "{model}" is replaced by its name. */
    const char *path;
    const char *stream_path; /* NULL: the same */
    const char *key_header;  /* the header that carries the key */
    const char *key_prefix;  /* written before the key: "Bearer " */
    const char *version[2];  /* a further header: name, value; or NULL */
    /* Writes the body of a request: the same bytes each time, as it is called
     * once to count and once to send. Returns out->error. */
    int (*write)(const tcall_provider *provider, tcall_writer *out,
                 const tcall_chat_request *request);
    const void *request;      /* the forms that the formats here are written
                               * with; else what write makes of it */
    const void *answer;       /* what matters in one: a table of TCALL_ROWS */
    const tcall_words *stops; /* reasons to stop; TCALL_STOP_UNKNOWN: it has
                                not stopped yet, and is pending */
    const tcall_words *types; /* of elements and events: TCALL_MEANS_... */
    uint8_t reasoning;        /* TCALL_REASONING_... */
    uint8_t strict;           /* TCALL_STRICT_... */
    uint16_t quirks;          /* TCALL_QUIRK_... */
    /* TCALL_REASONING_TEXT in a format of messages: the member of the message
     * that the words are; NULL: they are a part of its content. */
    const char *member;
    uint8_t turns; /* TCALL_TURNS_... */
};
