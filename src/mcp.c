#pragma once
#include "mcp.h"
#include "say.c"
#include "read.c"
#include "invoke.c"

/* ==========================================================================
 * >>mcp
 *
 * The message is a shape like any other: its members may come in any order, and
 * nothing but the decoder parses. A hole in it, the arguments, is filled while
 * it is read, with the shape of the tool. What is wrong is looked at when the
 * line has ended, so that the id is known wherever it was.
 */

/* ---- the message ---- */

/* Indices of members, in the order of their names below. */
enum {
    TCALL_MCP_JSONRPC_,
    TCALL_MCP_ID_,
    TCALL_MCP_METHOD_,
    TCALL_MCP_PARAMS_,
    TCALL_MCP_RESULT_,
    TCALL_MCP_ERROR_
};
enum {
    TCALL_MCP_VERSION_,
    TCALL_MCP_NAME_,
    TCALL_MCP_ARGUMENTS_,
    TCALL_MCP_CURSOR_,
    TCALL_MCP_META_
};
enum { TCALL_MCP_MODERN_, TCALL_MCP_ABLE_, TCALL_MCP_TOKEN_ };
#define TCALL_MCP_LATEST_TEXT_ "2025-11-25"
#define TCALL_MCP_MODERN_TEXT_ "2026-07-28"

/* X(NAME, method, result): a method, and the members of its result.
 * discover names both eras: a client of the other one then begins anew. */
#define TCALL_MCP_METHODS_(X)                                            \
    X(INITIALIZE, "initialize",                                          \
      "\"protocolVersion\":\"%v\",\"capabilities\":{\"tools\":{}},"      \
      "\"serverInfo\":%W")                                               \
    X(PING, "ping", "")                                                  \
    X(LIST, "tools/list", "\"tools\":[%l]%K")                            \
    X(CALL, "tools/call", "\"content\":[{\"type\":\"text\",\"text\":%c") \
    X(DISCOVER, "server/discover",                                       \
      "\"supportedVersions\":[\"" TCALL_MCP_MODERN_TEXT_                 \
      "\",\"" TCALL_MCP_LATEST_TEXT_ "\"],\"capabilities\":{\"tools\":{}}%K")

enum {
#define TCALL_X_(NAME, method, result) TCALL_MCP_##NAME##_,
    TCALL_MCP_METHODS_(TCALL_X_)
#undef TCALL_X_
        TCALL_MCP_METHOD_COUNT_,
    TCALL_MCP_OTHER_ = 255
};

/* How a line begins that is none: with a byte order mark in UTF-8, or with what
 * the driver lost. */
#define TCALL_MCP_MARK_ '\xEF'
#define TCALL_MCP_LOST_ '\xFF'

/* The steps to the arguments in a misfit's way. */
enum { TCALL_MCP_STEPS_ = 2 };

static const char tcall_mcp_none_[] TCALL_FLASH_ = "";
static const char tcall_mcp_jsonrpc_[] TCALL_FLASH_ = "2.0\0";
static const char tcall_mcp_methods_[] TCALL_FLASH_ =
#define TCALL_X_(NAME, method, result) method "\0"
    TCALL_MCP_METHODS_(TCALL_X_);
#undef TCALL_X_
/* The latest is offered to a client whose version is none of these. */
static const char tcall_mcp_versions_[] TCALL_FLASH_ =
    TCALL_MCP_LATEST_TEXT_ "\0002025-06-18\0002025-03-26\0002024-11-05\0";
static const char tcall_mcp_modern_version_[] TCALL_FLASH_ =
    TCALL_MCP_MODERN_TEXT_;
static const tcall_mcp_message_ tcall_mcp_initial_ TCALL_FLASH_ = {
    {0}, {0}, 0, {{0}, {0}, 255, {{0}, {0}, "", ""}, ""}, ""};

/* clang-format off */
static const char tcall_mcp_meta_names_[] TCALL_FLASH_ =
    "io.modelcontextprotocol/protocolVersion\0"
    "io.modelcontextprotocol/clientCapabilities\0"
    "progressToken\0";
static const tcall_shape tcall_mcp_meta_members_[] TCALL_FLASH_ = {
    {TCALL_SHAPE_STRING, TCALL_KIND_TEXT, 0, 0, 16,
     offsetof(tcall_mcp_meta_, version), 0, 15, NULL},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL},
    {TCALL_SHAPE_STRING | TCALL_SHAPE_INTEGER | TCALL_SHAPE_NUMBER,
     TOOLCALL_MCP_TOKEN ? TCALL_KIND_JSON : TCALL_KIND_ANY, 0, TCALL_MEMBER_UNSAID, TOOLCALL_MCP_TOKEN + 1,
     TOOLCALL_MCP_TOKEN ? offsetof(tcall_mcp_meta_, token) : TCALL_NOWHERE, 0, TOOLCALL_MCP_TOKEN, NULL}};
