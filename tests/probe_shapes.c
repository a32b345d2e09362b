/* probe shapes FILE...: accept or reject, by the decoder: as a member that is
 * kept as its text and as one that an open shape reads over, whole and byte by
 * byte. "differ" where these do not agree. */
#include "probe.h"

#define KEPT(ROW, me) ROW(me, required, json(60000), value, "Anything")
TCALL_SHAPE(kept, KEPT)
#define OPEN(ROW, me) ROW(me, optional, boolean, other, "Something else")
TCALL_OPEN_SHAPE(over, OPEN)

static int probe_decode(const tcall_object *shape, void *out, const char *text,
                        size_t len, size_t piece)
{
    tcall_decoder decoder;
    size_t at;
    tcall_decoder_init(&decoder, shape, out);
    tcall_decoder_feed(&decoder, "{\"value\":", 9);
    for (at = 0; at < len; at += piece)
        tcall_decoder_feed(&decoder, text + at,
                           len - at < piece ? len - at : piece);
    tcall_decoder_feed(&decoder, "}", 1);
    return tcall_decoder_end(&decoder);
}

int probe_shapes(int count, char **files)
{
    static struct kept kept;
    static struct over over;
    int i;
    for (i = 0; i < count; i++) {
        size_t len;
        char *text = probe_file(files[i], &len);
        int whole = probe_decode(&kept_shape, &kept, text, len, len + 1);
        int bytes = probe_decode(&kept_shape, &kept, text, len, 1);
        int passed = probe_decode(&over_shape, &over, text, len, len + 1);
        int passed_bytes = probe_decode(&over_shape, &over, text, len, 1);
        const char *word = whole == TCALL_OK ? "accept" : "reject";
        if (whole != bytes || whole != passed || whole != passed_bytes)
            word = "differ";
        printf("%s %s\n", word, files[i]);
        free(text);
    }
    return 0;
}
