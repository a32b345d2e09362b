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

int main(void)
{
    test_files();
    return check_sum("test_tools_seen");
}
