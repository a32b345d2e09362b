#pragma once
#include "say.h"
#include "invoke.h"

/* ==========================================================================
 * >>mcp: a server of the Model Context Protocol on a line of bytes
 *
 * Whoever drives a UART, a USB port or stdio feeds what comes and gets what is
 * to be sent: JSON-RPC 2.0, one message a line. Clients of both eras are
 * answered, those that begin with initialize (2024-11-05 to 2025-11-25) and
 * those that do not (2026-07-28).
 *
 *     #define BOARD(TOOL, me)                                             \
 *         TOOL(me, led, TCALL_ACTUATE, false, "Switches the LED")         \
 *         TOOL(me, relay, TCALL_ACTUATE, true, "Switches a relay")
 *     TCALL_TOOLS(board, BOARD)
 *
 * makes the rows board_tools of tools with the shapes led_shape, relay_shape
 * and the functions led_run, relay_run, and union board_room, which has room
 * for the arguments of each. Columns: name, permissions, confirm, description.
 * TCALL_TOOLS_AS is for names that C does not allow, with one more column:
 * TOOL(me, get_weather, "get-weather", TCALL_READ, false, "Looks outside").
 * On an AVR rows have to be made so, for they and their texts are in flash,
 * also where one is given to desc.approve; elsewhere any row with a shape will
 * do, but brings with its TCALL_STRUCT all that a registry reads it by. For a
 * registry rows are written so.
 *
 * A line is one message. A batch, which 2025-03-26 knows, is refused as a whole
 * by one error: a client that waits for it does not wait in vain.
 *
 * No message is held: arguments go into their struct as they come, and a tool
 * runs when its line has ended and all of it was right. It runs once: nothing
 * waits. What it writes is sent at once; after an error, what it wrote are the
 * reasons, and if it wrote nothing that of tcall_abort. Of the context it sees
 * bound, the struct, and user; there is no registry and no call: functions of
 * the context that need one answer TCALL_E_USAGE, or as if there was nothing.
 * tcall_mcp_serve serves the tools of a registry, which have all of it.
 *
 * Refused arguments are a result with isError, for the model to read. So is a
 * call of a tool whose permissions are not given, or that a person has to
 * confirm where nobody can be asked.
 */

/* Bytes that are collected before they are sent, 1 or more: on USB they share a
 * packet, a UART takes single ones as well. */
#ifndef TOOLCALL_MCP_PIECE
#define TOOLCALL_MCP_PIECE 32
#endif

/* The longest name of a tool; the longest id of a request, as JSON: 128 bytes
 * in quotes, also where all of it is escaped with \u, and one that is longer is
 * answered with an error and null for its id; the longest text, as JSON without
 * white space, of arguments that come before the name of their tool, as some
 * clients write them: longer ones are refused; the longest token of progress,
 * as JSON, 0: nobody is told of it. */
#ifndef TOOLCALL_MCP_NAME
#define TOOLCALL_MCP_NAME 64
#endif
#ifndef TOOLCALL_MCP_ID
#define TOOLCALL_MCP_ID 386
#endif
#ifndef TOOLCALL_MCP_STASH
#define TOOLCALL_MCP_STASH 96
#endif
#ifndef TOOLCALL_MCP_TOKEN
#define TOOLCALL_MCP_TOKEN 64
#endif

/* A server: zero is the default of whatever is left out. It needs a name and a
 * sink. */
typedef struct tcall_mcp_desc {
    const char *name;    /* of the server; this and version are in flash */
    const char *version; /* default: "1" */
    const tcall_tool *tools;
    uint16_t tool_count;
    uint8_t allow; /* permissions given: TCALL_READ | ...; default none */
    void *room;    /* for the struct of any tool: union board_room */
    uint16_t room_size;
    /* Asks a person whether the tool may run. NULL: nobody can be asked. */
    bool (*approve)(void *user, const tcall_tool *tool, const void *args);
    tcall *tc;       /* the registry, of tcall_mcp_serve only */
    tcall_sink sink; /* takes what is to be sent, all of it */
    void *user;      /* for all of the above */
} tcall_mcp_desc;

/* Private: what is kept of a message. Each begins as the struct of a shape; the
 * long texts come last, for an AVR reaches 64 bytes of a struct at once. */
typedef struct tcall_mcp_meta_ {
    uint8_t given_[1], came_[1];
    char version[16];
    char token[TOOLCALL_MCP_TOKEN + 1]; /* of progress */
} tcall_mcp_meta_;

typedef struct tcall_mcp_params_ {
    uint8_t given_[1], came_[1];
    uint8_t version; /* index, or 255 */
    tcall_mcp_meta_ meta;
    char name[TOOLCALL_MCP_NAME + 1];
} tcall_mcp_params_;

typedef struct tcall_mcp_message_ {
    uint8_t given_[1], came_[1];
    uint8_t method; /* index, or 255 */
    tcall_mcp_params_ params;
    char id[TOOLCALL_MCP_ID + 1];
} tcall_mcp_message_;

