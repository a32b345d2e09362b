/* 08_hooks.c - around each call, without touching the tools: a log, a cache of
 * results, and a hook of our own.
 *     cc -I. examples/08_hooks.c -o 08_hooks && ./08_hooks */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>

static int read_sensor(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    puts("The sensor is read.");
    return tcall_write_text(out, "21.5 degrees");
}

static const tcall_tool tools[] = {
    {.name = "read_sensor",
     .description = "Read the sensor outside: degrees Celsius.",
     .parameters = TCALL_NO_PARAMETERS,
     .run = read_sensor,
     .permissions = TCALL_READ}};

/* Returns TCALL_OK, or the error that the call ends with. */
static int at_most_twice(tcall_ctx *cx, void *user)
{
    int *calls = user;
    return ++*calls <= 2 ? TCALL_OK
                         : tcall_abort(cx, "twice is enough", NULL, 429);
}

static int write_log(void *user, const char *bytes, size_t len)
{
    return (int)fwrite(bytes, 1, len, user);
}

int main(void)
{
    static char block[8 * 1024], memory[512], result[256];
    static tcall tc;
    int calls = 0;
    tcall_cache cache = {.memory = memory, .size = sizeof memory};
    tcall_audit audit = {.sink = write_log, .user = stdout};
    const tcall_hook hooks[] = {{"at most twice", TCALL_WILL_AUTHORIZE,
                                 .run = at_most_twice, .user = &calls},
                                TCALL_CACHE(&cache),
                                TCALL_AUDIT(&audit)};
    tcall_init(&tc,
               &(tcall_desc){block, sizeof block, tools, 1, &tcall_lenient,
                             &tcall_report, .allow = TCALL_READ, .hooks = hooks,
                             .hook_count = TCALL_ARRAY_LEN(hooks),
                             .stages = &tcall_stages});
    for (int i = 0; i < 3; i++) {
        tcall_writer out;
        tcall_writer_init(&out, result, sizeof result);
        tcall_execute(&tc, tcall_str_of("read_sensor"), tcall_str_of("{}"),
                      &out, NULL);
        printf("%.*s\n", (int)out.len, result);
    }
    return 0;
}
