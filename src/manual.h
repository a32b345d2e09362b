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
 *         .tool_count = TCALL_ARRAY_LEN(tools), .allow = TCALL_WRITE});
 *     tcall_agent_init(&agent, &(tcall_agent_desc){
 *         .tc = &tc, .provider = &tcall_openai, .model = "...", .key = key,
 *         .transport = transport});
 *     tcall_agent_run(&agent, tcall_str_of("turn the light on"));
 *
 * Each layer can be used alone. From the bottom: tcall_scan recognises JSON in
 * pieces, tcall_json_parse makes values of it, tcall_writer writes it,
 * tcall_schema_check holds values against a JSON Schema, tcall_hydrate takes
 * what a model sent to a call that may run, tcall_invoke runs it, tcall_reader
 * reads a provider's answer as it arrives, tcall_agent is the loop around all.
 *
 * Results are ints: >= 0 fine, < 0 one of TCALL_E_... Zero in a struct is the
 * default, and the careful choice. Words: a tool has parameters (its schema); a
 * call has arguments and gets a result; a provider is a wire format; a
 * transport is the door to the network; the block is the memory.
 *
 * Define before the implementation to leave parts out: TOOLCALL_NO_LENIENT (the
 * tolerant reading of arguments), TOOLCALL_NO_PATTERN (of schemas); schemas
 * that need what is left out are refused. TOOLCALL_NO_PICK,
 * TOOLCALL_NO_SYNONYMS, TOOLCALL_NO_LINT.
 *
 * grep -n '>>' is the table of contents.
 */
