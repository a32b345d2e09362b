/* The shape that toolcall_shapes makes of weather.json. */
#define TOOLCALL_IMPLEMENTATION
#include "weather.h"
#include <stdio.h>
#include <string.h>

#define TOOL(me, name, permissions, confirm, text) {#name, &name##_shape},
static const struct {
    const char *name;
    const tcall_object *shape;
} tools[] = {TOOLS(TOOL, )};

int main(void)
{
    static const char text[] = "{\"city\":\"Bern\"}";
    struct weather args;
    tcall_decoder decoder;
    tcall_decoder_init(&decoder, tools[0].shape, &args);
    tcall_decoder_feed(&decoder, text, sizeof text - 1);
    if (tcall_decoder_end(&decoder) || strcmp(args.city, "Bern") ||
        args.days != 3 || strcmp(tools[0].name, "weather"))
        return 1;
    puts("shapes: the shape reads its arguments");
    return 0;
}
