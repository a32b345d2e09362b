// The header as C++11 sees it: included twice, only declared, linked with the
// implementation that tests/matrix compiled as C++.
#include "toolcall.h"
#include "toolcall.h"

#include <cstdio>
#include <cstring>

static int add(tcall_ctx *, tcall_json args, tcall_writer *out)
{
    return tcall_write_int(out,
                           tcall_json_int(tcall_json_get(args, "a"), 0) +
                               tcall_json_int(tcall_json_get(args, "b"), 0));
}

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
    tool.parameters = TCALL_JSON({
        "type" : "object",
        "required" : [ "a", "b" ],
        "properties" : {"a" : {"type" : "integer"}, "b" : {"type" : "integer"}}
    });
    tool.run = add;
    tool.permissions = TCALL_READ;
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.report = &tcall_report;
    desc.block_size = sizeof block;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    call.name = tcall_str_of("add");
    call.arguments = tcall_str_of("{\"a\": 40, \"b\": 2}");
    tcall_writer_init(&out, result, sizeof result);

    bool ok = tcall_init(&tc, &desc) == TCALL_OK &&
              tcall_hydrate(&tc, &call) == TCALL_OK &&
              tcall_invoke(&tc, &call, &out) == TCALL_OK && out.fill == 2 &&
              std::memcmp(result, "42", 2) == 0;
    std::printf("use.cpp: %d passed, %d failed\n", ok, !ok);
    return ok ? 0 : 1;
}