struct tcall_mcp;
struct tcall_mcp_made_;

/* Private: how a registry is served. */
typedef struct tcall_mcp_way_ {
    void (*begin)(struct tcall_mcp *mcp);
    bool (*offers)(const struct tcall_mcp *mcp, const tcall_tool *tool);
    void (*schema)(struct tcall_mcp *mcp); /* of mcp->tool */
    void (*call)(struct tcall_mcp *mcp);
} tcall_mcp_way_;

/* The state of a server. */
typedef struct tcall_mcp {
    tcall_mcp_desc desc;
    /* private */
    const tcall_mcp_way_ *way;          /* NULL: without a registry */
    const struct tcall_mcp_made_ *made; /* the call that has its result */
    tcall_writer out;
    char first;             /* byte of the line but white space; 0: none yet */
    const tcall_tool *tool; /* that is called or listed; NULL: none */
    tcall_mcp_message_ message;
    char piece[TOOLCALL_MCP_PIECE];
    union {
        struct {
            tcall_decoder decoder;
            char stash[TOOLCALL_MCP_STASH + 1];
        } reading;
        tcall_ctx cx; /* while a tool runs, when all is read */
    } at_work;
} tcall_mcp;

/* Prepares a server. Returns TCALL_OK; TCALL_E_USAGE without desc.name or
 * desc.sink; TCALL_E_TOOL when a row has no shape or too long a name;
 * TCALL_E_MEMORY when desc.room is too small for the struct of one. */
TCALL_API int tcall_mcp_init(tcall_mcp *mcp, const tcall_mcp_desc *desc);
/* The same for the tools of a registry, desc->tc, which makes the calls as
 * tcall_execute does: a tool has all of its context and may answer
 * TCALL_E_AGAIN; permissions, approvals, hooks, events and limits are the
 * registry's; tools need no shape. tcall_progress is sent to a client that asks
 * for it. Of desc only name, version, sink and user count beside. Arguments are
 * kept as text, at most TOOLCALL_MCP_STASH bytes of it, and the result in the
 * block: it may take three quarters of what is free there. Returns TCALL_OK,
 * TCALL_E_USAGE, why the registry cannot be used, or TCALL_E_TOOL when a tool
 * has too long a name. */
TCALL_API int tcall_mcp_serve(tcall_mcp *mcp, const tcall_mcp_desc *desc);
/* Takes bytes of the line in any pieces, answers and runs tools. Returns
 * TCALL_OK, or the error of the sink. */
TCALL_API int tcall_mcp_feed(tcall_mcp *mcp, const char *bytes, size_t len);
/* Refuses the message that is coming in, whatever else comes of it: the driver
 * lost a byte, or got a wrong one. JSON cannot show that: 60 may become 6. */
TCALL_API void tcall_mcp_poison(tcall_mcp *mcp);

/* clang-format off */
/* The rows me_tools, in flash; with _AS a tool's name need be none of C. */
#define TCALL_TOOLS(me, TOOLS)                                                \
    TCALL_TOOLS_MAKE_(me, TOOLS, TCALL_TOOL_TEXTS_, TCALL_TOOL_ROW_,          \
                      TCALL_TOOL_ROOM_)
#define TCALL_TOOLS_AS(me, TOOLS)                                             \
    TCALL_TOOLS_MAKE_(me, TOOLS, TCALL_TOOL_AS_TEXTS_, TCALL_TOOL_AS_ROW_,    \
                      TCALL_TOOL_AS_ROOM_)
#define TCALL_TOOLS_MAKE_(me, TOOLS, TEXTS, ROW, ROOM)                        \
    TOOLS(TEXTS, me)                                                          \
    static const tcall_tool me##_tools[] TCALL_FLASH_ = {TOOLS(ROW, me)};     \
    union me##_room { TOOLS(ROOM, me) };
#define TCALL_TOOL_TEXTS_(me, name, permissions, confirm, text)               \
    TCALL_TOOL_AS_TEXTS_(me, name, #name, permissions, confirm, text)
#define TCALL_TOOL_ROW_(me, name, permissions, confirm, text)                 \
    TCALL_TOOL_AS_ROW_(me, name, #name, permissions, confirm, text)
#define TCALL_TOOL_ROOM_(me, name, permissions, confirm, text)                \
    struct name name;
#define TCALL_TOOL_AS_TEXTS_(me, name, sent, permissions, confirm, text)      \
    static const char me##_##name##_name_[] TCALL_FLASH_ = sent;              \
    static const char me##_##name##_text_[] TCALL_FLASH_ = text;
#define TCALL_TOOL_AS_ROW_(me, name, sent, permissions, confirm, text)        \
    TCALL_TOOL_(me##_##name##_name_, me##_##name##_text_, &name##_shape,      \
                name##_run, permissions, confirm),
#define TCALL_TOOL_AS_ROOM_(me, name, sent, permissions, confirm, text)       \
    struct name name;
/* clang-format on */
