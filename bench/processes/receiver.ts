import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerParent } from "../answer-parent.ts";
import { type BenchEvent, preciseNow } from "../event.ts";

// The webhooks' endpoint, in a process of its own: a bare node:http server that answers 204 and counts.
// Path `/<number of the webhook>`; lost and doubled are told by the event's own number.

export type ReceiverRequest =
  | { do: "listen" }
  | { do: "expect"; load: number; events: number; webhooks: number }
  | { do: "progress" }
  | { do: "figures" };

export interface Received {
  /** Deliveries that came, each counted once. */
  received: number;
  doubled: number;
  /** Of an earlier load, all of which had come: late doubles. Also what has no `webhook-id`, or nobody sent. */
  strays: number;
  /** Unix ms of the last one that came for the first time. */
  lastAtMs: number;
  /** Milliseconds from sent to received: each delivery's, ascending. */
  latencies: Float64Array;
}

let load = 0;
let events = 0;
let seen = new Uint8Array(0);
let latencies = new Float64Array(0);
let figures = { received: 0, doubled: 0, strays: 0, lastAtMs: 0 };

function count(webhook: number, event: BenchEvent, hasId: boolean, nowMs: number): void {
  const { n, at } = event;
  const place = webhook * events + n;
  const isKnown = hasId && event.load === load && n >= 0 && n < events && seen[place] !== undefined;
  if (!isKnown) figures.strays += 1;
  else if (seen[place]) figures.doubled += 1;
  else {
    seen[place] = 1;
    latencies[figures.received] = nowMs - at;
    figures.received += 1;
    figures.lastAtMs = nowMs;
  }
}

const server = createServer((request, response) => {
  const nowMs = preciseNow();
  const chunks: Buffer[] = [];
  request.on("data", chunk => chunks.push(chunk));
  request.on("end", () => {
    const event = JSON.parse(Buffer.concat(chunks).toString()) as BenchEvent;
    count(Number(request.url?.slice(1)), event, request.headers["webhook-id"] !== undefined, nowMs);
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 600_000;

answerParent<ReceiverRequest>(async request => {
  switch (request.do) {
    case "listen":
      await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
      return (server.address() as AddressInfo).port;
    case "expect":
      load = request.load;
      events = request.events;
      seen = new Uint8Array(request.events * request.webhooks);
      latencies = new Float64Array(request.events * request.webhooks);
      figures = { received: 0, doubled: 0, strays: 0, lastAtMs: 0 };
      return undefined;
    case "progress":
      return figures.received;
    case "figures":
      return { ...figures, latencies: latencies.slice(0, figures.received).sort() } satisfies Received;
  }
});
