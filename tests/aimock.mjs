// A mock of all providers with the answers that tests/aimock.py and
// tests/gateway.py expect: the word in what the user said last decides, and how
// many calls were made since. Prints its port.
import {LLMock} from "@copilotkit/aimock";

const asked = request => {
    const content = request.messages.findLast(m => m.role === "user").content;
    return typeof content === "string" ? content : content.map(part => part.text).join("");
};
// How many calls there were since. Of some formats the mock loses the calls, of
// what some gateways write the results.
const made = request => {
    const since = request.messages.slice(request.messages.findLastIndex(m => m.role === "user"));
    return Math.max(since.filter(m => m.role === "tool").length,
                    since.flatMap(m => m.tool_calls ?? []).length);
};
const calledBy = ({toolCalls, blocks}) =>
    (toolCalls ?? blocks ?? []).filter(each => each.type !== "text").length;

const mock = new LLMock({port: 0, host: "127.0.0.1", strict: true, logLevel: "silent"});
const says = (word, answers, more = {}) => {
    let before = 0;
    for (const response of answers) {
        const calls = before;
        mock.addFixture({match: {predicate: r => asked(r).includes(word) && made(r) === calls},
                         response, ...more});
        before += calledBy(response);
    }
};
const call = (name, values) => ({name, arguments: JSON.stringify(values)});
const calls = (...toolCalls) => ({toolCalls});
const read = pin => call("read_gpio", {pin});

says("plain", [{content: 'Plain words: Größe 温度 😀 \\u0041 "quoted".'}]);
says("single", [calls(call("get_temperature", {unit: "fahrenheit"})), {content: "Single done."}]);
says("parallel", [
    {content: "Let me look.", toolCalls: [
        call("get_temperature", {}), read(17),
        call("convert_unit", {value: 1.5, from: "inch", to: "metre"})]},
    {content: "Parallel done."}]);
says("chain", [calls(read(1)), calls(call("write_gpio", {pin: 1, on: true})), calls(read(1)),
               {content: "Chain done."}]);
says("wrong", [calls(read(99), call("no_such_tool", {})), calls(read(9)),
               {content: "Wrong done."}]);
says("thoughts", [
    {reasoning: "I should look at the clock.", toolCalls: [call("get_time", {utc_offset: 2})]},
    {reasoning: "Now I know.", content: "Thoughts done."}]);
says("nothing", [calls(call("get_system_status", {})), {content: "Nothing done."}]);
says("blocks", [
    {blocks: [{type: "toolCall", ...call("get_temperature", {})},
              {type: "text", text: "I checked."}, {type: "toolCall", ...read(3)}]},
    {content: "Blocks done."}]);
says("long", [{content: "lorem ipsum ".repeat(6000) + "Long done."}]);

// What goes wrong.
says("length", [{...calls(read(3)), finishReason: "length"}, {content: "After it."}]);
says("filter", [{content: "Part of it", finishReason: "content_filter"}]);
says("cut", [{content: "This is cut short by the server in the middle of it."}],
     {truncateAfterChunks: 2, chunkSize: 5});
says("halfcall", [calls(read(3)), {content: "After it."}], {truncateAfterChunks: 3, chunkSize: 3});
says("malformed", [{content: "x"}], {chaos: {malformedRate: 1}});
says("vanish", [{content: "x"}], {chaos: {disconnectRate: 1}});
for (const status of [400, 401, 403, 404, 413, 422, 429, 500, 503, 529])
    says(`status${status}`, [{
        status, error: {message: `made error ${status}`, type: "made_error", code: `c${status}`},
        ...(status === 429 ? {retryAfter: 1} : {})}]);

await mock.start();
console.log(new URL(mock.url).port);