static const tcall_object tcall_mcp_meta_shape_ TCALL_FLASH_ = {
    tcall_mcp_meta_names_, tcall_mcp_none_, tcall_mcp_meta_members_,
    &tcall_mcp_initial_.params.meta, sizeof(tcall_mcp_meta_), 3, true};

static const char tcall_mcp_params_names_[] TCALL_FLASH_ =
    "protocolVersion\0name\0arguments\0cursor\0_meta\0";
static const tcall_shape tcall_mcp_params_members_[] TCALL_FLASH_ = {
    {TCALL_SHAPE_STRING, TCALL_KIND_CHOICE, 0, TCALL_MEMBER_OTHERS, 0,
     offsetof(tcall_mcp_params_, version), 0, 3, tcall_mcp_versions_},
    {TCALL_SHAPE_STRING, TCALL_KIND_TEXT, 0, 0, TOOLCALL_MCP_NAME + 1,
     offsetof(tcall_mcp_params_, name), 0, TOOLCALL_MCP_NAME, NULL},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_HOLE, 0, 0, TOOLCALL_MCP_STASH + 1, 0, 0, 0, NULL},
    {TCALL_SHAPE_STRING | TCALL_SHAPE_NULL, TCALL_KIND_TEXT, 0, 0, 0xFFFF,
     TCALL_NOWHERE, 0, INT32_MAX, NULL},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_OBJECT, 0, 0, 0,
     offsetof(tcall_mcp_params_, meta), 0, 0, &tcall_mcp_meta_shape_}};
static const tcall_object tcall_mcp_params_shape_ TCALL_FLASH_ = {
    tcall_mcp_params_names_, tcall_mcp_none_, tcall_mcp_params_members_,
    &tcall_mcp_initial_.params, sizeof(tcall_mcp_params_), 5, true};

static const char tcall_mcp_names_[] TCALL_FLASH_ =
    "jsonrpc\0id\0method\0params\0result\0error\0";
static const tcall_shape tcall_mcp_members_[] TCALL_FLASH_ = {
    {TCALL_SHAPE_STRING, TCALL_KIND_CHOICE, 0, 0, 0,
     TCALL_NOWHERE, 0, 0, tcall_mcp_jsonrpc_},
    {TCALL_SHAPE_STRING | TCALL_SHAPE_INTEGER | TCALL_SHAPE_NUMBER,
     TCALL_KIND_JSON, 0, TCALL_MEMBER_UNSAID, TOOLCALL_MCP_ID + 1,
     offsetof(tcall_mcp_message_, id), 0, TOOLCALL_MCP_ID, NULL},
    {TCALL_SHAPE_STRING, TCALL_KIND_CHOICE, 0, TCALL_MEMBER_OTHERS, 0,
     offsetof(tcall_mcp_message_, method), 0, TCALL_MCP_METHOD_COUNT_ - 1, tcall_mcp_methods_},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_OBJECT, 0, 0, 0,
     offsetof(tcall_mcp_message_, params), 0, 0, &tcall_mcp_params_shape_},
    {TCALL_SHAPE_ANY, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL},
    {TCALL_SHAPE_ANY, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL}};
static const tcall_object tcall_mcp_shape_ TCALL_FLASH_ = {
    tcall_mcp_names_, tcall_mcp_none_, tcall_mcp_members_,
    &tcall_mcp_initial_, sizeof(tcall_mcp_message_), 6, true};
/* clang-format on */

/* Returns whether a member is in one of the sets that its struct begins with.
 */
static bool tcall_mcp_came_(const uint8_t *set, int member)
{
    return TCALL_BIT_OF_(set, member) != 0;
}

/* Returns whether a text is the same as one in flash. */
static bool tcall_mcp_is_(const char *text, const char *flash)
{
    while (*text && *text == TCALL_BYTE_(flash)) {
        text++;
        flash++;
    }
    return *text == TCALL_BYTE_(flash);
}

/* Rows of tools, and all that they name, are in flash. */
static const tcall_object *tcall_mcp_shape_of_(const tcall_tool *tool)
{
    return TCALL_FETCH_POINTER_(const char *, &tool->parameters.text)
               ? NULL
               : TCALL_FETCH_POINTER_(const tcall_object *,
                                      &tool->parameters.made);
}

