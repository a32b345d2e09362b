/*
 * avr_run.c - runs an ELF file on simavr's ATmega2560 with 64 KB of memory
 *
 * The chip has 8 KB and a bus for the rest; the tests need it, because avr-gcc
 * keeps constants in RAM. See avr.c for the two registers. The exit code is
 * main's value, or 99 for a crash.
 */
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>
#include <stdio.h>

enum { GPIOR0 = 0x3e, GPIOR1 = 0x4a };

static int code = 98;

static void on_character(avr_t *avr, avr_io_addr_t at, uint8_t byte, void *user)
{
    (void)avr, (void)at, (void)user;
    putchar(byte);
}

static void on_code(avr_t *avr, avr_io_addr_t at, uint8_t byte, void *user)
{
    (void)avr, (void)at, (void)user;
    code = byte;
}

int main(int argc, char **argv)
{
    static elf_firmware_t program;
    avr_t *avr = avr_make_mcu_by_name("atmega2560");
    int state;

    if (argc < 2 || !avr || elf_read_firmware(argv[1], &program) != 0)
        return 97;
    avr->ramend = 0xffff;
    avr_init(avr);
    avr->log = LOG_NONE;
    program.frequency = 16000000;
    avr_load_firmware(avr, &program);
    avr_register_io_write(avr, GPIOR1, on_character, NULL);
    avr_register_io_write(avr, GPIOR0, on_code, NULL);
    do
        state = avr_run(avr);
    while (state != cpu_Done && state != cpu_Crashed);
    fflush(stdout);
    return state == cpu_Done ? code : 99;
}
