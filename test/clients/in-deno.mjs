// Runs in Deno, with the address of a server and an API key as its arguments (test/clients/package.test.ts).
import { Headwater } from "@headwater/client";
import { fetchHandler, MemoryStore } from "@headwater/client/webhooks";

const [url, apiKey] = Deno.args;
const headwater = new Headwater({ url, apiKey });

const received = Promise.withResolvers();
let handler;
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => undefined }, request =>
  handler(request),
);
const webhook = await headwater.webhooks.create({ url: `http://127.0.0.1:${server.addr.port}/hook` });
const options = { secrets: webhook.signing_key, store: new MemoryStore() };
handler = fetchHandler(options, delivery => received.resolve(delivery));

const flow = await headwater.workflows.create({ name: "From Deno" });
await headwater.subscriptions.create({ emitter_id: flow.id, listener_id: webhook.id });
const live = headwater.watch({ emitters: [flow.id] });
const first = await live.next();
await headwater.publish(flow.id, { event: { from: "deno" } });
const second = await live.next();
await live.return();

const { payload, emitterId } = await received.promise;
const missing = await headwater.sources.get("dc_0000000000000000").catch(error => error.constructor.name);
const types = [first.value.type, second.value.type];
console.log(JSON.stringify({ payload, isFromFlow: emitterId === flow.id, types, missing }));
await server.shutdown();
