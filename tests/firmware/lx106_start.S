/* The core begins at 0x50000000, whatever the ELF file says. */
    .section .reset, "ax"
    .global reset
reset:
    j       1f
    .align  4
2:  .word   stack_top
3:  .word   lx106_start
1:  l32r    a1, 2b
    l32r    a0, 3b
    jx      a0

/* int lx106_call(int number, int a, const void *b, int c): the emulator's own
 * services; the arguments are where it wants them. */
    .text
    .global lx106_call
    .align  4
lx106_call:
    simcall
    ret
