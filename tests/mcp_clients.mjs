// mcp_clients.mjs sdk|legacy|auto|modern COMMAND... : an official client of MCP
// and the tools of the Arduino Uno. Prints what went wrong, and counts.
const [kind, command, ...args] = process.argv.slice(2);
let passed = 0, failed = 0;
const check = (good, what) => {
    good ? passed++ : (failed++, console.log('FAILED', kind, what));
};

const v1 = '@modelcontextprotocol/sdk/client', v2 = '@modelcontextprotocol/client';
const old = kind === 'sdk';
const {Client} = await import(old ? v1 + '/index.js' : v2);
const {StdioClientTransport} = await import(old ? v1 + '/stdio.js' : v2 + '/stdio');
const mode = {legacy: 'legacy', auto: 'auto', modern: {pin: '2026-07-28'}}[kind];
const client = new Client({name: 'test', version: '1'}, old ? {} : {versionNegotiation: {mode}});
await client.connect(new StdioClientTransport({command, args, stderr: 'ignore'}));

if (!old)
    check(client.getNegotiatedProtocolVersion() === (kind === 'legacy' ? '2025-11-25' : '2026-07-28'),
          'version ' + client.getNegotiatedProtocolVersion());
check(client.getServerVersion()?.name === 'uno', 'name of the server');
if (old || kind === 'legacy')
    await client.ping().then(() => check(true), e => check(false, 'ping ' + e));
const {tools} = await client.listTools();
check(tools.map(t => t.name).join() === 'led,thermometer,relay', 'list');
check(tools[1].annotations?.readOnlyHint === true, 'annotations');
const calls = [
    ['led', {on: true}, 'LED is on'],
    ['thermometer', {unit: 'fahrenheit'}, '70.7 fahrenheit'],
    ['thermometer', undefined, '21.5 celsius'],
    ['relay', {channels: [1, 4], on: true, timer: {seconds: 90, label: 'K\u00fc "1"\n\u{1f600}'}},
     'relay 1 relay 4 closed for 90 s, timer K\u00fc "1"\n\u{1f600}'],
    ['relay', {channels: [1], on: true, timer: {seconds: 9000}}, null, '/timer/seconds'],
    ['relay', {channels: [7], on: true}, null, '/channels/0'],
    ['relay', {on: true}, null, 'channels'],
    ['led', {on: 'true'}, null, '/on'],
    ['led', {on: true, colour: 'red'}, null, 'not known'],
    ['thermometer', {unit: 'C'}, null, '/unit'],
];
for (const [name, input, text, wrong] of calls) {
    const r = await client.callTool({name, arguments: input});
    const said = r.content[0].text;
    check(text === null ? r.isError === true && said.includes(wrong) : !r.isError && said === text,
          name + ' ' + JSON.stringify(input) + ' -> ' + said);
}
await client.callTool({name: 'nope', arguments: {}}).then(
    r => check(false, 'an unknown tool ran ' + JSON.stringify(r)),
    e => check(e.code === -32602, 'unknown tool: ' + e));
const many = await Promise.all(Array.from({length: 20}, (_, i) =>
    client.callTool({name: 'led', arguments: {on: i % 2 === 0}})));
check(many.every((r, i) => r.content[0].text === (i % 2 ? 'LED is off' : 'LED is on')), '20 at once');
await client.close();
console.log('%s: %d passed, %d failed', kind, passed, failed);
process.exit(failed ? 1 : 0);
