import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type BenchEvent, preciseNow } from "../event.ts";
import { serveParent } from "../serve-parent.ts";

// The webhooks' endpoint, in a process of its own: a bare node:http server that responds with 204 and counts.
// Its path is `/<number of the webhook>`; lost and doubled events are found by the number in each event. It is an agent's callback
// too: it responds to a challenge, and takes an event out of what an agent gets.

export type ReceiverRequest =
  | { do: "listen" }
  | { do: "expect"; load: number; events: number; webhooks: number }
  /** From now on it takes so long to respond; what is in progress ends at once if it takes no time any more. */
  | { do: "respond-after"; ms: number }
  | { do: "progress" }
  | { do: "figures" };

export interface Received {
  /** Distinct deliveries that arrived. */
  received: number;
  doubled: number;
  /** Requests of an earlier, complete load (late doubles), without a `webhook-id`, or with an unknown number. */
  strays: number;
  /** Unix ms of the last delivery that arrived for the first time. */
  lastAtMs: number;
  /** Milliseconds from sent to received for each delivery, ascending. */
  latencies: Float64Array;
  /** When each delivery arrived for the first time: Unix ms, ascending. */
  arrivals: Float64Array;
}

type Body = BenchEvent & { data?: { event: BenchEvent }; challenge?: string };

let load = 0;
let events = 0;
let seen = new Uint8Array(0);
let latencies = new Float64Array(0);
let arrivals = new Float64Array(0);
let respondAfterMs = 0;
const held = new Set<() => void>();
let figures = { received: 0, doubled: 0, strays: 0, lastAtMs: 0 };

function count(webhook: number, event: BenchEvent, hasId: boolean, nowMs: number): void {
  const { n, at } = event;
  const index = webhook * events + n;
  const isKnown = hasId && event.load === load && n >= 0 && n < events && seen[index] !== undefined;
  if (!isKnown) figures.strays += 1;
  else if (seen[index]) figures.doubled += 1;
  else {
    seen[index] = 1;
    latencies[figures.received] = nowMs - at;
    arrivals[figures.received] = nowMs;
    figures.received += 1;
    figures.lastAtMs = nowMs;
  }
}

const server = createServer((request, response) => {
  const nowMs = preciseNow();
  const chunks: Buffer[] = [];
  request.on("data", chunk => chunks.push(chunk));
  request.on("end", () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
    if (body.challenge !== undefined) {
      response.writeHead(200).end(JSON.stringify({ challenge: body.challenge }));
      return;
    }
    const event = body.data?.event ?? body;
    count(Number(request.url?.slice(1)), event, request.headers["webhook-id"] !== undefined, nowMs);
    const respond = () => void response.writeHead(204).end();
    if (respondAfterMs === 0) respond();
    else hold(respond);
  });
});
function hold(respond: () => void): void {
  const end = () => {
    clearTimeout(timer);
    held.delete(end);
    respond();
  };
  const timer = setTimeout(end, respondAfterMs);
  held.add(end);
}
server.keepAliveTimeout = 600_000;

serveParent<ReceiverRequest>(async request => {
  switch (request.do) {
    case "listen":
      await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
      return (server.address() as AddressInfo).port;
    case "expect":
      load = request.load;
      events = request.events;
      seen = new Uint8Array(request.events * request.webhooks);
      latencies = new Float64Array(request.events * request.webhooks);
      arrivals = new Float64Array(request.events * request.webhooks);
      figures = { received: 0, doubled: 0, strays: 0, lastAtMs: 0 };
      return undefined;
    case "respond-after":
      respondAfterMs = request.ms;
      if (respondAfterMs === 0) for (const end of held) end();
      return undefined;
    case "progress":
      return figures.received;
    case "figures":
      return {
        ...figures,
        latencies: latencies.slice(0, figures.received).sort(),
        arrivals: arrivals.slice(0, figures.received),
      } satisfies Received;
  }
});
