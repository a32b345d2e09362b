#pragma once
#include "strict.h"
#include "chat.h"
#include "scan.h"

/* ==========================================================================
 * >>provider: what all wire formats share
 *
 * A provider is data: an outline of the paths that matter in its answers, the
 * words it uses, and a function that writes its requests. One reader serves
 * all of them: it takes bytes as they arrive, in any pieces, whole answers or
 * streams, and keeps the text and the calls only.
 */

typedef enum tcall_stop {
    TCALL_STOP_UNKNOWN,
    TCALL_STOP_END,     /* the model is done */
    TCALL_STOP_CALLS,   /* it wants results */
    TCALL_STOP_LENGTH,  /* cut off: the last call must not run */
    TCALL_STOP_REFUSED, /* content was refused or filtered */
    TCALL_STOP_OTHER,   /* an error, where nothing else was said */
    /* Private, what else a word of a provider can mean: */
    TCALL_STOP_FINAL_, /* the answer is complete */
    TCALL_STOP_NOT_YET_,
    TCALL_WORD_CALL_,   /* element: a call */
    TCALL_WORD_OPAQUE_, /* element: returned as it is */
    TCALL_WORD_TEXT_,   /* element, or piece: text */
    TCALL_WORD_PIECE_,  /* piece: of arguments */
    TCALL_WORD_ALL_,    /* piece: all the arguments */
    TCALL_WORD_NEW_,    /* event: an element that is not complete yet */
    TCALL_WORD_DONE_,   /* event: an element that is */
    TCALL_WORD_OPEN_    /* event: an answer begins that will say its end */
} tcall_stop;

typedef enum tcall_choice {
    TCALL_CHOICE_AUTO,
    TCALL_CHOICE_NONE,
    TCALL_CHOICE_REQUIRED,
    TCALL_CHOICE_ONE /* the tool that choice_name names */
} tcall_choice;

/* Variables of descriptions: a table that ends with a row without a name. Text
 * may change between turns, not within one. */
typedef struct tcall_variable {
    const char *name; /* "workspace" for ${workspace} */
    const char *text;
} tcall_variable;

/* For tcall_ask.describe, user: the variables. Writes the description with
 * ${name} replaced, in one pass: what a variable holds is not looked at again.
 * An unknown name stays as it is written. */
TCALL_API int tcall_describe(tcall_writer *w, const tcall_tool *tool,
                             const void *user);

/* All that a request is made of. */
typedef struct tcall_ask {
    const char *model;
    const char *system; /* instructions; may be NULL */
    const tcall_chat *chat;
    const tcall_tool *tools;
    size_t tool_count;
    /* Tools to send, by index; NULL: all of them. */
    const uint16_t *picks;
    size_t pick_count;
    unsigned allow; /* tools that need more are not sent */
    tcall_choice choice;
    const char *choice_name;
    int max_tokens; /* of the answer; default 1024 where one must be given */
    bool stream;
    bool no_parallel; /* at most one call in an answer */
    /* tcall_view: tools that ask for it are sent as strict, and Ollama gets
     * what it knows of a schema. NULL: schemas are sent as they are. */
    bool (*view)(tcall_writer *w, const tcall_tool *tool, tcall_strict *left);
    /* tcall_describe, or your own: writes a tool's description as text, for
     * one that depends on where the program runs. It is asked more than once
     * for a request and has to write the same each time. NULL: as it is. */
    int (*describe)(tcall_writer *w, const tcall_tool *tool, const void *user);
    const void *describe_user; /* of tcall_describe: its tcall_variables */
} tcall_ask;

/* What an outline row of a provider leads to (tcall_path.field). A call is
 * read as an element that has some of id, name, arguments and index, whole or
 * as a piece of one that came before. */