static bool tcall_mcp_allowed_(const tcall_mcp *mcp, const tcall_tool *tool)
{
    uint8_t needed = TCALL_FETCH_8_(&tool->permissions);
    unsigned missing = ~(unsigned)mcp->desc.allow;
    return !(missing & (needed ? needed : (unsigned)TCALL_EVERYTHING));
}

/* Finds the tool that the message names; NULL where there is none. */
static void tcall_mcp_find_(tcall_mcp *mcp)
{
    const tcall_tool *tool = mcp->desc.tools;
    size_t left = mcp->desc.tool_count;
    for (; left &&
           !tcall_mcp_is_(mcp->message.params.name,
                          TCALL_FETCH_POINTER_(const char *, &tool->name));
         left--)
        tool++;
    mcp->tool = left ? tool : NULL;
}

/* Fills the hole with the shape of the tool that was named; with the stash
 * where none was so far, or the text is wanted. Where no arguments come, the
 * stash is what they are then: an empty object. */
static void tcall_mcp_hole_(tcall_decoder *decoder, const tcall_shape **shape,
                            char **out)
{
    static const tcall_shape stash TCALL_FLASH_ = {TCALL_SHAPE_OBJECT,
                                                   TCALL_KIND_JSON,
                                                   0,
                                                   TCALL_MEMBER_UNSAID,
                                                   TOOLCALL_MCP_STASH + 1,
                                                   0,
                                                   0,
                                                   TOOLCALL_MCP_STASH,
                                                   NULL};
    tcall_mcp *mcp = (tcall_mcp *)decoder->user;
    if (mcp->way || !mcp->message.params.name[0]) {
        *shape = &stash;
        *out = mcp->at_work.reading.stash;
        return;
    }
    mcp->at_work.reading.stash[0] = '\0';
    tcall_mcp_find_(mcp);
    *shape = &tcall_any_;
    if (mcp->tool) {
        *shape = tcall_decoder_object_(decoder, tcall_mcp_shape_of_(mcp->tool));
        *out = (char *)mcp->desc.room;
    }
}

/* ---- answers ----
 *
 * Texts of answers are in flash. In them % and a letter stand for something: a
 * small one of the server or of the tool at hand, a capital for a phrase, in
 * which others may stand.
 */

static void tcall_mcp_part_(void *user, char letter);

static void tcall_mcp_write_(tcall_mcp *mcp, const char *flash)
{
    tcall_write_parts_(&mcp->out, flash, tcall_mcp_part_, mcp);
}

/* Returns whether the request is of the era that has no initialize: it says its
 * version itself. */
static bool tcall_mcp_modern_(const tcall_mcp *mcp)
{
    return tcall_mcp_came_(mcp->message.params.meta.came_, TCALL_MCP_MODERN_);
}

/* Returns whether the tool only looks at things: clients take it for one that
 * destroys where nothing says so. */
static bool tcall_mcp_only_reads_(const tcall_tool *tool)
{
    uint8_t permissions = TCALL_FETCH_8_(&tool->permissions);
    return permissions && !(permissions & ~(TCALL_READ | TCALL_NETWORK));
}

/* Returns the text in flash that a letter stands for; NULL: there is none. In
 * the later era each result says that it is whole, and whose, and how long
 * clients may keep what does not change. */
static const char *tcall_mcp_text_(const tcall_mcp *mcp, char letter)
{
    const tcall_tool *tool = mcp->tool;
    uint8_t version = mcp->message.params.version;
    bool modern = tcall_mcp_modern_(mcp);
    switch (letter) {
    case 'a': return mcp->desc.name;
    case 'b':
        return mcp->desc.version ? mcp->desc.version : TCALL_FLASH_TEXT_("1");
    case 'v': /* the client's version, or the latest of its era */
        return tcall_word_at_(tcall_mcp_versions_,
                              version == 255 ? 0 : version);
    case 'n': return TCALL_FETCH_POINTER_(const char *, &tool->name);
    case 'u': return TCALL_FETCH_POINTER_(const char *, &tool->title);
    case 'd': return TCALL_FETCH_POINTER_(const char *, &tool->description);
    case 'J': return TCALL_FLASH_TEXT_("{\"jsonrpc\":\"2.0\",\"id\":%i,");
    case 'W': return TCALL_FLASH_TEXT_("{\"name\":\"%a\",\"version\":\"%b\"}");
    case 'R':
        return modern ? TCALL_FLASH_TEXT_(
                            "\"result\":{\"resultType\":\"complete\",\"_meta\":"
                            "{\"io.modelcontextprotocol/serverInfo\":%W},")
                      : TCALL_FLASH_TEXT_("\"result\":{");
    case 'K':
        return modern ? TCALL_FLASH_TEXT_(
                            ",\"ttlMs\":3600000,\"cacheScope\":\"public\"")
                      : tcall_mcp_none_;
    case 'T':
        return TCALL_FETCH_POINTER_(const char *, &tool->title)
                   ? TCALL_FLASH_TEXT_(",\"title\":\"%u\"")
                   : tcall_mcp_none_;
    case 'H':
        return tcall_mcp_only_reads_(tool)
                   ? TCALL_FLASH_TEXT_(
                         ",\"annotations\":{\"readOnlyHint\":true}")
                   : tcall_mcp_none_;
    default: return NULL;
    }
}

