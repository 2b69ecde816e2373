import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startReceiver } from "../test/support/receiver.ts";
import { startSystem } from "../test/support/system.ts";
import { until } from "../test/support/until.ts";
import { measureLongList } from "./long-list.ts";

const REQUESTS = 300;
const EVENTS = 500;
const AT_ONCE = 20;

const CODE = `export default { name: "Bench", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ n: event.query.n }); } };`;

const quantile = (sorted: number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
const ms = (value: number) => `${value.toFixed(2)} ms`;

/** Milliseconds of each call, one after the other; the first twenty warm up and do not count. */
async function timesOf(call: (n: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let n = -20; n < REQUESTS; n++) {
    const startedAt = performance.now();
    await call(n);
    if (n >= 0) times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b);
}

/** A bare node:http server's answer time: what the machine itself costs. */
async function baseline(): Promise<number[]> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end("ok"));
  }).listen(0, "127.0.0.1");
  await new Promise(resolve => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const times = await timesOf(async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
  server.closeAllConnections();
  server.close();
  return times;
}

function report(what: string, times: number[], base: number[]): void {
  const [median, high] = [quantile(times, 0.5), quantile(times, 0.95)];
  const ratio = median / quantile(base, 0.5);
  console.log(`${what.padEnd(34)} median ${ms(median)}   p95 ${ms(high)}   ${ratio.toFixed(1)} × baseline`);
}

async function measureIngress(): Promise<void> {
  const base = await baseline();
  report("bare node:http (baseline)", base, base);
  // Without workers: what the web process alone costs.
  const system = await startSystem({ RATE_LIMIT_PER_SECOND: "0" }, { workers: false });
  const api = await system.user();
  const source = await api.createSource({ component_code: CODE });
  const endpoint = source.configured_props.http?.endpoint_url ?? "";
  report(
    "ingress (enqueue and answer)",
    await timesOf(async n => (await fetch(`${endpoint}?n=${n}`)).text()),
    base,
  );
  await system.stop();
}

async function measureSandbox(): Promise<void> {
  const system = await startSystem({}, { workers: false });
  const api = await system.user();
  const component = await api.expect(201, "POST", "/components", { body: { component_code: CODE } });
  const { loadCode } = await import("../src/sources/load-code.ts");
  const { bundle } = await loadCode(system.worker, component.id);
  const sandboxes = await system.worker.sandboxes();
  const request = { call: "run", event: { query: { n: "1" } }, props: { http: {} }, db: {} } as const;
  const startedAt = performance.now();
  await sandboxes.call("bench", bundle, request);
  console.log(`${"sandbox, first call (cold)".padEnd(34)} ${ms(performance.now() - startedAt)}`);
  const times = await timesOf(() => sandboxes.call("bench", bundle, request));
  console.log(
    `${"sandbox, warm call".padEnd(34)} median ${ms(quantile(times, 0.5))}   p95 ${ms(quantile(times, 0.95))}`,
  );
  await system.stop();
}

async function measurePipeline(): Promise<void> {
  const system = await startSystem({ RATE_LIMIT_PER_SECOND: "0" });
  const receiver = await startReceiver(200);
  const api = await system.user({ plan: "paid" });
  const source = await api.createSource({ component_code: CODE });
  await api.subscribe(source.id, (await api.createWebhook(receiver.url)).id);
  const endpoint = source.configured_props.http?.endpoint_url ?? "";
  const startedAt = performance.now();
  let sent = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (sent < EVENTS) {
        sent += 1;
        await (await fetch(`${endpoint}?n=${sent}`)).text();
      }
    }),
  );
  const accepted = performance.now() - startedAt;
  await until(() => receiver.requests.length >= EVENTS, { timeoutMs: 120_000, what: "all events delivered" });
  const delivered = performance.now() - startedAt;
  console.log(
    `${"requests accepted".padEnd(34)} ${Math.round((EVENTS / accepted) * 1000)}/s (${AT_ONCE} at once)`,
  );
  console.log(
    `${"request → run → webhook".padEnd(34)} ${Math.round((EVENTS / delivered) * 1000)} events/s (one source, one webhook, all in one process)`,
  );
  await receiver.close();
  await system.stop();
}

await measureIngress();
await measureSandbox();
await measurePipeline();
await measureLongList();
