/*
 * bench_cjson.c - the flow that firmware writes today, with cJSON
 *
 *     bench_cjson ANSWER.json
 *
 * From the answer of an OpenAI-compatible server to the message that carries
 * the tool's result: parse the answer, find the call, parse its arguments,
 * find the tool, check three fields by hand, run, print. bench_ours.c does
 * the same with toolcall.h; bench.py counts the instructions of flow().
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *get_weather(const cJSON *args)
{
    const cJSON *city = cJSON_GetObjectItem(args, "city");
    const cJSON *unit = cJSON_GetObjectItem(args, "unit");
    const cJSON *days = cJSON_GetObjectItem(args, "days");

    if (!cJSON_IsString(city) || !cJSON_IsString(unit) || !cJSON_IsNumber(days))
        return NULL;
    return city->valuestring;
}

static const char *create_reminder(const cJSON *args)
{
    const cJSON *title = cJSON_GetObjectItem(args, "title");
    const cJSON *when = cJSON_GetObjectItem(args, "when");
    const cJSON *priority = cJSON_GetObjectItem(args, "priority");

    if (!cJSON_IsString(title) || !cJSON_IsObject(when) ||
        !cJSON_IsString(priority))
        return NULL;
    return title->valuestring;
}

static const char *create_invoice(const cJSON *args)
{
    const cJSON *id = cJSON_GetObjectItem(args, "invoice_id");
    const cJSON *currency = cJSON_GetObjectItem(args, "currency");
    const cJSON *lines = cJSON_GetObjectItem(args, "lines");

    if (!cJSON_IsString(id) || !cJSON_IsString(currency) ||
        !cJSON_IsArray(lines))
        return NULL;
    return id->valuestring;
}

static const struct tool {
    const char *name;
    const char *(*run)(const cJSON *args);
} tools[] = {
    {"get_weather", get_weather},
    {"create_reminder", create_reminder},
    {"create_invoice", create_invoice},
};

static const char *run_tool(const char *name, const cJSON *args)
{
    size_t i;

    for (i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strcmp(tools[i].name, name) == 0)
            return tools[i].run(args);
    return NULL;
}

/* The message, to be freed, or NULL. */
static char *flow(const char *answer)
{
    cJSON *root = cJSON_Parse(answer);
    cJSON *choices = cJSON_GetObjectItem(root, "choices");
    cJSON *message =
        cJSON_GetObjectItem(cJSON_GetArrayItem(choices, 0), "message");
    cJSON *call =
        cJSON_GetArrayItem(cJSON_GetObjectItem(message, "tool_calls"), 0);
    cJSON *function = cJSON_GetObjectItem(call, "function");
    cJSON *name = cJSON_GetObjectItem(function, "name");
    cJSON *text = cJSON_GetObjectItem(function, "arguments");
    cJSON *id = cJSON_GetObjectItem(call, "id");
    char *out = NULL;

    if (cJSON_IsString(name) && cJSON_IsString(text) && cJSON_IsString(id)) {
        cJSON *args = cJSON_Parse(text->valuestring);
        const char *result = run_tool(name->valuestring, args);

        if (result) {
            cJSON *reply = cJSON_CreateObject();

            cJSON_AddStringToObject(reply, "role", "tool");
            cJSON_AddStringToObject(reply, "tool_call_id", id->valuestring);
            cJSON_AddStringToObject(reply, "content", result);
            out = cJSON_PrintUnformatted(reply);
            cJSON_Delete(reply);
        }
        cJSON_Delete(args);
    }
    cJSON_Delete(root);
    return out;
}

/* What is counted: one run of the flow, after one that warms up. */
char *region(const char *answer);
__attribute__((noinline)) char *region(const char *answer)
{
    return flow(answer);
}

int main(int argc, char **argv)
{
    static char answer[1 << 20];
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t len = f ? fread(answer, 1, sizeof answer - 1, f) : 0;
    char *out;

    if (f)
        fclose(f);
    answer[len] = '\0';
    free(flow(answer));
    out = region(answer);
    puts(out ? out : "failed");
    free(out);
    return out ? 0 : 1;
}
