// A call, as a line on the serial port, switches the LED:
//
//     {"on": true}
//
// The core alone: the line is read, checked against the schema and run, and the
// result, or what is wrong, is printed. Not run on hardware.
#define TOOLCALL_IMPLEMENTATION
#include <toolcall.h>

static int setLed(tcall_ctx *, tcall_json args, tcall_writer *out)
{
    bool on = tcall_json_bool(tcall_json_get(args, "on"), false);
    digitalWrite(LED_BUILTIN, on ? HIGH : LOW);
    return tcall_write_text(out, on ? "The LED is on." : "The LED is off.");
}

static char block[2048], line[128], result[256];
static tcall_tool tool;
static tcall tc;

void setup()
{
    Serial.begin(115200);
    pinMode(LED_BUILTIN, OUTPUT);
    tool.name = "set_led";
    tool.description = "Switch the LED of the board on or off.";
    tool.parameters = TCALL_JSON({
        "type": "object",
        "properties": {"on": {"type": "boolean", "description": "true: on"}},
        "required": ["on"], "additionalProperties": false
    });
    tool.run = setLed;
    tool.permissions = TCALL_ACTUATE;

    tcall_desc desc = tcall_desc();
    desc.block = block;
    desc.block_size = sizeof block;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_ACTUATE;
    Serial.println(tcall_error_code(tcall_init(&tc, &desc)));
}

void loop()
{
    size_t n = Serial.readBytesUntil('\n', line, sizeof line - 1);
    if (n == 0)
        return;
    tcall_call call = tcall_call();
    tcall_writer out;
    call.name = tcall_str_of("set_led");
    call.arguments.ptr = line;
    call.arguments.len = n;
    tcall_writer_init(&out, result, sizeof result);
    tcall_hydrate(&tc, &call);
    tcall_invoke(&tc, &call, &out);
    tcall_release(&tc, &call);
    Serial.write((const uint8_t *)result, out.fill);
    Serial.println();
}