/* Writes the tools that may be called, in the order of the table. A cursor was
 * never given, so there is but one page. */
static void tcall_mcp_list_(tcall_mcp *mcp)
{
    const char *item = TCALL_FLASH_TEXT_(
        ",{\"name\":\"%n\"%T,\"description\":\"%d\",\"inputSchema\":%s%H}");
    uint8_t first = 1; /* without the comma */
    uint16_t i;
    for (i = 0; i < mcp->desc.tool_count; i++) {
        mcp->tool = mcp->desc.tools + i;
        if (mcp->way ? !mcp->way->offers(mcp, mcp->tool)
                     : !tcall_mcp_allowed_(mcp, mcp->tool))
            continue;
        tcall_mcp_write_(mcp, item + first);
        first = 0;
    }
}

static void tcall_mcp_call_(tcall_mcp *mcp);

/* Writes what a letter stands for; a text within the quotes of a string. */
static void tcall_mcp_part_(void *user, char letter)
{
    tcall_mcp *mcp = (tcall_mcp *)user;
    tcall_writer *out = &mcp->out;
    const char *text = tcall_mcp_text_(mcp, letter);
    if (text && letter < 'a') {
        tcall_mcp_write_(mcp, text);
        return;
    }
    out->quoted++;
    if (text)
        tcall_write_flash(out, text);
    else if (letter == 'm') /* the first misfit of the message */
        tcall_write_misfit(out, mcp->at_work.reading.decoder.misfits,
                           &tcall_mcp_shape_, 0);
    out->quoted--;
    if (letter == 'i' && !mcp->message.id[0])
        TCALL_SAY(out, "null");
    else if (letter == 'i') /* no client has to know another spelling of it */
        tcall_write_text(out, mcp->message.id);
    else if (letter == 'q')
        tcall_write_string(out, mcp->message.params.meta.version);
    else if (letter == 's' && mcp->way)
        mcp->way->schema(mcp);
    else if (letter == 's')
        tcall_write_shape(out, tcall_mcp_shape_of_(mcp->tool));
    else if (letter == 'l')
        tcall_mcp_list_(mcp);
    else if (letter == 'c')
        tcall_mcp_call_(mcp);
}

/* ---- calls ---- */

/* Reads arguments that came before the name of their tool, or not at all. */
static void tcall_mcp_read_late_(tcall_mcp *mcp)
{
    tcall_decoder *decoder = &mcp->at_work.reading.decoder;
    tcall_decoder_init(decoder, tcall_mcp_shape_of_(mcp->tool), mcp->desc.room);
    tcall_decoder_feed(decoder, mcp->at_work.reading.stash,
                       strlen(mcp->at_work.reading.stash));
    tcall_decoder_end(decoder);
}

/* Writes what is wrong with the arguments, for the model to mend. The first
 * `from` steps lead from the message to the arguments. */
static int tcall_mcp_misfits_(tcall_mcp *mcp, uint8_t from)
{
    const tcall_decoder *decoder = &mcp->at_work.reading.decoder;
    uint8_t i;
    for (i = 0; i < TOOLCALL_MAX_FAULTS && i < decoder->misfit_count; i++) {
        const tcall_misfit *misfit = &decoder->misfits[i];
        bool within = misfit->steps > from; /* else the whole is wrong */
        if (i)
            tcall_write_char_(&mcp->out, '\n');
        tcall_write_misfit(&mcp->out, misfit,
                           within ? tcall_mcp_shape_of_(mcp->tool)
                                  : &tcall_mcp_shape_,
                           within ? from : 0);
    }
    return TCALL_E_INVALID;
}

