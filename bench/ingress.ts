import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startSystem } from "../test/support/system.ts";
import { quantile, timesOf } from "./times.ts";

const REQUESTS = 300;
const CODE = `export default { name: "Bench", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;

/** Measures a request to an endpoint of the web process, and one to a bare node:http server for comparison. */
export async function measureIngress(): Promise<void> {
  const bare = await bareTimes();
  report("bare node:http", bare, bare);
  // Without workers, so that only the web process counts.
  const system = await startSystem({ RATE_LIMITS: "api:0" }, { workers: false });
  const api = await system.user();
  const source = await api.createSource({ component_code: CODE });
  const endpoint = source.configured_props.http?.endpoint_url ?? "";
  const times = await timesOf(REQUESTS, async n => (await fetch(`${endpoint}?n=${n}`)).text());
  report("ingress (run queued, response sent)", times, bare);
  await system.stop();
}

async function bareTimes(): Promise<number[]> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end("ok"));
  }).listen(0, "127.0.0.1");
  await new Promise(resolve => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const times = await timesOf(REQUESTS, async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
  server.closeAllConnections();
  server.close();
  return times;
}

function report(what: string, times: number[], bare: number[]): void {
  const [median, high] = [quantile(times, 0.5), quantile(times, 0.95)];
  const ratio = (median / quantile(bare, 0.5)).toFixed(1);
  console.log(
    `${what.padEnd(42)} median ${median.toFixed(2)} ms   p95 ${high.toFixed(2)} ms   ${ratio} × bare`,
  );
}
