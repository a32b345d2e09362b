/*
 * toolcall.h - let a language model call C functions
 *
 * One header, no heap, nothing unchecked ever runs. In ONE source file:
 *
 *     #define TOOLCALL_IMPLEMENTATION
 *     #include "toolcall.h"
 *
 * and in every other just #include "toolcall.h". C99 or C++11. MIT licence.
 *
 *     static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
 *     {
 *         board_led(tcall_json_bool(tcall_json_get(args, "on"), false));
 *         return tcall_write_text(out, "done");
 *     }
 *
 *     static const tcall_tool tools[] = {{
 *         .name        = "set_led",
 *         .description = "Switch the board's LED on or off.",
 *         .parameters  = TCALL_JSON({
 *             "type": "object", "required": ["on"],
 *             "properties": {"on": {"type": "boolean"}}}),
 *         .run         = set_led,
 *         .permissions = TCALL_WRITE,
 *     }};
 *
 *     tcall_init(&tc, &(tcall_desc){
 *         .block = block, .block_size = sizeof block, .tools = tools,
 *         .tool_count = TCALL_ARRAY_LEN(tools), .allow = TCALL_WRITE,
 *         .lenient = &tcall_lenient, .report = &tcall_report});
 *     tcall_agent_init(&agent, &(tcall_agent_desc){
 *         .tc = &tc, .provider = &tcall_openai, .model = "...", .key = key,
 *         .transport = transport});
 *     tcall_agent_run(&agent, tcall_str_of("turn the light on"));
 *
 * Each layer can be used alone. From the bottom: tcall_json_check recognises
 * JSON, tcall_json_parse turns it into values, tcall_writer writes it,
 * tcall_schema_check checks values against a JSON Schema, tcall_hydrate turns
 * what a model sent into a call that may run, tcall_invoke runs it,
 * tcall_reader reads a provider's answer as it arrives, and tcall_agent is the
 * loop around all of them.
 *
 * Functions that can fail return an int: >= 0 is success, < 0 is one of
 * TCALL_E_... A zero in a struct is the default, and the careful choice. A tool
 * has parameters (its schema); a call has arguments and gets a result; a
 * provider is a wire format; a transport is the door to the network; the block
 * is the memory that you give.
 *
 * Define TOOLCALL_STATIC before the implementation to make everything private
 * to the one file that includes it. What a program does not need is left out
 * by defining one of these with TOOLCALL_ before it; a tool or an option that
 * needs what was left out is refused at the start, by name:
 *
 *     NO_INT64       of shapes: integer64 and number, which need 64 bits; the
 *                    writer's integers have 32 then
 *     NO_SENTENCES   the sentences of errors; their codes stay
 *     NO_AGENT       the loop
 *
 * A compiler ignores a misspelt switch in silence, so let the build look:
 * make, CMake and PlatformIO do; src/switches checks the flags of any other.
 *
 * grep -n '>>' is the table of contents.
 */
