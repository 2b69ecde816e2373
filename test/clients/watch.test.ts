import type { IncomingMessage, ServerResponse } from "node:http";
import { expect } from "chai";
import {
  ConnectionError,
  Headwater,
  type LiveMessage,
  StreamEndedError,
} from "../../clients/typescript/src/index.ts";
import { until } from "../support/until.ts";
import { type Listening, listen } from "./receivers.ts";

const emit = (id: string, emitter = "dc_1", event = "emit") =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify({ id, metadata: { emitter_id: emitter, name: "" } })}\n\n`;
const ready = (resumed: boolean) => `event: ready\ndata: {"resumed":${resumed}}\n\n`;

/** What a connection gets: texts, each as a chunk of its own, and whether it ends then. */
type Connection = (request: IncomingMessage, response: ServerResponse) => void;
const chunks =
  (texts: string[], then: "end" | "reset" | "stay" = "end"): Connection =>
  async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const text of texts) await new Promise(resolve => response.write(text, resolve));
    if (then === "end") response.end();
    if (then === "reset") response.destroy();
  };
const fails =
  (status: number): Connection =>
  (_request, response) => {
    const body = JSON.stringify({ type: "/docs/errors#unauthenticated", detail: "no" });
    response.writeHead(status, { "retry-after": "0", "content-type": "application/problem+json" }).end(body);
  };

describe("watching with the client", () => {
  let server: Listening;
  let connections: Connection[];
  let requests: { path: string; lastEventId: string | undefined }[];
  let open: number;
  beforeEach(async () => {
    requests = [];
    open = 0;
    server = await listen((request, response) => {
      requests.push({ path: request.url ?? "", lastEventId: request.headers["last-event-id"] as string });
      open += 1;
      response.once("close", () => {
        open -= 1;
      });
      const next = connections.length > 1 ? connections.shift() : connections[0];
      next?.(request, response);
    });
  });
  afterEach(() => server.close());

  const client = () => new Headwater({ url: new URL(server.url).origin, apiKey: "hw_1", orgId: "o_1" });
  /** The first messages of a stream, in short: the type, and the id of an event. */
  const watch = async (count: number, options = {}): Promise<string[]> => {
    const seen: string[] = [];
    for await (const message of client().watch({ emitters: ["dc_1", "p_2"], ...options })) {
      seen.push(short(message));
      if (seen.length === count) break;
    }
    return seen;
  };
  const short = (message: LiveMessage) =>
    "summary" in message ? `${message.type} ${message.summary.id}` : message.type;

  it("yields what comes, however it is cut, and leaves out comments and new kinds", async () => {
    const text = `${ready(false)}: heartbeat\n\nevent: later\ndata: {}\n\n${emit("1-0")}${emit("2-0", "p_2", "error")}`;
    const rows = `event: delivery\r\ndata: {"id":\r\ndata: "dlv_1"}\r\n\r\nevent: run\ndata: {"id":"run_1"}\n\n`;
    const skipped = `event: skipped\ndata: {"deliveries":2,"runs":0}\n\n`;
    connections = [chunks([...(text + rows + skipped)], "stay")];
    const seen = await watch(6, { deliveries: true, runs: true });
    expect(seen).to.deep.equal(["ready", "emit 1-0", "error 2-0", "delivery", "run", "skipped"]);
    expect(requests[0]?.path).to.equal("/v1/live?org_id=o_1&emitters=dc_1%2Cp_2&deliveries=true&runs=true");
  });

  it("goes on behind the last event when the connection ends, and yields each event once", async () => {
    connections = [
      chunks([ready(false), emit("1-0"), emit("2-0")]),
      chunks([ready(true), emit("1-0"), emit("2-0"), emit("2-0", "p_2"), emit("3-0")], "reset"),
      fails(503),
      chunks([ready(true), emit("3-0"), emit("4-0")], "stay"),
    ];
    const seen = await watch(8);
    expect(seen.filter(one => one !== "ready")).to.deep.equal([
      "emit 1-0",
      "emit 2-0",
      "emit 2-0",
      "emit 3-0",
      "emit 4-0",
    ]);
    expect(requests.map(({ lastEventId }) => lastEventId)).to.deep.equal([undefined, "2-0", "3-0", "3-0"]);
  });

  it("goes on behind the moment at which it began if there was no event yet", async () => {
    const date = "Fri, 02 Jan 2026 03:04:05 GMT";
    connections = [
      (_request, response) =>
        response.writeHead(200, { date, "content-type": "text/event-stream" }).end(ready(false)),
      chunks([ready(true)], "stay"),
    ];
    await watch(2);
    expect(requests[1]?.lastEventId).to.equal(`${Date.parse(date)}-0`);
  });

  it("says when its connection is lost, and when it can't be made", async () => {
    connections = [
      chunks([ready(false)]),
      fails(503),
      chunks([ready(true), emit("1-0")], "reset"),
      chunks([ready(true)], "stay"),
    ];
    const seen: string[] = [];
    for await (const { type } of client().watch({ runs: true, onLost: () => seen.push("lost") })) {
      seen.push(type);
      if (seen.length === 7) break;
    }
    expect(seen).to.deep.equal(["ready", "lost", "lost", "ready", "emit", "lost", "ready"]);
  });

  it("begins behind an event of the caller's", async () => {
    connections = [chunks([ready(true)], "stay")];
    await watch(1, { lastEventId: "7-0" });
    expect(requests[0]?.lastEventId).to.equal("7-0");
  });

  it("closes its connection when the loop is left, and when the signal aborts", async () => {
    connections = [chunks([ready(false)], "stay")];
    await watch(1);
    await until(() => open === 0);
    const caller = new AbortController();
    const seen: string[] = [];
    for await (const { type } of client().watch({ runs: true, signal: caller.signal })) {
      seen.push(type);
      caller.abort();
    }
    expect(seen).to.deep.equal(["ready"]);
    await until(() => open === 0);
  });

  it("fails if the first connection can't be made, with the reason", async () => {
    connections = [fails(503)];
    expect(await watch(9).catch(error => error)).to.have.property("status", 503);
    expect(requests).to.have.lengthOf(3);
    connections = [(_request, response) => response.end("<html>")];
    const page = await watch(9).catch(error => error);
    expect(page.message).to.match(
      /the response is not an event stream: url must be the address of a Headwater/,
    );
    const nowhere = new Headwater({ url: "http://127.0.0.1:1", apiKey: "hw_1" }).watch({ runs: true });
    expect(await nowhere.next().catch(error => error)).to.be.an.instanceOf(ConnectionError);
  });

  it("fails when access was lost, and with what the first response says", async () => {
    connections = [chunks([ready(false), 'event: end\ndata: {"reason":"key-revoked"}\n\n'])];
    const ended = await watch(9).catch(error => error);
    expect(ended).to.be.an.instanceOf(StreamEndedError).with.property("reason", "key-revoked");
    connections = [fails(401)];
    expect(await watch(9).catch(error => error)).to.have.property("status", 401);
    expect(requests).to.have.lengthOf(2);
  });
});
