// An agent on an ESP32 with Wi-Fi: what you type on the serial port goes to a
// language model, which switches the LED. Fill in the first four lines.
// Compiled against look-alike headers only; not run on hardware.
static const char wifiName[] = "", wifiPassword[] = "";
static const char key[] = ""; // of the provider
// The certificate of the CA that the provider's goes back to, as PEM text:
// openssl s_client -showcerts -connect api.openai.com:443 names it.
static const char ca[] = "";

#include <WiFi.h>
#include <WiFiClientSecure.h>
#include <time.h>
#define TOOLCALL_IMPLEMENTATION
#include <toolcall.h>
#include <port/arduino.h>

#ifndef LED_BUILTIN
#define LED_BUILTIN 2
#endif

#define LED(ROW, me) ROW(me, required, boolean, on, "true: lit")
TCALL_SHAPE(led, LED)

static int setLed(tcall_ctx *cx, tcall_json, tcall_writer *out)
{
    const led *args = (const led *)cx->bound;
    digitalWrite(LED_BUILTIN, args->on ? HIGH : LOW);
    return tcall_write_text(out,
                            args->on ? "The LED is on." : "The LED is off.");
}

static WiFiClientSecure net;
static tport_arduino port;
static char block[8192];
static tcall_tool tool;
static tcall tc;
static tcall_agent agent;

static int begin()
{
    tcall_desc desc = tcall_desc();
    tcall_agent_desc ask = tcall_agent_desc();
    int error = tport_arduino_init(&port, &net, "api.openai.com", 443, "");
    tool.name = "set_led";
    tool.description = "Switch the LED of the board on or off.";
    tool.parameters = TCALL_STRUCT(led);
    tool.run = setLed;
    tool.permissions = TCALL_ACTUATE;
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.report = &tcall_report;
    desc.block_size = sizeof block;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_ACTUATE;
    ask.tc = &tc;
    ask.provider = &tcall_openai;
    ask.model = "gpt-5.4";
    ask.key = key;
    ask.max_ms = 120000;
    ask.transport = tport_arduino_transport(&port);
    if (error == TCALL_OK)
        error = tcall_init(&tc, &desc);
    return error == TCALL_OK ? tcall_agent_init(&agent, &ask) : error;
}

void setup()
{
    Serial.begin(115200);
    Serial.setTimeout(10000);
    pinMode(LED_BUILTIN, OUTPUT);
    WiFi.begin(wifiName, wifiPassword);
    while (WiFi.status() != WL_CONNECTED)
        delay(100);
    // No date of a certificate can be checked before the clock is set.
    configTime(0, 0, "pool.ntp.org");
    while (time(NULL) < 1767225600)
        delay(100);
    net.setCACert(ca);
    Serial.println(tcall_error_text(begin()));
}

void loop()
{
    static char line[200];
    tcall_str text = {line, 0};
    text.len = Serial.readBytesUntil('\n', line, sizeof line);
    if (text.len == 0)
        return;
    int error = tcall_agent_run(&agent, text);
    text = tcall_agent_text(&agent);
    if (error == TCALL_OK)
        Serial.write((const uint8_t *)text.ptr, text.len);
    else
        Serial.print(tcall_error_text(error));
    Serial.println(error == TCALL_OK ? "" : tport_arduino_error(&port));
}
