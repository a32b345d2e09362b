/* Memory for the tests themselves, which are made for computers: their malloc
 * is another function here, so that the link can do without the real one. */
#include <stdlib.h>

void *test_malloc(size_t size);
void test_free(void *memory);

#define malloc test_malloc
#define free   test_free
