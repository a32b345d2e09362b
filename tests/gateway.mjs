// Starts @portkey-ai/gateway on 127.0.0.1 alone: node gateway.mjs --port=N --headless
import net from "node:net";

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (where, ...rest) {
    const given = typeof where === "object" ? where : {port: Number(where)};
    const ready = rest.find(each => typeof each === "function");
    return listen.call(this, {...given, host: "127.0.0.1"}, ready);
};

// The gateway adds to the headers of what it fetched, which newer nodes forbid.
const fetched = globalThis.fetch;
globalThis.fetch = async (...request) => {
    const {body, status, statusText, headers, url} = await fetched(...request);
    const copy = new Response(body, {status, statusText, headers: new Headers(headers)});
    return Object.defineProperty(copy, "url", {value: url});
};

await import("./node_modules/@portkey-ai/gateway/build/start-server.js");
