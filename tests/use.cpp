// The header as C++11 sees it: included twice, only declared, linked with the
// implementation that tests/matrix compiled as C++.
#include "toolcall.h"
#include "toolcall.h"

#include <cstdio>
#include <cstring>

#if defined TOOLCALL_NO_SCHEMA && !defined TOOLCALL_NO_SHAPES
#define BY_SHAPE
#define SUM(ROW, me)                                           \
    ROW(me, required, integer(INT32_MIN, INT32_MAX), a, "One") \
    ROW(me, required, integer(0, 99), b, "The other")
TCALL_SHAPE(sum, SUM)

static int add(tcall_ctx *cx, tcall_json, tcall_writer *out)
{
    const sum *args = static_cast<const sum *>(cx->bound);
    return tcall_write_int(out, args->a + args->b);
}

#else

static int add(tcall_ctx *, tcall_json args, tcall_writer *out)
{
    return tcall_write_int(out,
                           tcall_json_int(tcall_json_get(args, "a"), 0) +
                               tcall_json_int(tcall_json_get(args, "b"), 0));
}

#endif

int main()
{
    static char block[16384];
    char result[256];
    tcall tc;
    tcall_tool tool = tcall_tool();
    tcall_desc desc = tcall_desc();
    tcall_call call = tcall_call();
    tcall_writer out;

    tool.name = "add";
    tool.description = "Add two integers.";
#ifdef BY_SHAPE
    tool.shape = &sum_shape;
#else
    tool.parameters = TCALL_JSON({
        "type" : "object",
        "required" : [ "a", "b" ],
        "properties" : {"a" : {"type" : "integer"}, "b" : {"type" : "integer"}}
    });
#endif
    tool.run = add;
    tool.permissions = TCALL_READ;
    desc.block = block;
    desc.block_size = sizeof block;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    call.name = tcall_str_of("add");
    call.arguments = tcall_str_of("{\"a\": 40, \"b\": 2}");
    tcall_writer_init(&out, result, sizeof result);

#if defined TOOLCALL_NO_SCHEMA && !defined BY_SHAPE // nothing checks it
    bool ok = tcall_init(&tc, &desc) == TCALL_E_TOOL;
#else
    bool ok = tcall_init(&tc, &desc) == TCALL_OK &&
              tcall_hydrate(&tc, &call) == TCALL_OK &&
              tcall_invoke(&tc, &call, &out) == TCALL_OK && out.fill == 2 &&
              std::memcmp(result, "42", 2) == 0;
#endif
    std::printf("use.cpp: %d passed, %d failed\n", ok, !ok);
    return ok ? 0 : 1;
}
