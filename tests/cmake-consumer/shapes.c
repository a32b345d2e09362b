/* The shape that toolcall_shapes makes of weather.json. */
#define TOOLCALL_IMPLEMENTATION
#include "weather.h"
#include <stdio.h>
#include <string.h>

static int weather_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    return tcall_write_text(out, "sunny");
}

TCALL_TOOLS(my, TOOLS)

int main(void)
{
    static const char text[] = "{\"city\":\"Bern\"}";
    union my_room args;
    tcall_decoder decoder;
    tcall_decoder_init(&decoder, &weather_shape, &args);
    tcall_decoder_feed(&decoder, text, sizeof text - 1);
    if (tcall_decoder_end(&decoder) || strcmp(args.weather.city, "Bern") ||
        args.weather.days != 3 || strcmp(my_tools[0].name, "weather"))
        return 1;
    puts("shapes: the shape reads its arguments");
    return 0;
}
