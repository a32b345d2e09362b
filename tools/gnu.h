/*
 * gnu.h - what the code of tools/ asks of the system's headers
 *
 * Included before all others. There is nothing here for programs to use.
 */
#ifndef TTOOL_GNU_H
#define TTOOL_GNU_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64 /* also where off_t has 32 */
#endif

#endif /* TTOOL_GNU_H */
