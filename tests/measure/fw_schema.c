/* JSON and a schema: a text is read and checked, its faults are written. */
#include "toolcall.h"

static const char schema[] = "{\"type\":\"object\",\"required\":[\"on\"],"
                             "\"properties\":{\"on\":{\"type\":\"boolean\"}}}";
static char text[256] = "{\"on\": true}"; /* as if received */
static char result[256];

int main(void)
{
    static tcall_tok_ tok[32];
    static uint64_t program[64], frames[64];
    static tcall_schema compiled;
    tcall_validation_error faults[4];
    tcall_check check = {
        frames, sizeof frames, faults, TCALL_ARRAY_LEN(faults), false, 0, 0, 0};
    tcall_tree_ value;
    tcall_writer out;

    tcall_schema_compile(&compiled, tcall_str_of(schema), program,
                         sizeof program, TCALL_DRAFT_2020);
    tcall_tree_parse_(&value, text, sizeof "{\"on\": true}" - 1, tok,
                      TCALL_ARRAY_LEN(tok), NULL);
    tcall_schema_check(&compiled, value, &check);
    tcall_writer_init(&out, result, sizeof result);
    return tcall_write_validation_errors(&out, &compiled, value, &check);
}
