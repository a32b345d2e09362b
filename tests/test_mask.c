/* The filter that secrets do not pass: whole and in part, in whatever pieces,
 * and as JSON may write them. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#endif
#include "check.h"

#define KEY "sk-canary-0123456789abcdef"

static char shown[4096];
static size_t shown_len;

static int show(void *user, const char *bytes, size_t len)
{
    (void)user;
    memcpy(shown + shown_len, bytes, len);
    shown_len += len;
    return (int)len;
}

/* What passes of a text that comes in two pieces, or in bytes where cut is its
 * length. */
static const char *passed(const char *secret, const char *text, size_t cut)
{
    size_t len = strlen(text), i;
    tcall_mask mask;
    memset(&mask, 0, sizeof mask);
    mask.secret = secret;
    mask.sink = show;
    shown_len = 0;
    if (cut < len) {
        CHECK(tcall_mask_put(&mask, text, cut) == (int)cut);
        CHECK(tcall_mask_put(&mask, text + cut, len - cut) == (int)(len - cut));
    } else {
        for (i = 0; i < len; i++)
            CHECK(tcall_mask_put(&mask, text + i, 1) == 1);
    }
    CHECK(tcall_mask_end(&mask) == TCALL_OK);
    shown[shown_len] = '\0';
    return shown;
}

static void passes(const char *secret, const char *text, const char *wanted)
{
    size_t cut;
    for (cut = 0; cut <= strlen(text); cut++) {
        const char *is = passed(secret, text, cut);
        if (strcmp(is, wanted) != 0)
            printf("%s, cut at %lu: %s\n", text, (unsigned long)cut, is);
        CHECK(strcmp(is, wanted) == 0);
        if (strcmp(is, wanted) != 0)
            return;
    }
}

/* A form of the key between other words: masked, wherever the text is cut. */
static void hides(const char *form)
{
    char text[4096];
    snprintf(text, sizeof text, "{\"a\":\"%s\",\"b\":1}", form);
    passes(KEY, text, "{\"a\":\"***\",\"b\":1}");
    snprintf(text, sizeof text, "%s", form);
    passes(KEY, text, "***");
    snprintf(text, sizeof text, "sk-can %s %s%s", form, form, form);
    passes(KEY, text, "sk-can *** ***");
}

/* Each character that `which` has a bit for is written as JSON may, behind so
 * many backslashes. */
static void hide_escaped(unsigned long which, int slashes, bool capitals)
{
    char form[1024];
    size_t len = 0, i;
    int n;
    for (i = 0; KEY[i]; i++) {
        if (!(which >> i & 1)) {
            form[len++] = KEY[i];
            continue;
        }
        for (n = 0; n < slashes; n++)
            form[len++] = '\\';
        len += (size_t)snprintf(form + len, sizeof form - len,
                                capitals ? "u%04X" : "u%04x", (unsigned)KEY[i]);
    }
    form[len] = '\0';
    hides(form);
}

static void escapes(void)
{
    static const unsigned long which[] = {1,         2,         4,        0x80,
                                          0x2000000, 0x1555555, 0x3FFFFFF};
    size_t i;
    int slashes;
    hides(KEY);
    for (slashes = 1; slashes < TCALL_MASK_SLASHES_; slashes++)
        for (i = 0; i < sizeof which / sizeof *which; i++) {
            hide_escaped(which[i], slashes, false);
            hide_escaped(which[i], slashes, true);
        }
    passes("https://user/0123", "\"https:\\/\\/user\\/0123\"", "\"***\"");
    passes("a\"b\"c\"d\"e", "[\"a\\\"b\\\"c\\\"d\\\"e\"]", "[\"***\"]");
}

static void others(void)
{
    /* what is not the secret stays as it is */
    passes(KEY, "", "");
    passes(KEY, "sk-cana sk-can\\u0061 \\u0073k- \\u00",
           "sk-cana sk-can\\u0061 \\u0073k- \\u00");
    passes(KEY, "sk-cana, s, \\n\\u\\\\u12\\u00e9 sk-cana\\nry",
           "sk-cana, s, \\n\\u\\\\u12\\u00e9 sk-cana\\nry");
    passes(KEY, "\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\s \\uzsk-",
           "\\\\\\\\\\\\\\\\"
           "\\\\\\\\\\\\\\\\s \\uzsk-");
    passes(KEY, "\xE2\x82\xAC \xFF", "\xE2\x82\xAC \xFF");
    /* half of it is masked too, and the text goes on where it differs */
    passes(KEY, "sk-canary-01...", "***...");
    passes(KEY, "sk-canary-01sk-canary-0123456789abcdef!", "***!");
    passes(KEY, "sk-sk-canary-0123456789abcdef", "sk-***");
    passes("abcabcabX", "abcabcabcabX", "***");
    passes("aaaaaaaab", "aaaaaaaaaaaab aaaa", "*** aaaa");
    /* words are no secrets */
    passes("none", "none of them", "none of them");
    passes("k", "kayak", "kayak");
    passes("", "kayak", "kayak");
    passes(NULL, "kayak", "kayak");
}

/* Two secrets, a filter each. */
static void two(void)
{
    tcall_mask first, second;
    const char *text =
        "one sk-canary-0123456789abcdef two other-secret-1 three";
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    first.secret = KEY;
    first.sink = tcall_mask_put;
    first.user = &second;
    second.secret = "other-secret-1";
    second.sink = show;
    shown_len = 0;
    CHECK(tcall_mask_put(&first, text, strlen(text)) == (int)strlen(text));
    CHECK(tcall_mask_end(&first) == TCALL_OK);
    CHECK(tcall_mask_end(&second) == TCALL_OK);
    shown[shown_len] = '\0';
    CHECK(strcmp(shown, "one *** two *** three") == 0);
}

static int refuse(void *user, const char *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len;
    return TCALL_E_FAILED;
}

static void faults(void)
{
    tcall_mask mask;
    memset(&mask, 0, sizeof mask);
    mask.secret = KEY;
    mask.sink = refuse;
    CHECK(tcall_mask_put(&mask, "sk-", 3) == 3); /* it waits */
    CHECK(tcall_mask_put(&mask, "x", 1) == TCALL_E_FAILED);
    CHECK(tcall_mask_end(&mask) == TCALL_E_FAILED);
}

int main(void)
{
    escapes();
    others();
    two();
    faults();
    return check_sum("test_mask");
}
