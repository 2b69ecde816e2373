import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** The requests of one event at one path. */
export interface Arrival {
  requests: number;
  webhookIds: Set<string>;
  eventIds: Set<string>;
  /** Time of the first request; Unix milliseconds. */
  atMs: number;
}

export interface CountingReceiver {
  urlOf(path: string): string;
  /** Arrivals at this path by the event's key. */
  at(path: string): ReadonlyMap<string, Arrival>;
  /** Distinct events that arrived, summed over all paths. */
  events(): number;
  /** Turns on or off that one event in ten gets 503 twice before it gets 200, so that it is retried. */
  failSome(isOn: boolean): void;
  close(): Promise<void>;
}

/** Longest time to respond, so that attempts are in flight whenever a process is killed. */
const RESPOND_MS = 10;

/** Keys of events that get 503 while `failSome` is on. */
const FAILING = /7$/;
/** A path that accepts requests and never responds. */
export const DEAD = "/dead";

/** Starts a real endpoint that keeps only counts and ids of its requests, whose bodies are `{"key": …}`. */
export async function startCountingReceiver(): Promise<CountingReceiver> {
  const paths = new Map<string, Map<string, Arrival>>();
  let events = 0;
  let isFailing = false;

  /** Counts a request; returns the event's key and how many requests of it have arrived. */
  const count = ({ url = "", headers }: IncomingMessage, body: string): { key: string; requests: number } => {
    const { key } = JSON.parse(body) as { key: string };
    const arrivals = paths.get(url) ?? new Map<string, Arrival>();
    paths.set(url, arrivals);
    let arrival = arrivals.get(key);
    if (!arrival) {
      arrival = { requests: 0, webhookIds: new Set(), eventIds: new Set(), atMs: Date.now() };
      arrivals.set(key, arrival);
      events += 1;
    }
    arrival.requests += 1;
    arrival.webhookIds.add(String(headers["webhook-id"]));
    arrival.eventIds.add(String(headers["x-headwater-event-id"]));
    return { key, requests: arrival.requests };
  };

  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", chunk => {
      body += chunk;
    });
    request.on("end", () => {
      const { key, requests } = count(request, body);
      if (request.url === DEAD) return;
      const status = isFailing && FAILING.test(key) && requests <= 2 ? 503 : 200;
      setTimeout(() => response.writeHead(status).end(), Math.random() * RESPOND_MS);
    });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: path => `http://127.0.0.1:${port}${path}`,
    at: path => paths.get(path) ?? new Map(),
    events: () => events,
    failSome(isOn) {
      isFailing = isOn;
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
