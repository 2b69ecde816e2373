import { until } from "../test/support/until.ts";
import type { Ends } from "./ends.ts";
import { preciseNow } from "./event.ts";
import type { Headwater } from "./headwater.ts";
import { startMeter } from "./meter.ts";
import type { SendRequest, Sent } from "./processes/sender.ts";

const CODE = `export default { name: "Busy", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;
const DONE_MS = 600_000;

export interface BusyFigures {
  acceptedPerSecond: number;
  runsPerSecond: number;
  /** CPU seconds per 1,000 runs of Headwater's processes and sandboxes. */
  cpu: number;
  rejected: Record<string, number>;
}

/**
 * Sends HTTP requests to `sources` sources in turn, and waits until each was executed, by the account's count of
 * invocations. The sources have no listeners, so that the figures include no deliveries.
 */
export async function measureBusySources(
  headwater: Headwater,
  ends: Ends,
  { sources, requests, senders }: { sources: number; requests: number; senders: number },
): Promise<BusyFigures> {
  const { api } = headwater;
  const urls: string[] = [];
  for (let n = 0; n < sources; n++) {
    const source = await api.createSource({ component_code: CODE });
    urls.push(source.configured_props.http?.endpoint_url ?? "");
  }
  const before = await invocations(headwater);
  const stopMeter = startMeter(headwater.watched);
  const sent = await ends.sender.request<Sent>({
    target: { kind: "http", urls, connections: senders },
    load: 0,
    events: requests,
    senders,
  } satisfies SendRequest);
  await until(async () => (await invocations(headwater)) - before >= sent.accepted, {
    timeoutMs: DONE_MS,
    what: "a run for every request",
  });
  const endedAtMs = preciseNow();
  await headwater.whenIdle();
  const cpuSeconds = stopMeter().processes.reduce((sum, one) => sum + one.cpuSeconds, 0);
  return {
    acceptedPerSecond: (sent.accepted * 1000) / (sent.endedAtMs - sent.startedAtMs),
    runsPerSecond: (sent.accepted * 1000) / (endedAtMs - sent.startedAtMs),
    cpu: (cpuSeconds * 1000) / sent.accepted,
    rejected: sent.rejected,
  };
}

async function invocations({ api }: Headwater): Promise<number> {
  const me = await api.expect<{ billing_period_invocations: number }>(200, "GET", "/users/me");
  return me.billing_period_invocations;
}