/* From here on the decoder is not needed, and the context has its place. */
static int tcall_mcp_run_(tcall_mcp *mcp, const tcall_tool *tool)
{
    tcall_json none = {NULL, NULL};
    tcall_ctx *cx = &mcp->at_work.cx;
    int error;
    if (TCALL_FETCH_8_(&tool->confirm) &&
        !(mcp->desc.approve &&
          mcp->desc.approve(mcp->desc.user, tool, mcp->desc.room))) {
        TCALL_SAY(&mcp->out, "a person has to confirm this call, and ");
        tcall_write_flash(&mcp->out,
                          mcp->desc.approve
                              ? TCALL_FLASH_TEXT_("did not")
                              : TCALL_FLASH_TEXT_("nobody can be asked here"));
        return TCALL_E_APPROVAL;
    }
    memset(cx, 0, sizeof *cx);
    cx->bound = mcp->desc.room;
    cx->user = TCALL_FETCH_POINTER_(void *, &tool->user);
    error = TCALL_FETCH_POINTER_(tcall_run, &tool->run)(cx, none, &mcp->out);
    return cx->service_missing ? TCALL_E_SERVICE : error;
}

/* A call that a registry makes, or has made. */
typedef struct tcall_mcp_made_ {
    tcall_mcp *mcp;
    uint16_t told; /* of its progress */
    int error;
    tcall_str text;
} tcall_mcp_made_;

/* Makes the call; what is written is the text of the result. */
static int tcall_mcp_make_(tcall_mcp *mcp)
{
    tcall_decoder *decoder = &mcp->at_work.reading.decoder;
    uint8_t from = TCALL_MCP_STEPS_;
    if (mcp->made) {
        tcall_write_bytes(&mcp->out, mcp->made->text.ptr, mcp->made->text.len);
        return mcp->made->error;
    }
    if (!tcall_mcp_allowed_(mcp, mcp->tool)) {
        TCALL_SAY(&mcp->out,
                  "permission was denied: this tool is not allowed here");
        return TCALL_E_DENIED;
    }
    if (mcp->at_work.reading.stash[0] && !decoder->error) {
        tcall_mcp_read_late_(mcp);
        from = 0;
    }
    if (decoder->error)
        return tcall_mcp_misfits_(mcp, from);
    return tcall_mcp_run_(mcp, mcp->tool);
}

/* Writes why a tool failed that wrote nothing: what tcall_abort was given. */
static void tcall_mcp_failed_(tcall_mcp *mcp)
{
    const tcall_failure *failure = &mcp->at_work.cx.failure;
    if (failure->reason.len)
        tcall_write_bytes(&mcp->out, failure->reason.ptr, failure->reason.len);
    else
        TCALL_SAY(&mcp->out, "the tool failed");
}

/* Answers a call. The tool writes into the text while it is sent, so whether it
 * failed comes after it. */
static void tcall_mcp_call_(tcall_mcp *mcp)
{
    size_t before;
    int error;
    tcall_write_quote(&mcp->out);
    before = mcp->out.len;
    error = tcall_mcp_make_(mcp);
    if (error && mcp->out.len == before)
        tcall_mcp_failed_(mcp);
    tcall_write_unquote(&mcp->out);
    TCALL_SAY(&mcp->out, "}]");
    if (error)
        TCALL_SAY(&mcp->out, ",\"isError\":true");
}

/* ---- lines ---- */

/* Returns whether all misfits that are known are of the arguments. */
static bool tcall_mcp_only_arguments_(const tcall_decoder *decoder)
{
    uint8_t i;
    for (i = 0; i < TOOLCALL_MAX_FAULTS && i < decoder->misfit_count; i++) {
        const tcall_misfit *misfit = &decoder->misfits[i];
        if (misfit->steps < TCALL_MCP_STEPS_ ||
            misfit->trail[0] != TCALL_MCP_PARAMS_ ||
            misfit->trail[1] != TCALL_MCP_ARGUMENTS_)
            return false;
    }
    return true;
}

/* X(NAME, when, code, message): why a request has no result, the first
 * that is true, in the words of tcall_mcp_which_; without a code nothing is
 * said. A method that is not known comes before its parameters: nobody has said
 * what they may be. Misfits within the arguments of a tool are for the model;
 * all others are for the client. A notification is not answered, whatever it
 * says, nor is a response, though nothing was asked. The codes are those of
 * JSON-RPC, but for a version that is not known. %m is what the shape of the
 * message says of its first misfit.
 */
