// What a model sent, as a line on the serial port, switches the LED:
//
//     {"on": true}
//
// Each byte is read and checked as it comes; the line is never held. What does
// not fit the shape is answered with what to send instead. Fits an Uno. Not run
// on hardware.
#define TOOLCALL_NO_SENTENCES
#define TOOLCALL_NO_INT64
#define TOOLCALL_STATIC
#define TOOLCALL_MAX_FAULTS 1
#define TOOLCALL_IMPLEMENTATION
#include <toolcall.h>

#define LED(ROW, me) ROW(me, required, boolean, on, "true: lit")
TCALL_SHAPE(led, LED)

static led args;
static tcall_decoder decoder;

void setup()
{
    Serial.begin(115200);
    pinMode(LED_BUILTIN, OUTPUT);
    tcall_decoder_init(&decoder, &led_shape, &args);
}

static void answer(int result)
{
    char text[80];
    tcall_writer out;
    tcall_writer_init(&out, text, sizeof text);
    if (result == TCALL_OK)
        tcall_write_text(&out, args.on ? "The LED is on." : "The LED is off.");
    else if (result == TCALL_E_INVALID)
        tcall_write_misfit(&out, &decoder.misfits[0], &led_shape, 0);
    else
        tcall_write_text(&out, tcall_error_code(result));
    Serial.write((const uint8_t *)text, out.fill);
    Serial.println();
}

void loop()
{
    int byte = Serial.read();
    if (byte < 0)
        return;
    char c = (char)byte;
    tcall_decoder_feed(&decoder, &c, 1);
    if (c != '\n')
        return;
    int result = tcall_decoder_end(&decoder);
    if (result == TCALL_OK)
        digitalWrite(LED_BUILTIN, args.on ? HIGH : LOW);
    answer(result);
    tcall_decoder_init(&decoder, &led_shape, &args);
}
