/* What a tool answered holds the key no more when the model gets it:
 * TTOOL_HIDE, for keys at every place and as JSON may write them. */
#include "tools/shown.h"

#include "check.h"

#define KEY "sk-canary-0123456789"

static const char *key, *answer;

static int tell(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, answer);
}

static const tcall_hook hooks[] = {TTOOL_HIDE(&key)};

/* Is the text, or the end of it, anywhere in these bytes? */
static bool holds(const char *bytes, size_t len, const char *text)
{
    size_t n = strlen(text), i;
    for (i = 0; i + n <= len; i++)
        if (memcmp(bytes + i, text, n) == 0)
            return true;
    return false;
}

/* What becomes of the answer. */
static const char *seen(const char *said)
{
    static char block[8192], result[512];
    static const tcall_tool tool = {
        .name = "tell",
        .description = "Tells something.",
        .parameters = TCALL_SCHEMA_TEXT("{\"type\":\"object\"}"),
        .run = tell,
        .permissions = TCALL_READ};
    static tcall tc;
    tcall_desc desc;
    tcall_writer out;
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    desc.hooks = hooks;
    desc.hook_count = TCALL_ARRAY_LEN(hooks);
    desc.stages = &tcall_stages;
    memset(block, 0, sizeof block);
    memset(result, 0, sizeof result);
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    answer = said;
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_execute(&tc, tcall_str_of("tell"), tcall_str_of("{}"), &out,
                        NULL) == TCALL_OK);
    if (key)
        CHECK(!holds(block, sizeof block, &KEY[8]) &&
              !holds(result, sizeof result, &KEY[8]));
    result[out.fill] = '\0';
    return result;
}

int main(void)
{
    static const struct {
        const char *said, *shown;
    } rows[] = {{"nothing secret", "nothing secret"},
                {KEY, "***"},
                {"a " KEY " b " KEY, "a *** b ***"},
                {"API_KEY=" KEY "\n", "API_KEY=***\n"},
                {"sk-sk-canary-0123456789", "sk-***"},
                {"\"sk\\u002dcanary-0123456789\"", "\"***\""},
                {"", ""}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        key = NULL;
        CHECK(strcmp(seen(rows[i].said), rows[i].said) == 0);
        key = KEY;
        if (strcmp(seen(rows[i].said), rows[i].shown) != 0)
            printf("%s: %s\n", rows[i].said, seen(rows[i].said));
        CHECK(strcmp(seen(rows[i].said), rows[i].shown) == 0);
    }
    return check_sum("test_tools_hide");
}