#define TCALL_MCP_REFUSALS_(X)                                                 \
    X(DEEP, is->error == TCALL_E_DEPTH, -32600, "this is nested too deeply")   \
    X(BOM, broken && mcp->first == TCALL_MCP_MARK_, -32700,                    \
      "this begins with a byte order mark")                                    \
    X(NO_JSON, broken, -32700, "this is not JSON")                             \
    X(RESPONSE, !has(METHOD) && (has(RESULT) || has(ERROR)), 0, "")            \
    X(MEMBER,                                                                  \
      is->error && (!is->misfits[0].steps ||                                   \
                    is->misfits[0].trail[0] != TCALL_MCP_PARAMS_),             \
      -32600, "%m")                                                            \
    X(NO_RPC, !has(METHOD) || !has(JSONRPC), -32600,                           \
      "this is no JSON-RPC 2.0 message")                                       \
    X(NOTIFICATION, !has(ID), 0, "")                                           \
    X(NO_METHOD,                                                               \
      method == TCALL_MCP_OTHER_ || (modern && method <= TCALL_MCP_PING_),     \
      -32601, "there is no such method")                                       \
    X(BAD_PARAMS,                                                              \
      is->error &&                                                             \
          !(method == TCALL_MCP_CALL_ && tcall_mcp_only_arguments_(is)),       \
      -32602, "%m")                                                            \
    X(BAD_VERSION,                                                             \
      modern &&                                                                \
          !tcall_mcp_is_(params->meta.version, tcall_mcp_modern_version_),     \
      -32022, "unsupported protocol version")                                  \
    X(NO_VERSION, !modern && method == TCALL_MCP_DISCOVER_, -32602,            \
      "_meta has no protocol version")                                         \
    X(NO_CLIENT,                                                               \
      modern && !tcall_mcp_came_(params->meta.came_, TCALL_MCP_ABLE_), -32602, \
      "_meta has no client capabilities")                                      \
    X(NO_CURSOR,                                                               \
      method == TCALL_MCP_LIST_ &&                                             \
          tcall_mcp_came_(params->given_, TCALL_MCP_CURSOR_),                  \
      -32602, "there is no such cursor")                                       \
    X(NAMELESS,                                                                \
      method == TCALL_MCP_CALL_ &&                                             \
          !tcall_mcp_came_(params->came_, TCALL_MCP_NAME_),                    \
      -32602, "params has no name of a tool")                                  \
    X(NO_TOOL, method == TCALL_MCP_CALL_ && !mcp->tool, -32602,                \
      "there is no such tool")

/* Answers: results by their method, and then refusals. */
enum {
    TCALL_MCP_LAST_RESULT_ = TCALL_MCP_METHOD_COUNT_ - 1,
#define TCALL_X_(NAME, when, code, message) TCALL_MCP_##NAME##_,
    TCALL_MCP_REFUSALS_(TCALL_X_)
#undef TCALL_X_
};
static const char tcall_mcp_answers_[] TCALL_FLASH_ =
#define TCALL_X_(NAME, method, result) result "\0"
    TCALL_MCP_METHODS_(TCALL_X_)
#undef TCALL_X_
#define TCALL_X_(NAME, when, code, message) message "\0"
        TCALL_MCP_REFUSALS_(TCALL_X_);
#undef TCALL_X_
static const int16_t tcall_mcp_codes_[] TCALL_FLASH_ = {
#define TCALL_X_(NAME, when, code, message) code,
    TCALL_MCP_REFUSALS_(TCALL_X_)
#undef TCALL_X_
};

/* Returns which answer the message has. */
static uint8_t tcall_mcp_which_(const tcall_mcp *mcp)
{
    const tcall_decoder *is = &mcp->at_work.reading.decoder;
    const tcall_mcp_params_ *params = &mcp->message.params;
    const uint8_t method = mcp->message.method;
    const bool modern = tcall_mcp_modern_(mcp);
    const bool broken = is->error && is->error != TCALL_E_INVALID;
#define has(member) tcall_mcp_came_(mcp->message.came_, TCALL_MCP_##member##_)
#define TCALL_X_(NAME, when, code, message) \
    (when) ? (uint8_t)TCALL_MCP_##NAME##_:
    return TCALL_MCP_REFUSALS_(TCALL_X_) method;
#undef TCALL_X_
#undef has
}

/* Writes the answer of a message that is refused. Of a version it says which
 * one to come back with. An id that is not of a whole message is no id. */
static void tcall_mcp_refuse_(tcall_mcp *mcp, uint8_t answer)
{
    tcall_writer *out = &mcp->out;
    const int16_t code = (int16_t)TCALL_FETCH_16_(
        &tcall_mcp_codes_[answer - TCALL_MCP_METHOD_COUNT_]);
    if (!code)
        return;
    if (answer == TCALL_MCP_BOM_ || answer == TCALL_MCP_NO_JSON_)
        mcp->message.id[0] = '\0';
    tcall_mcp_write_(mcp, TCALL_FLASH_TEXT_("%J\"error\":{\"code\":"));
    tcall_write_int(out, code);
    TCALL_SAY(out, ",\"message\":\"");
    tcall_mcp_write_(mcp, tcall_word_at_(tcall_mcp_answers_, answer));
    TCALL_SAY(out, "\"");
    if (answer == TCALL_MCP_BAD_VERSION_)
        tcall_mcp_write_(mcp, TCALL_FLASH_TEXT_(",\"data\":{\"supported\":"
                                                "[\"" TCALL_MCP_MODERN_TEXT_
                                                "\"],\"requested\":%q}"));
    TCALL_SAY(out, "}}");
}

