import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The requests of one event at one path. */
export interface Arrival {
  requests: number;
  webhookIds: Set<string>;
  eventIds: Set<string>;
  /** Time of the first request; Unix milliseconds. */
  atMs: number;
  /** Time of the first 2xx response. */
  deliveredAtMs?: number;
  /** Requests after that response. */
  repeats: number;
  /** The event of the first request, without its padding. */
  event: Record<string, unknown>;
}

/** What to do with a request: a status after a while, or no response at all. */
export interface Reaction {
  status: number | "hang";
  afterMs: number;
}

/** A request that has arrived, for a function that decides what to do with it. */
export interface Counted {
  path: string;
  key: string;
  /** How many requests of this event have arrived at this path, this one included. */
  requests: number;
  headers: IncomingHttpHeaders;
  body: string;
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

interface Options {
  /** The key of an event; by default its own field of that name. */
  keyOf?: (event: Record<string, unknown>) => string;
  react?: (request: Counted) => Reaction;
}

/** Longest time to respond, so that attempts are in flight whenever a process is killed. */
const RESPOND_MS = 10;

/** Keys of events that get 503 while `failSome` is on. */
const FAILING = /7$/;
/** A path that accepts requests and never responds. */
export const DEAD = "/dead";

/** Starts a real endpoint that keeps only counts, ids and the events of its requests, whose bodies are `{"key": …}`. */
export async function startCountingReceiver(options: Options = {}): Promise<CountingReceiver> {
  const paths = new Map<string, Map<string, Arrival>>();
  let events = 0;
  let isFailing = false;
  const keyOf = options.keyOf ?? (({ key }) => String(key));
  const react =
    options.react ??
    (({ path, key, requests }: Counted): Reaction => ({
      status: path === DEAD ? "hang" : isFailing && FAILING.test(key) && requests <= 2 ? 503 : 200,
      afterMs: Math.random() * RESPOND_MS,
    }));

  const count = ({ url = "", headers }: IncomingMessage, event: Record<string, unknown>): Arrival => {
    const key = keyOf(event);
    const arrivals = paths.get(url) ?? new Map<string, Arrival>();
    paths.set(url, arrivals);
    let arrival = arrivals.get(key);
    if (!arrival) {
      const ids = { webhookIds: new Set<string>(), eventIds: new Set<string>() };
      const kept = { ...event };
      delete kept.padding;
      arrival = { requests: 0, ...ids, atMs: Date.now(), repeats: 0, event: kept };
      arrivals.set(key, arrival);
      events += 1;
    }
    arrival.requests += 1;
    if (arrival.deliveredAtMs !== undefined) arrival.repeats += 1;
    arrival.webhookIds.add(String(headers["webhook-id"]));
    arrival.eventIds.add(String(headers["x-headwater-event-id"]));
    return arrival;
  };

  const respond = (response: ServerResponse, arrival: Arrival, { status, afterMs }: Reaction): void => {
    if (status === "hang") return;
    setTimeout(() => {
      if (status < 300) arrival.deliveredAtMs ??= Date.now();
      response.writeHead(status).end();
    }, afterMs);
  };

  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", chunk => {
      body += chunk;
    });
    request.on("end", () => {
      const event = JSON.parse(body) as Record<string, unknown>;
      const arrival = count(request, event);
      const { url: path = "", headers } = request;
      const { requests } = arrival;
      respond(response, arrival, react({ path, key: keyOf(event), requests, headers, body }));
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
