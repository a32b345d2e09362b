/* JSON and a schema: a text is read and checked, its faults are written. */
#include "toolcall.h"

static const char schema[] = "{\"type\":\"object\",\"required\":[\"on\"],"
                             "\"properties\":{\"on\":{\"type\":\"boolean\"}}}";
static const char received[] = "{\"on\": true}";
static char text[256], result[256];

int main(void)
{
    static uint64_t nodes[64], arena[64];
    static tcall_schema compiled;
    static tcall_machine machine;
    static tcall_machine_desc desc;
    tcall_writer out;

    tcall_schema_compile(&compiled, tcall_str_of(schema), nodes, sizeof nodes,
                         TCALL_DRAFT_2020);
    desc.target.node = compiled.root;
    desc.target.rows = &tcall_schema_rows;
    desc.text = text;
    desc.size = sizeof text;
    desc.arena = arena;
    desc.arena_size = sizeof arena;
    tcall_machine_init(&machine, &desc);
    tcall_machine_feed(&machine, received, sizeof received - 1);
    tcall_writer_init(&out, result, sizeof result);
    return tcall_machine_end(&machine) == TCALL_OK
               ? TCALL_OK
               : tcall_write_fault(&out, machine.text, machine.faults);
}