enum {
    TCALL_AT_CALL = 1, /* the object that is a call or a piece of one */
    TCALL_AT_ID,       /* the first that is not empty counts */
    TCALL_AT_NAME,     /* likewise */
    TCALL_AT_SIGN,     /* likewise, what is opaque of an element */
    TCALL_AT_ARGS,     /* string: a piece; object (raw): whole */
    TCALL_AT_ALL,      /* all the arguments, which may come repeatedly */
    TCALL_AT_KEEP,     /* a piece of what is opaque */
    TCALL_AT_KEEP_2,   /* the same in the provider's second form */
    TCALL_AT_SAID,     /* text, unless its element is void */
    TCALL_AT_PIECE,    /* what it is, the event's word tells */
    TCALL_AT_VOID,     /* true, or an object: the element does not count */
    TCALL_AT_TEXT,     /* a piece of the model's text */
    TCALL_AT_CHOICE,   /* the object that is one of several answers */
    TCALL_AT_WHOLE,    /* something only whole answers have */
    TCALL_AT_RESTART,  /* an object: everything before is void */
    TCALL_AT_ERROR,    /* an object, or the words, of an error */
    TCALL_AT_MESSAGE,  /* its words */
    /* From here on short values, first numbers: */
    TCALL_AT_INDEX,  /* of the call */
    TCALL_AT_NUMBER, /* of the choice */
    TCALL_AT_INPUT,  /* tokens read */
    TCALL_AT_OUTPUT, /* tokens written */
    /* Words, whose meaning is in the table: */
    TCALL_AT_TYPE,  /* of the element */
    TCALL_AT_EVENT, /* what this document is */
    TCALL_AT_HINT,  /* as STOP, only to be believed if it says cut */
    TCALL_AT_STOP,  /* why it stopped; not empty: it is complete */
    /* Other words: */
    TCALL_AT_WAIT,       /* how long to wait: "1.5s" */
    TCALL_AT_ERROR_TYPE, /* type of the error */
    TCALL_AT_ERROR_CODE  /* its code, which tells more unless it is a number */
};

/* What a provider's words mean: these stand before each of them, with the
 * values of tcall_stop, and NUL behind it. */
#define TCALL_SAYS_END     "\1"
#define TCALL_SAYS_CALLS   "\2"
#define TCALL_SAYS_LENGTH  "\3"
#define TCALL_SAYS_REFUSED "\4"
#define TCALL_SAYS_FINAL   "\6"
#define TCALL_SAYS_NOT_YET "\7"
#define TCALL_SAYS_CALL    "\10"
#define TCALL_SAYS_OPAQUE  "\11"
#define TCALL_SAYS_TEXT    "\12"
#define TCALL_SAYS_PIECE   "\13"
#define TCALL_SAYS_ALL     "\14"
#define TCALL_SAYS_NEW     "\15"
#define TCALL_SAYS_DONE    "\16"
#define TCALL_SAYS_OPEN    "\17"

/* In what a server differs from its format (tcall_provider.traits). */
enum {
    TCALL_TRAIT_ASK_OPAQUE = 2,  /* what is opaque has to be asked for */
    TCALL_TRAIT_ANY = 4,         /* "any" is its word for "required" */
    TCALL_TRAIT_WEAK_CHOICE = 8, /* to name a tool or none is not obeyed: then
                                    that one is sent alone, or none is */
    TCALL_TRAIT_NO_CHOICE = 16,  /* nor is anything else about the choice */
    TCALL_TRAIT_NO_STRICT = 32,
    TCALL_TRAIT_NO_PARALLEL = 64,   /* no switch for calls side by side */
    TCALL_TRAIT_SAY_PARALLEL = 128, /* one call, unless told otherwise */
    TCALL_TRAIT_MAX_TOKENS = 256,   /* so named, not max_completion_tokens */
    TCALL_TRAIT_NO_USAGE = 512      /* no stream_options */
};

struct tcall_reader;
typedef struct tcall_provider tcall_provider;
struct tcall_provider {
    const char *name;
    const char *url; /* where it is; "": every user has one of his own */
    /* Of the request, below the URL; "{model}" stands for its name. */
    const char *path;
    const char *stream_path;  /* NULL: the same */
    const char *key_header;   /* carries the key */
    const char *key_prefix;   /* before the key: "Bearer " */
    const char *version[2];   /* a further header: name, value */
    const tcall_paths *paths; /* where things stand in an answer */
    const char *words;        /* reasons to stop, types: TCALL_SAYS_... */
    int (*write)(const tcall_provider *p, tcall_writer *w,
                 const tcall_ask *ask);
    /* The id of a call as this server takes it, in 9 bytes at to or as it is;
     * the same for the same id. NULL: any id will do. */
    tcall_str (*id)(char *to, tcall_str id);
    /* tcall_opaque: reasoning is kept and goes back as it came. NULL: it does
     * not. */
    void (*more)(struct tcall_reader *r, int what, tcall_str s);
    /* Writes the reasoning that came in its second form, in pieces, as a value.
     * NULL: only the first form goes back. */
    int (*join)(tcall_writer *w, tcall_str pieces);
    uint16_t traits;
};

