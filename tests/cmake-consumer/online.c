/* Nothing is sent: it is enough that the port is found, compiled and linked. */
#include "port/posix.h"
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

int main(void)
{
    tport_posix socket;

    tport_posix_init(&socket, "localhost", 8080);
    return tport_posix_stream(&socket).connect ? 0 : 1;
}
