// hello.cpp - 01_hello.c in C++, from C++11 on: rows and descriptors start zero
// and get what they need by name.
#include "port/port.h"

#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include <cstdio>
#include <cstdlib>

static int set_light(tcall_ctx *, tcall_json args, tcall_writer *out)
{
    bool on = tcall_json_bool(tcall_json_get(args, "on"), false);
    std::puts(on ? "The light is on." : "The light is off.");
    return tcall_write_text(out, "done");
}

static tcall_tool light()
{
    tcall_tool tool = tcall_tool();
    tool.name = "set_light";
    tool.description = "Switch the light on or off.";
    tool.parameters = TCALL_JSON({
        "type" : "object",
        "properties" : {"on" : {"type" : "boolean"}},
        "required" : ["on"]
    });
    tool.run = set_light;
    tool.permissions = TCALL_ACTUATE;
    return tool;
}

int main(int argc, char **argv)
{
    static const tcall_tool tools[] = {light()};
    static char block[16 * 1024];
    static tport port;
    static tcall tc;
    static tcall_agent agent;
    tport_desc net = tport_desc();
    net.url = argc > 1 ? argv[1] : "https://api.openai.com";
    int error = tport_init(&port, &net);
    tcall_desc registry = tcall_desc();
    registry.block = block;
    registry.lenient = &tcall_lenient;
    registry.report = &tcall_report;
    registry.block_size = sizeof block;
    registry.tools = tools;
    registry.tool_count = TCALL_ARRAY_LEN(tools);
    registry.allow = TCALL_ACTUATE;
    error = error ? error : tcall_init(&tc, &registry);
    tcall_agent_desc desc = tcall_agent_desc();
    desc.tc = &tc;
    desc.provider = &tcall_openai;
    desc.model = "gpt-5.4";
    desc.key = std::getenv("OPENAI_API_KEY");
    desc.transport = tport_transport(&port);
    error = error ? error : tcall_agent_init(&agent, &desc);
    error = error ? error : tcall_agent_run(&agent, tcall_str_of("Light on!"));
    tcall_str said = error ? tcall_str_of(tcall_error_text(error))
                           : tcall_agent_text(&agent);
    std::printf("%.*s %s\n", (int)said.len, said.ptr, tport_error(&port));
    tport_free(&port);
    return error != 0;
}
