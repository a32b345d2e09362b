/* tools/seen.c: which files were read and written, and what was in them. */
#include "tools/seen.h"
#include "check.h"

static void test_files(void)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    ttool_file rows[3];
    ttool_files files = {rows, 3};
    tcall_str a = tcall_str_of("a"), one = tcall_str_of("one"),
              two = tcall_str_of("two");
    int i;
    memset(rows, 0, sizeof rows);
    CHECK(ttool_file_check(&files, a, one) == TCALL_E_UNREAD);
    ttool_file_read(&files, a, one);
    CHECK(ttool_file_check(&files, a, one) == TCALL_OK);
    CHECK(ttool_file_check(&files, a, two) == TCALL_E_STALE);
    ttool_file_written(&files, a, two);
    CHECK(ttool_file_check(&files, a, two) == TCALL_OK);
    CHECK(ttool_file_check(&files, a, one) == TCALL_E_STALE);
    for (i = 1; i < 4; i++)
        ttool_file_read(&files, tcall_str_of(names[i]), one);
    CHECK(ttool_file_check(&files, a, two) == TCALL_E_UNREAD);
    for (i = 1; i < 4; i++)
        CHECK(ttool_file_check(&files, tcall_str_of(names[i]), one) ==
              TCALL_OK);
    files.count = 0;
    ttool_file_read(&files, a, one);
    CHECK(ttool_file_check(&files, a, one) == TCALL_E_UNREAD);
}

/* Parts that follow each other add up to the whole; a part without lines is
 * none. */
static void test_parts(void)
{
    ttool_file rows[2];
    ttool_files files = {rows, 2};
    tcall_str a = tcall_str_of("a"), b = tcall_str_of("b"),
              one = tcall_str_of("one"), two = tcall_str_of("two");
    memset(rows, 0, sizeof rows);
    ttool_file_read_lines(&files, a, one, 11, 0, 10);
    CHECK(ttool_file_check(&files, a, one) == TCALL_E_UNREAD);
    ttool_file_read_lines(&files, a, one, 1, 4, 10);
    CHECK(ttool_file_check(&files, a, one) == TCALL_OK);
    CHECK(ttool_file_check_all(&files, a, one) == TCALL_E_UNREAD);
    ttool_file_read_lines(&files, a, one, 6, 10, 10); /* not the fifth */
    CHECK(ttool_file_check_all(&files, a, one) == TCALL_E_UNREAD);
    ttool_file_read_lines(&files, a, one, 5, 9, 10);
    CHECK(ttool_file_check_all(&files, a, one) == TCALL_E_UNREAD);
    ttool_file_read_lines(&files, a, one, 10, 10, 10);
    CHECK(ttool_file_check_all(&files, a, one) == TCALL_OK);
    CHECK(ttool_file_check_all(&files, a, two) == TCALL_E_STALE);
    ttool_file_read_lines(&files, a, two, 10, 10, 10); /* of another content */
    CHECK(ttool_file_check_all(&files, a, two) == TCALL_E_UNREAD);
    CHECK(ttool_file_check_all(&files, b, one) == TCALL_E_UNREAD);
    ttool_file_read_lines(&files, b, one, 1, 0, 0); /* there are none */
    CHECK(ttool_file_check_all(&files, b, one) == TCALL_OK);
}

int main(void)
{
    test_files();
    test_parts();
    return check_sum("test_tools_seen");
}
