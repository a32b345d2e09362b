#pragma once
#include "mcp.h"
#include "shape_text.c"
#include "read.c"
#include "context.c"

/* ==========================================================================
 * >>mcp
 *
 * The message is a shape like any other: its members may come in any order, and
 * nothing but the decoder parses. A hole in it, the arguments, is filled while
 * it is read, with the shape of the tool. What is wrong is looked at when the
 * line has ended, so that the id is known wherever it was.
 */

#if !defined TOOLCALL_NO_MCP && !defined TOOLCALL_NO_SHAPES

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
enum { TCALL_MCP_MODERN_, TCALL_MCP_ABLE_ };
enum {
    TCALL_MCP_INITIALIZE_,
    TCALL_MCP_PING_,
    TCALL_MCP_LIST_,
    TCALL_MCP_CALL_,
    TCALL_MCP_DISCOVER_,
    TCALL_MCP_OTHER_ = 255
};

/* The steps to the arguments in a misfit's way. */
enum { TCALL_MCP_STEPS_ = 2 };

static const char tcall_mcp_none_[] TCALL_FLASH_ = "";
static const char tcall_mcp_jsonrpc_[] TCALL_FLASH_ = "2.0\0";
static const char tcall_mcp_methods_[] TCALL_FLASH_ =
    "initialize\0ping\0tools/list\0tools/call\0server/discover\0";
/* The latest is offered to a client whose version is none of these. */
static const char tcall_mcp_versions_[] TCALL_FLASH_ = "2025-11-25\0"
                                                       "2025-06-18\0"
                                                       "2025-03-26\0"
                                                       "2024-11-05\0";
static const char tcall_mcp_modern_version_[] TCALL_FLASH_ = "2026-07-28";
static const tcall_mcp_message_ tcall_mcp_initial_ TCALL_FLASH_ = {
    {0}, {0}, 0, 0, "", {{0}, {0}, 255, "", {{0}, {0}, ""}}};

/* clang-format off */
static const char tcall_mcp_meta_names_[] TCALL_FLASH_ =
    "io.modelcontextprotocol/protocolVersion\0"
    "io.modelcontextprotocol/clientCapabilities\0";
static const tcall_shape tcall_mcp_meta_members_[] TCALL_FLASH_ = {
    {TCALL_SHAPE_STRING, TCALL_KIND_TEXT, 0, 0, 16,
     offsetof(tcall_mcp_meta_, version), 0, 15, NULL},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL}};
static const tcall_object tcall_mcp_meta_shape_ TCALL_FLASH_ = {
    tcall_mcp_meta_names_, tcall_mcp_none_, tcall_mcp_meta_members_,
    &tcall_mcp_initial_.params.meta, sizeof(tcall_mcp_meta_), 2, true};

static const char tcall_mcp_params_names_[] TCALL_FLASH_ =
    "protocolVersion\0name\0arguments\0cursor\0_meta\0";
static const tcall_shape tcall_mcp_params_members_[] TCALL_FLASH_ = {
    {TCALL_SHAPE_STRING, TCALL_KIND_CHOICE, 0, TCALL_MEMBER_OTHERS, 0,
     offsetof(tcall_mcp_params_, version), 0, 3, tcall_mcp_versions_},
    {TCALL_SHAPE_STRING, TCALL_KIND_TEXT, 0, 0, TOOLCALL_MCP_NAME + 1,
     offsetof(tcall_mcp_params_, name), 0, TOOLCALL_MCP_NAME, NULL},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_HOLE, 0, 0, 0, 0, 0, 0, NULL},
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
     offsetof(tcall_mcp_message_, jsonrpc), 0, 0, tcall_mcp_jsonrpc_},
    {TCALL_SHAPE_STRING | TCALL_SHAPE_INTEGER | TCALL_SHAPE_NUMBER,
     TCALL_KIND_JSON, 0, 0, TOOLCALL_MCP_ID + 1,
     offsetof(tcall_mcp_message_, id), 0, TOOLCALL_MCP_ID, NULL},
    {TCALL_SHAPE_STRING, TCALL_KIND_CHOICE, 0, TCALL_MEMBER_OTHERS, 0,
     offsetof(tcall_mcp_message_, method), 0, 4, tcall_mcp_methods_},
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