#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_openai;    /* Chat Completions */
extern const tcall_provider tcall_anthropic; /* Messages */
extern const tcall_provider tcall_ollama;    /* its own /api/chat */
extern const tcall_provider tcall_responses; /* of OpenAI */
extern const tcall_provider tcall_gemini;    /* generateContent */
#endif

/* Servers that speak the format of OpenAI, each with what is known of it:
 * X(name, url, path, key header, before the key, id, more, join, traits). Each
 * is a tcall_provider: tcall_groq, tcall_mistral ... A copy with another url,
 * path or trait serves what is not here. */
#define TCALL_SERVERS(X)                                                   \
    X(groq, "https://api.groq.com", "/openai/v1/chat/completions",         \
      "Authorization", "Bearer ", NULL, NULL, NULL, 0)                     \
    X(mistral, "https://api.mistral.ai", "/v1/chat/completions",           \
      "Authorization", "Bearer ", tcall_id_of_nine, NULL, NULL,            \
      TCALL_TRAIT_ANY | TCALL_TRAIT_MAX_TOKENS | TCALL_TRAIT_NO_USAGE)     \
    X(deepseek, "https://api.deepseek.com", "/chat/completions",           \
      "Authorization", "Bearer ", NULL, tcall_opaque, NULL,                \
      TCALL_TRAIT_NO_STRICT | TCALL_TRAIT_NO_PARALLEL |                    \
          TCALL_TRAIT_MAX_TOKENS)                                          \
    X(openrouter, "https://openrouter.ai", "/api/v1/chat/completions",     \
      "Authorization", "Bearer ", NULL, tcall_opaque, tcall_join_details,  \
      TCALL_TRAIT_MAX_TOKENS)                                              \
    X(xai, "https://api.x.ai", "/v1/chat/completions", "Authorization",    \
      "Bearer ", NULL, NULL, NULL, 0)                                      \
    X(azure, "", "/openai/v1/chat/completions", "api-key", "", NULL, NULL, \
      NULL, 0)                                                             \
    X(llamacpp, "http://127.0.0.1:8080", "/v1/chat/completions",           \
      "Authorization", "Bearer ", NULL, NULL, NULL,                        \
      TCALL_TRAIT_WEAK_CHOICE | TCALL_TRAIT_NO_STRICT |                    \
          TCALL_TRAIT_SAY_PARALLEL | TCALL_TRAIT_MAX_TOKENS)               \
    X(lmstudio, "http://127.0.0.1:1234", "/v1/chat/completions",           \
      "Authorization", "Bearer ", NULL, NULL, NULL,                        \
      TCALL_TRAIT_WEAK_CHOICE | TCALL_TRAIT_NO_STRICT |                    \
          TCALL_TRAIT_NO_PARALLEL | TCALL_TRAIT_MAX_TOKENS)                \
    X(ollama_v1, "http://127.0.0.1:11434", "/v1/chat/completions",         \
      "Authorization", "Bearer ", NULL, NULL, NULL,                        \
      TCALL_TRAIT_WEAK_CHOICE | TCALL_TRAIT_NO_CHOICE |                    \
          TCALL_TRAIT_NO_STRICT | TCALL_TRAIT_NO_PARALLEL |                \
          TCALL_TRAIT_MAX_TOKENS)

#ifndef TOOLCALL_STATIC
#define TCALL_X_(name, url, path, header, prefix, id, more, join, traits) \
    extern const tcall_provider tcall_##name;
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_
#endif

/* Nine letters and digits, all that Mistral takes: other ids are mapped to
 * such, each always to the same. */
TCALL_API tcall_str tcall_id_of_nine(char *to, tcall_str id);
/* reasoning_details as OpenRouter streams them, in arrays: what came in pieces
 * is put together, because a signature is of the whole. All else is as it
 * came. */
TCALL_API int tcall_join_details(tcall_writer *w, tcall_str pieces);
/* For tcall_provider.more; nobody else calls it. */
TCALL_API void tcall_opaque(struct tcall_reader *r, int what, tcall_str s);
/* The provider or server of this name ("groq"), NULL: there is none. Links
 * all of them. */
TCALL_API const tcall_provider *tcall_provider_named(const char *name);
