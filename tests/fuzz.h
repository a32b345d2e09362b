/* A test that libFuzzer can take over: with -DTEST_FUZZED, as tests/fuzz.py
 * compiles it, FUZZ makes the functions that libFuzzer calls and main is that
 * of libFuzzer. Else it makes nothing. */
#ifdef TEST_FUZZED
#include <stdint.h>

/* Writes the texts to begin with into the folder that the command line ends
 * with. */
static void fuzz_seeds(const char *folder, const char *const *texts,
                       size_t count)
{
    char name[500];
    size_t i;
    for (i = 0; i < count; i++) {
        FILE *file;
        snprintf(name, sizeof name, "%s/%lu", folder, (unsigned long)i);
        file = fopen(name, "wb");
        if (!file || fwrite(texts[i], strlen(texts[i]), 1, file) != 1 ||
            fclose(file))
            abort();
    }
}

/* bool holds(const char *text, size_t len) says whether all is as it must be,
 * whatever the text; after prepare(). */
#define FUZZ(texts, prepare, holds)                               \
    int LLVMFuzzerInitialize(int *argc, char ***argv);            \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len); \
    int LLVMFuzzerInitialize(int *argc, char ***argv)             \
    {                                                             \
        fuzz_seeds((*argv)[*argc - 1], texts,                     \
                   (sizeof(texts) / sizeof *(texts)));            \
        prepare;                                                  \
        return 0;                                                 \
    }                                                             \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)  \
    {                                                             \
        if (!holds((const char *)bytes, len) || check_failed)     \
            abort();                                              \
        return 0;                                                 \
    }
#define main not_main /* of libFuzzer */
int not_main(void);
#else
#define FUZZ(texts, prepare, holds)
#endif