/* Returns a row of the table: until the next one, on an AVR. */
static const tcall_tool *tcall_mcp_row_(tcall_mcp *mcp, uint16_t index)
{
#ifdef __AVR__
    TCALL_COPY_(&mcp->row, mcp->desc.tools + index, sizeof mcp->row);
    return &mcp->row;
#else
    return mcp->desc.tools + index;
#endif
}

/* Finds the tool that the message names; tool_count where there is none. */
static void tcall_mcp_find_(tcall_mcp *mcp)
{
    for (mcp->tool = 0; mcp->tool < mcp->desc.tool_count; mcp->tool++) {
        const tcall_tool *tool = tcall_mcp_row_(mcp, mcp->tool);
        if (tcall_mcp_is_(mcp->message.params.name, tool->name))
            return;
    }
}

/* Fills the hole with the shape of the tool that was named; with the stash
 * where none was so far, or the text is wanted. */
static void tcall_mcp_hole_(tcall_decoder *decoder, const tcall_shape **shape,
                            char **out)
{
    static const tcall_shape stash TCALL_FLASH_ = {TCALL_SHAPE_OBJECT,
                                                   TCALL_KIND_JSON,
                                                   0,
                                                   0,
                                                   TOOLCALL_MCP_STASH + 1,
                                                   0,
                                                   0,
                                                   TOOLCALL_MCP_STASH,
                                                   NULL};
    tcall_mcp *mcp = (tcall_mcp *)decoder->user;
    if (mcp->desc.call || !mcp->message.params.name[0]) {
        *shape = &stash;
        *out = mcp->stash;
        return;
    }
    tcall_mcp_find_(mcp);
    if (mcp->tool < mcp->desc.tool_count) {
        const tcall_tool *tool = tcall_mcp_row_(mcp, mcp->tool);
        *shape = tcall_decoder_object_(decoder, tool->shape);
        *out = (char *)mcp->desc.room;
    } else {
        *shape = &tcall_any_;
    }
}

/* ---- answers ---- */

static void tcall_mcp_say_(tcall_mcp *mcp, const char *flash)
{
    tcall_write_flash(&mcp->out, flash);
}
#define TCALL_MCP_SAY_(mcp, literal) \
    tcall_mcp_say_(mcp, TCALL_FLASH_TEXT_(literal))

/* Returns whether the request is of the era that has no initialize: it says its
 * version itself. */
static bool tcall_mcp_modern_(const tcall_mcp *mcp)
{
    return tcall_mcp_came_(mcp->message.params.meta.came_, TCALL_MCP_MODERN_);
}

/* Writes a text that has nothing to escape. */
static void tcall_mcp_quoted_(tcall_mcp *mcp, const char *flash)
{
    tcall_write_char_(&mcp->out, '"');
    tcall_mcp_say_(mcp, flash);
    tcall_write_char_(&mcp->out, '"');
}

/* Begins an answer. The id goes back as it came, so that no client has to know
 * another spelling of it; what could not be kept whole is null. */
