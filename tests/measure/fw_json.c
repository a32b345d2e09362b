/* JSON alone: a text is read strictly, a value of it is written. */
#include "toolcall.h"

static char text[256] = "{\"on\": true}"; /* as if received */
static char result[256];

int main(void)
{
    tcall_json value;
    tcall_writer out;
    int r = tcall_json_parse(&value, text, sizeof "{\"on\": true}" - 1, NULL);

    tcall_writer_init(&out, result, sizeof result);
    tcall_write_open(&out, '{');
    tcall_write_key(&out, "was");
    tcall_write_bool(&out, tcall_json_bool(tcall_json_get(value, "on"), r < 0));
    return tcall_write_close(&out, '}');
}
