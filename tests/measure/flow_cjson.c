/*
 * flow_cjson.c - the flow of flow_ours.c as firmware writes it with cJSON:
 * parse the answer, find the call, parse its arguments, check three fields by
 * hand, run, print
 */
#include <cJSON.h>
#include <stdlib.h>

#include "flow.h"

static const char *get_weather(const cJSON *args)
{
    const cJSON *city = cJSON_GetObjectItem(args, "city");
    const cJSON *unit = cJSON_GetObjectItem(args, "unit");
    const cJSON *days = cJSON_GetObjectItem(args, "days");

    if (!cJSON_IsString(city) || !cJSON_IsString(unit) || !cJSON_IsNumber(days))
        return NULL;
    return city->valuestring;
}

/* The object that has the name and the arguments of the call. */
static const cJSON *find_call(const cJSON *root)
{
    const cJSON *item, *list;
    switch (PROVIDER) {
    case 0:
        item = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "choices"), 0);
        item = cJSON_GetObjectItem(item, "message");
        item = cJSON_GetArrayItem(cJSON_GetObjectItem(item, "tool_calls"), 0);
        return cJSON_GetObjectItem(item, "function");
    case 1:
        list = cJSON_GetObjectItem(root, "content");
        cJSON_ArrayForEach(item, list)
        {
            const cJSON *type = cJSON_GetObjectItem(item, "type");
            if (cJSON_IsString(type) &&
                strcmp(type->valuestring, "tool_use") == 0)
                return item;
        }
        return NULL;
    case 2:
        item = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "candidates"), 0);
        item = cJSON_GetObjectItem(item, "content");
        item = cJSON_GetArrayItem(cJSON_GetObjectItem(item, "parts"), 0);
        return cJSON_GetObjectItem(item, "functionCall");
    default:
        item = cJSON_GetObjectItem(root, "message");
        item = cJSON_GetArrayItem(cJSON_GetObjectItem(item, "tool_calls"), 0);
        return cJSON_GetObjectItem(item, "function");
    }
}

static const char *const arguments[] = {"arguments", "input", "args",
                                        "arguments"};

static int flow(const char *answer, size_t len, char *message, size_t cap)
{
    cJSON *root = cJSON_Parse(answer), *parsed = NULL;
    const cJSON *call = find_call(root);
    const cJSON *name = cJSON_GetObjectItem(call, "name");
    const cJSON *args = cJSON_GetObjectItem(call, arguments[PROVIDER]);
    const char *result = NULL;
    char *out = NULL;
    int written = -1;

    (void)len;
    if (cJSON_IsString(args))
        args = parsed = cJSON_Parse(args->valuestring);
    if (cJSON_IsString(name) && strcmp(name->valuestring, "get_weather") == 0)
        result = get_weather(args);
    if (result) {
        cJSON *reply = cJSON_CreateObject();
        cJSON_AddStringToObject(reply, "role", "tool");
        cJSON_AddStringToObject(reply, "name", name->valuestring);
        cJSON_AddStringToObject(reply, "content", result);
        out = cJSON_PrintUnformatted(reply);
        cJSON_Delete(reply);
    }
    if (out && strlen(out) < cap)
        written = (int)strlen(strcpy(message, out));
    free(out);
    cJSON_Delete(parsed);
    cJSON_Delete(root);
    return written;
}

int main(void)
{
    return measure(providers[PROVIDER].answer);
}