static void tcall_mcp_begin_(tcall_mcp *mcp)
{
    TCALL_MCP_SAY_(mcp, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (mcp->message.id[0])
        tcall_write_text(&mcp->out, mcp->message.id);
    else
        TCALL_MCP_SAY_(mcp, "null");
}

/* Writes what this server is called. */
static void tcall_mcp_server_(tcall_mcp *mcp, const char *key)
{
    tcall_mcp_say_(mcp, key);
    TCALL_MCP_SAY_(mcp, "{\"name\":");
    tcall_mcp_quoted_(mcp, mcp->desc.name);
    TCALL_MCP_SAY_(mcp, ",\"version\":");
    tcall_mcp_quoted_(mcp, mcp->desc.version ? mcp->desc.version
                                             : TCALL_FLASH_TEXT_("1"));
    TCALL_MCP_SAY_(mcp, "}");
}

/* Begins a result: in the later era each says that it is whole, and whose. */
static void tcall_mcp_begin_result_(tcall_mcp *mcp)
{
    tcall_mcp_begin_(mcp);
    TCALL_MCP_SAY_(mcp, ",\"result\":{");
    if (!tcall_mcp_modern_(mcp))
        return;
    TCALL_MCP_SAY_(mcp, "\"resultType\":\"complete\",\"_meta\":{");
    tcall_mcp_server_(
        mcp, TCALL_FLASH_TEXT_("\"io.modelcontextprotocol/serverInfo\":"));
    TCALL_MCP_SAY_(mcp, "},");
}

/* Begins the answer that nothing was done; its message follows in quotes. */
static void tcall_mcp_begin_error_(tcall_mcp *mcp, int code)
{
    tcall_mcp_begin_(mcp);
    TCALL_MCP_SAY_(mcp, ",\"error\":{\"code\":");
    tcall_write_int(&mcp->out, code);
    TCALL_MCP_SAY_(mcp, ",\"message\":");
    tcall_write_quote(&mcp->out);
}

/* Ends the message, and with it the answer. */
static void tcall_mcp_end_error_(tcall_mcp *mcp)
{
    tcall_write_unquote(&mcp->out);
    TCALL_MCP_SAY_(mcp, "}}");
}

/* Refuses the request in words from flash. */
static void tcall_mcp_refuse_(tcall_mcp *mcp, int code, const char *flash)
{
    tcall_mcp_begin_error_(mcp, code);
    tcall_mcp_say_(mcp, flash);
    tcall_mcp_end_error_(mcp);
}

/* Refuses the request in the words of the message's shape; a stash that was too
 * small has words of its own, for what helps is another order. */
static void tcall_mcp_refuse_misfit_(tcall_mcp *mcp, int code)
{
    const tcall_misfit *misfit = &mcp->at_work.decoder.misfits[0];
    bool stash = misfit->code == TCALL_MISFIT_ROOM &&
                 misfit->steps == TCALL_MCP_STEPS_ &&
                 misfit->trail[1] == TCALL_MCP_ARGUMENTS_;
    tcall_mcp_begin_error_(mcp, code);
    if (stash && mcp->desc.call)
        TCALL_MCP_SAY_(mcp, "the arguments are too long");
    else if (stash)
        TCALL_MCP_SAY_(mcp, "long arguments must come after the name");
    else
        tcall_write_misfit(&mcp->out, misfit, &tcall_mcp_shape_, 0);
    tcall_mcp_end_error_(mcp);
}

/* Says which version to come back with. */
static void tcall_mcp_refuse_version_(tcall_mcp *mcp)
{
    tcall_mcp_begin_error_(mcp, -32022);
    TCALL_MCP_SAY_(mcp, "unsupported protocol version");
    tcall_write_unquote(&mcp->out);
    TCALL_MCP_SAY_(mcp, ",\"data\":{\"supported\":[");
    tcall_mcp_quoted_(mcp, tcall_mcp_modern_version_);
    TCALL_MCP_SAY_(mcp, "],\"requested\":");
    tcall_write_quote(&mcp->out);
    tcall_write_text(&mcp->out, mcp->message.params.meta.version);
    tcall_write_unquote(&mcp->out);
    TCALL_MCP_SAY_(mcp, "}}}");
}

/* ---- results ---- */

/* How long clients may keep what does not change. */
static void tcall_mcp_keep_(tcall_mcp *mcp)
{
    if (tcall_mcp_modern_(mcp))
        TCALL_MCP_SAY_(mcp, ",\"ttlMs\":3600000,\"cacheScope\":\"public\"");
}

/* Agrees to the client's version, or offers the latest of its era. */
static void tcall_mcp_initialize_(tcall_mcp *mcp)
{
    uint8_t version = mcp->message.params.version;
    TCALL_MCP_SAY_(mcp, "\"protocolVersion\":");
    tcall_mcp_quoted_(
        mcp, tcall_word_at_(tcall_mcp_versions_, version == 255 ? 0 : version));
    TCALL_MCP_SAY_(mcp, ",\"capabilities\":{\"tools\":{}}");
    tcall_mcp_server_(mcp, TCALL_FLASH_TEXT_(",\"serverInfo\":"));
}

/* Names both eras: a client of the other one then knows to begin anew. */
static void tcall_mcp_discover_(tcall_mcp *mcp)
{
    TCALL_MCP_SAY_(mcp, "\"supportedVersions\":[");
    tcall_mcp_quoted_(mcp, tcall_mcp_modern_version_);
    TCALL_MCP_SAY_(mcp, ",");
    tcall_mcp_quoted_(mcp, tcall_mcp_versions_);
    TCALL_MCP_SAY_(mcp, "],\"capabilities\":{\"tools\":{}}");
    tcall_mcp_keep_(mcp);
}

/* Schema text may be laid out; in a line it must not be. */
static void tcall_mcp_schema_(tcall_mcp *mcp, const tcall_tool *tool)
{
    const char *text =
        tool->provider_schema ? tool->provider_schema : tool->parameters;
    if (tool->shape) {
        tcall_write_shape(&mcp->out, tool->shape);
        return;
    }
    if (!text)
        text = TCALL_FLASH_TEXT_("{\"type\":\"object\"}");
    for (; TCALL_BYTE_(text); text++)
        tcall_write_char_(&mcp->out,
                          TCALL_BYTE_(text) < ' ' ? ' ' : TCALL_BYTE_(text));
}

/* A string from flash, with its escapes. */
static void tcall_mcp_string_(tcall_mcp *mcp, const char *key, const char *text)
{
    tcall_mcp_say_(mcp, key);
    tcall_write_quote(&mcp->out);
    if (text)
        tcall_mcp_say_(mcp, text);
    tcall_write_unquote(&mcp->out);
}

/* Writes one tool. That it only looks at things is said, since clients else
 * take it for one that destroys. */
static void tcall_mcp_list_tool_(tcall_mcp *mcp, const tcall_tool *tool)
{
    const uint8_t harmless = TCALL_READ | TCALL_NETWORK;
    tcall_mcp_string_(mcp, TCALL_FLASH_TEXT_("{\"name\":"), tool->name);
    if (tool->title)
        tcall_mcp_string_(mcp, TCALL_FLASH_TEXT_(",\"title\":"), tool->title);
    tcall_mcp_string_(mcp, TCALL_FLASH_TEXT_(",\"description\":"),
                      tool->description);
    TCALL_MCP_SAY_(mcp, ",\"inputSchema\":");
    mcp->out.last = 0; /* no comma is due */
    tcall_mcp_schema_(mcp, tool);
    if (tool->permissions && !(tool->permissions & ~harmless))
        TCALL_MCP_SAY_(mcp, ",\"annotations\":{\"readOnlyHint\":true}");
    TCALL_MCP_SAY_(mcp, "}");
}

/* Writes the tools that may be called, in the order of the table. A cursor was
 * never given, so there is but one page. */
static void tcall_mcp_list_(tcall_mcp *mcp)
{
    bool first = true;
    uint16_t i;
    TCALL_MCP_SAY_(mcp, "\"tools\":[");
    for (i = 0; i < mcp->desc.tool_count; i++) {
        const tcall_tool *tool = tcall_mcp_row_(mcp, i);
        if (!tcall_enabled(tool, mcp->desc.allow))
            continue;
        if (!first)
            TCALL_MCP_SAY_(mcp, ",");
        tcall_mcp_list_tool_(mcp, tool);
        first = false;
    }
    TCALL_MCP_SAY_(mcp, "]");
    tcall_mcp_keep_(mcp);
}

/* ---- calls ---- */

/* Reads arguments that came before the name of their tool, or not at all. What
 * was wrong with the message was looked at before this. */
static void tcall_mcp_read_late_(tcall_mcp *mcp, const tcall_tool *tool)
{
    tcall_decoder *decoder = &mcp->at_work.decoder;
    tcall_decoder_init(decoder, tool->shape, mcp->desc.room);
    tcall_decoder_feed(decoder, mcp->stash, strlen(mcp->stash));
    tcall_decoder_end(decoder);
}

/* Writes what is wrong with the arguments, for the model to mend. The first
 * `from` steps lead from the message to the arguments. */
static int tcall_mcp_misfits_(tcall_mcp *mcp, const tcall_tool *tool,
                              uint8_t from)
{
    const tcall_decoder *decoder = &mcp->at_work.decoder;
    uint8_t i;
    for (i = 0; i < TOOLCALL_MAX_FAULTS && i < decoder->misfit_count; i++) {
        if (i)
            TCALL_MCP_SAY_(mcp, "\n");
        tcall_write_misfit(&mcp->out, &decoder->misfits[i], tool->shape, from);
    }
    return TCALL_E_INVALID;
}

/* From here on the decoder is not needed, and the context has its place. */
static int tcall_mcp_run_(tcall_mcp *mcp, const tcall_tool *tool)
{
    tcall_json none = {NULL, NULL};
    tcall_ctx *cx = &mcp->at_work.cx;
    if (tool->confirm &&
        !(mcp->desc.approve &&
          mcp->desc.approve(mcp->desc.user, tool, mcp->desc.room))) {
        TCALL_MCP_SAY_(mcp, "a person has to confirm this call, and ");
        if (mcp->desc.approve)
            TCALL_MCP_SAY_(mcp, "did not");
        else
            TCALL_MCP_SAY_(mcp, "nobody can be asked here");
        return TCALL_E_APPROVAL;
    }
    memset(cx, 0, sizeof *cx);
    cx->bound = mcp->desc.room;
    cx->user = tool->user;
    return tool->run(cx, none, &mcp->out);
}

/* Makes the call; what is written is the text of the result. */
static int tcall_mcp_make_(tcall_mcp *mcp, const tcall_tool *tool)
{
    bool late = mcp->stash[0] != '\0';
    if (!tcall_enabled(tool, mcp->desc.allow)) {
        TCALL_SAY(&mcp->out,
                  "permission was denied: this tool is not allowed here");
        return TCALL_E_DENIED;
    }
    if (!tcall_mcp_came_(mcp->message.params.came_, TCALL_MCP_ARGUMENTS_)) {
        TCALL_COPY_(mcp->stash, TCALL_FLASH_TEXT_("{}"), 3);
        late = true;
    }
    if (mcp->desc.call)
        return mcp->desc.call(mcp->desc.user, tool, tcall_str_of(mcp->stash),
                              &mcp->out);
    if (late)
        tcall_mcp_read_late_(mcp, tool);
    if (mcp->at_work.decoder.error)
        return tcall_mcp_misfits_(mcp, tool, late ? 0 : TCALL_MCP_STEPS_);
    return tcall_mcp_run_(mcp, tool);
}

/* Answers a call. The tool writes into the text while it is sent, so whether it
 * failed comes after it. */
static void tcall_mcp_call_(tcall_mcp *mcp)
{
    const tcall_tool *tool = tcall_mcp_row_(mcp, mcp->tool);
    size_t before;
    int error;
    TCALL_MCP_SAY_(mcp, "\"content\":[{\"type\":\"text\",\"text\":");
    mcp->out.last = 0;
    tcall_write_quote(&mcp->out);
    before = mcp->out.len;
    error = tcall_mcp_make_(mcp, tool);
    if (error && mcp->out.len == before)
        TCALL_MCP_SAY_(mcp, "the tool failed");
    tcall_write_unquote(&mcp->out);
    TCALL_MCP_SAY_(mcp, "}]");
    if (error)
        TCALL_MCP_SAY_(mcp, ",\"isError\":true");
}

/* ---- lines ---- */

/* Returns whether all misfits that are known are within the arguments. */
static bool tcall_mcp_only_arguments_(const tcall_decoder *decoder)
{
    uint8_t i;
    for (i = 0; i < TOOLCALL_MAX_FAULTS && i < decoder->misfit_count; i++) {
        const tcall_misfit *misfit = &decoder->misfits[i];
        if (misfit->steps <= TCALL_MCP_STEPS_ ||
            misfit->trail[0] != TCALL_MCP_PARAMS_ ||
            misfit->trail[1] != TCALL_MCP_ARGUMENTS_)
            return false;
    }
    return true;
}

/* Refuses what is no request. Returns whether that, or nothing, is the answer
 * to the line. */
static bool tcall_mcp_no_request_(tcall_mcp *mcp)
{
    const uint8_t *came = mcp->message.came_;
    const tcall_decoder *decoder = &mcp->at_work.decoder;
    if (decoder->error && decoder->error != TCALL_E_INVALID) {
        mcp->message.id[0] = '\0';
        tcall_mcp_refuse_(mcp, -32700, TCALL_FLASH_TEXT_("this is not JSON"));
    } else if (!tcall_mcp_came_(came, TCALL_MCP_METHOD_) &&
               (tcall_mcp_came_(came, TCALL_MCP_RESULT_) ||
                tcall_mcp_came_(came, TCALL_MCP_ERROR_))) {
        /* a response, though nothing was asked */
    } else if (decoder->error &&
               (decoder->misfits[0].steps == 0 ||
                decoder->misfits[0].trail[0] != TCALL_MCP_PARAMS_)) {
        tcall_mcp_refuse_misfit_(mcp, -32600);
    } else if (!tcall_mcp_came_(came, TCALL_MCP_METHOD_) ||
               !tcall_mcp_came_(came, TCALL_MCP_JSONRPC_)) {
        tcall_mcp_refuse_(mcp, -32600,
                          TCALL_FLASH_TEXT_("this is no JSON-RPC 2.0 message"));
    } else { /* a notification is not answered, whatever it says */
        return !tcall_mcp_came_(came, TCALL_MCP_ID_);
    }
    return true;
}

/* Returns why the request has an answer other than a result, a text in flash,
 * or NULL. */
static const char *tcall_mcp_fault_(tcall_mcp *mcp)
{
    const tcall_mcp_params_ *params = &mcp->message.params;
    uint8_t method = mcp->message.method;
    if (method == TCALL_MCP_DISCOVER_ && !tcall_mcp_modern_(mcp))
        return TCALL_FLASH_TEXT_("_meta has no protocol version");
    if (tcall_mcp_modern_(mcp) &&
        !tcall_mcp_came_(params->meta.came_, TCALL_MCP_ABLE_))
        return TCALL_FLASH_TEXT_("_meta has no client capabilities");
    if (method == TCALL_MCP_LIST_ &&
        tcall_mcp_came_(params->given_, TCALL_MCP_CURSOR_))
        return TCALL_FLASH_TEXT_("there is no such cursor");
    if (method == TCALL_MCP_CALL_ && mcp->tool == mcp->desc.tool_count)
        return TCALL_FLASH_TEXT_("there is no such tool");
    return NULL;
}

/* Does what was asked. */
static void tcall_mcp_result_(tcall_mcp *mcp)
{
    tcall_mcp_begin_result_(mcp);
    switch (mcp->message.method) {
    case TCALL_MCP_INITIALIZE_: tcall_mcp_initialize_(mcp); break;
    case TCALL_MCP_LIST_: tcall_mcp_list_(mcp); break;
    case TCALL_MCP_CALL_: tcall_mcp_call_(mcp); break;
    case TCALL_MCP_DISCOVER_: tcall_mcp_discover_(mcp); break;
    default: break; /* ping: nothing */
    }
    TCALL_MCP_SAY_(mcp, "}}");
}

/* Answers a request. A method that is not known comes first: nobody has said
 * what its parameters may be. Misfits within the arguments of a tool are for
 * the model; all others are for the client. */
static void tcall_mcp_request_(tcall_mcp *mcp)
{
    const tcall_decoder *decoder = &mcp->at_work.decoder;
    uint8_t method = mcp->message.method;
    const char *fault;
    bool modern = tcall_mcp_modern_(mcp);
    tcall_mcp_find_(mcp);
    if (method == TCALL_MCP_OTHER_ || (modern && method <= TCALL_MCP_PING_)) {
        tcall_mcp_refuse_(mcp, -32601,
                          TCALL_FLASH_TEXT_("there is no such method"));
    } else if (decoder->error && !(method == TCALL_MCP_CALL_ &&
                                   tcall_mcp_only_arguments_(decoder))) {
        tcall_mcp_refuse_misfit_(mcp, -32602);
    } else if (modern && !tcall_mcp_is_(mcp->message.params.meta.version,
                                        tcall_mcp_modern_version_)) {
        tcall_mcp_refuse_version_(mcp);
    } else if ((fault = tcall_mcp_fault_(mcp)) != NULL) {
        tcall_mcp_refuse_(mcp, -32602, fault);
    } else {
        tcall_mcp_result_(mcp);
    }
}

/* Prepares for the next line. */
static void tcall_mcp_next_(tcall_mcp *mcp)
{
    tcall_decoder *decoder = &mcp->at_work.decoder;
    TCALL_COPY_(&mcp->message, &tcall_mcp_initial_, sizeof mcp->message);
    mcp->stash[0] = '\0';
    mcp->blank = true;
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
    tcall_decoder_end(&mcp->at_work.decoder);
    if (!mcp->blank && !tcall_mcp_no_request_(mcp))
        tcall_mcp_request_(mcp);
    if (mcp->out.len)
        TCALL_MCP_SAY_(mcp, "\n");
    error = tcall_writer_flush(&mcp->out);
    tcall_mcp_next_(mcp);
    return error;
}

int tcall_mcp_feed(tcall_mcp *mcp, const char *bytes, size_t len)
{
    int error = TCALL_OK;
    size_t end;
    while (len) {
        for (end = 0; end < len && bytes[end] != '\n'; end++)
            if ((unsigned char)bytes[end] > ' ')
                mcp->blank = false;
        tcall_decoder_feed(&mcp->at_work.decoder, bytes, end);
        if (end == len)
            break;
        if (error == TCALL_OK)
            error = tcall_mcp_line_(mcp);
        else
            tcall_mcp_line_(mcp);
        bytes += end + 1;
        len -= end + 1;
    }
    return error;
}

void tcall_mcp_poison(tcall_mcp *mcp)
{
    mcp->blank = false;
    tcall_decoder_poison(&mcp->at_work.decoder);
}

int tcall_mcp_init(tcall_mcp *mcp, const tcall_mcp_desc *desc)
{
    uint16_t i;
    memset(mcp, 0, sizeof *mcp);
    mcp->desc = *desc;
    tcall_mcp_next_(mcp);
    for (i = 0; i < desc->tool_count; i++) {
        const tcall_tool *tool = tcall_mcp_row_(mcp, i);
        size_t len = 0;
        while (len <= TOOLCALL_MCP_NAME && TCALL_BYTE_(tool->name + len))
            len++;
        if (len > TOOLCALL_MCP_NAME || (!tool->shape && !desc->call))
            return TCALL_E_TOOL;
        if (tool->shape && !desc->call) {
            TCALL_FETCH_(tcall_object, object, tool->shape);
            if (object->size > desc->room_size)
                return TCALL_E_MEMORY;
        }
    }
    return TCALL_OK;
}
#endif /* TOOLCALL_NO_MCP */