/* Writes a result. */
static void tcall_mcp_result_(tcall_mcp *mcp, uint8_t answer)
{
    tcall_mcp_write_(mcp, TCALL_FLASH_TEXT_("%J%R"));
    tcall_mcp_write_(mcp, tcall_word_at_(tcall_mcp_answers_, answer));
    TCALL_SAY(&mcp->out, "}}");
}

/* Answers the message, if it wants that. */
static void tcall_mcp_answer_(tcall_mcp *mcp)
{
    uint8_t answer;
    if (mcp->way)
        mcp->way->begin(mcp);
    tcall_mcp_find_(mcp);
    answer = tcall_mcp_which_(mcp);
    if (answer == TCALL_MCP_CALL_ && mcp->way &&
        !mcp->at_work.reading.decoder.error)
        mcp->way->call(mcp);
    else if (answer < TCALL_MCP_METHOD_COUNT_)
        tcall_mcp_result_(mcp, answer);
    else
        tcall_mcp_refuse_(mcp, answer);
}

/* Prepares for the next line. */
static void tcall_mcp_next_(tcall_mcp *mcp)
{
    tcall_decoder *decoder = &mcp->at_work.reading.decoder;
    TCALL_COPY_(&mcp->message, &tcall_mcp_initial_, sizeof mcp->message);
    TCALL_COPY_(mcp->at_work.reading.stash, TCALL_FLASH_TEXT_("{}"), 3);
    mcp->first = '\0';
    tcall_decoder_init(decoder, &tcall_mcp_shape_, &mcp->message);
    decoder->hole = tcall_mcp_hole_;
    decoder->user = mcp;
    tcall_writer_init(&mcp->out, mcp->piece, sizeof mcp->piece);
    tcall_writer_sink(&mcp->out, mcp->desc.sink, mcp->desc.user);
}

/* Answers the line that has ended. Returns TCALL_OK or the error of the
 * sink. */
static int tcall_mcp_line_(tcall_mcp *mcp)
{
    int error;
    tcall_decoder_end(&mcp->at_work.reading.decoder);
    if (mcp->first)
        tcall_mcp_answer_(mcp);
    if (mcp->out.len)
        tcall_write_char_(&mcp->out, '\n');
    error = tcall_writer_flush(&mcp->out);
    tcall_mcp_next_(mcp);
    return error;
}

int tcall_mcp_feed(tcall_mcp *mcp, const char *bytes, size_t len)
{
    int error = TCALL_OK, failed;
    size_t end;
    while (len) {
        for (end = 0; end < len && bytes[end] != '\n'; end++)
            if (!mcp->first && (unsigned char)bytes[end] > ' ')
                mcp->first = bytes[end];
        /* with the end of the line, which ends a number */
        tcall_decoder_feed(&mcp->at_work.reading.decoder, bytes,
                           end + (end < len));
        if (end == len)
            break;
        failed = tcall_mcp_line_(mcp);
        error = error ? error : failed;
        bytes += end + 1;
        len -= end + 1;
    }
    return error;
}

void tcall_mcp_poison(tcall_mcp *mcp)
{
    mcp->first = TCALL_MCP_LOST_;
    tcall_decoder_poison(&mcp->at_work.reading.decoder);
}

/* Returns what is wrong with a row, or TCALL_OK. */
static int tcall_mcp_check_(const tcall_mcp *mcp, const tcall_tool *tool)
{
    const tcall_object *shape = tcall_mcp_shape_of_(tool);
    const char *name = TCALL_FETCH_POINTER_(const char *, &tool->name);
    size_t len = 0;
    while (len <= TOOLCALL_MCP_NAME && TCALL_BYTE_(name + len))
        len++;
    if (len > TOOLCALL_MCP_NAME || (!shape && !mcp->way))
        return TCALL_E_TOOL;
    if (!mcp->way && TCALL_FETCH_16_(&shape->size) > mcp->desc.room_size)
        return TCALL_E_MEMORY;
    return TCALL_OK;
}

