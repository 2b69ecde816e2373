import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** What came of one event at one path. */
export interface Arrival {
  requests: number;
  webhookIds: Set<string>;
  eventIds: Set<string>;
  /** Of the first request; Unix milliseconds. */
  atMs: number;
}

export interface CountingReceiver {
  urlOf(path: string): string;
  /** By the event's key. */
  at(path: string): ReadonlyMap<string, Arrival>;
  /** Distinct events that came, of all paths. */
  events(): number;
  /** Whether one event in some is refused twice before it is taken, so that it is tried again. */
  refuseSome(isOn: boolean): void;
  close(): Promise<void>;
}

/** Answers after some milliseconds, so that attempts are under way whenever a process is killed. */
const ANSWER_MS = 10;

/** Ends of keys that are refused while `refuseSome` is on. */
const REFUSED = /7$/;
/** A path that takes requests and never answers. */
export const DEAD = "/dead";

/** A real endpoint that keeps nothing of a request but what is counted: bodies are `{"key": …}`. */
export async function startCountingReceiver(): Promise<CountingReceiver> {
  const paths = new Map<string, Map<string, Arrival>>();
  let events = 0;
  let isRefusing = false;

  /** Answers how often this one has come. */
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
      const status = isRefusing && REFUSED.test(key) && requests <= 2 ? 503 : 200;
      setTimeout(() => response.writeHead(status).end(), Math.random() * ANSWER_MS);
    });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: path => `http://127.0.0.1:${port}${path}`,
    at: path => paths.get(path) ?? new Map(),
    events: () => events,
    refuseSome(isOn) {
      isRefusing = isOn;
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