/* Prepares a server for the first line. */
static int tcall_mcp_start_(tcall_mcp *mcp, const tcall_mcp_desc *desc,
                            const tcall_mcp_way_ *way)
{
    int error = desc->sink && desc->name ? TCALL_OK : TCALL_E_USAGE;
    uint16_t i;
    memset(mcp, 0, sizeof *mcp);
    mcp->desc = *desc;
    mcp->way = way;
    if (way)
        way->begin(mcp);
    tcall_mcp_next_(mcp);
    for (i = 0; i < mcp->desc.tool_count && !error; i++)
        error = tcall_mcp_check_(mcp, mcp->desc.tools + i);
    return error;
}

int tcall_mcp_init(tcall_mcp *mcp, const tcall_mcp_desc *desc)
{
    return tcall_mcp_start_(mcp, desc, NULL);
}

/* ---- the tools of a registry ---- */

/* Tools may have come and gone; of a registry that cannot be used there are
 * none. */
static void tcall_mcp_refresh_(tcall_mcp *mcp)
{
    const tcall *tc = mcp->desc.tc;
    mcp->desc.tools = tc ? tc->desc.tools : NULL;
    mcp->desc.tool_count = (uint16_t)(tc ? tc->desc.tool_count : 0);
}

static bool tcall_mcp_offers_(const tcall_mcp *mcp, const tcall_tool *tool)
{
    return !tcall_withheld_(mcp->desc.tc, tool);
}

/* Writes the schema of a tool. Its text may be laid out; in a line it must not
 * be. */
static void tcall_mcp_schema_(tcall_mcp *mcp)
{
    const tcall_tool *tool = mcp->tool;
    const tcall_object *shape = tcall_mcp_shape_of_(tool);
    const char *text = tool->provider_schema.text;
    if (shape) {
        tcall_write_shape(&mcp->out, shape);
        return;
    }
    if (!text)
        text = tool->parameters.text;
    if (!text)
        text = "{\"type\":\"object\"}";
    for (; *text; text++)
        tcall_write_char_(&mcp->out, (unsigned char)*text < ' ' ? ' ' : *text);
}

/* Tells the client what the tool that it called is doing. */
static void tcall_mcp_progress_(void *user, const tcall_event *event)
{
    tcall_mcp_made_ *made = (tcall_mcp_made_ *)user;
    tcall_writer *out = &made->mcp->out;
    TCALL_SAY(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                   "progress\",\"params\":{\"progressToken\":");
    tcall_write_text(out, made->mcp->message.params.meta.token);
    TCALL_SAY(out, ",\"progress\":");
    tcall_write_int(out, ++made->told);
    TCALL_SAY(out, ",\"message\":");
    tcall_write_str(out, event->text);
    TCALL_SAY(out, "}}\n");
    tcall_writer_flush(out);
}

/* Makes the call that was asked for, and answers. The result lies in the block:
 * while the tool works its progress is sent. */
static void tcall_mcp_enter_(tcall_mcp *mcp)
{
    tcall *tc = mcp->desc.tc;
    size_t left = tcall_block_free_(&tc->block), call = sizeof(tcall_call);
    size_t room = left > call ? (left - call) / 4 * 3 : 0;
    tcall_loan_ loan;
    tcall_mcp_made_ made = {mcp, 0, TCALL_OK, {NULL, 0}};
    tcall_listener listener = {tcall_mcp_progress_, NULL,
                               (uint32_t)1 << TCALL_EVENT_PROGRESS, NULL};
    tcall_writer out;
    listener.user = &made;
    tcall_writer_init(&out, tcall_block_gap_(&tc->block), room);
    loan = tcall_block_lend_(&tc->block, room);
    if (mcp->message.params.meta.token[0])
        tcall_subscribe(tc, &listener);
    made.error =
        tcall_execute(tc, tcall_str_of(mcp->message.params.name),
                      tcall_str_of(mcp->at_work.reading.stash), &out, NULL);
    tcall_unsubscribe(tc, &listener);
    made.text = tcall_slice_(out.buf, out.fill);
    if (made.error < 0 && !out.fill) /* there was no room for the call */
        made.text = tcall_str_of(tcall_error_text(made.error));
    mcp->made = &made;
    tcall_mcp_result_(mcp, TCALL_MCP_CALL_);
    mcp->made = NULL;
    tcall_block_unlend_(&tc->block, loan, out.fill);
}

int tcall_mcp_serve(tcall_mcp *mcp, const tcall_mcp_desc *desc)
{
    static const tcall_mcp_way_ way = {tcall_mcp_refresh_, tcall_mcp_offers_,
                                       tcall_mcp_schema_, tcall_mcp_enter_};
    int started = tcall_mcp_start_(mcp, desc, &way);
    int error = desc->tc ? tcall_usable_(desc->tc) : TCALL_E_USAGE;
    return error < 0 ? error : started;
}
