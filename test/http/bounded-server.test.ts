import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createBoundedServer, type ServerBounds } from "../../src/http/bounded-server.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { until } from "../support/until.ts";

const BOUNDS: ServerBounds = { connections: 100, headersMs: 100, requestMs: 200 };
const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

describe("the web server", () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  async function start(
    bounds: ServerBounds,
    listener: RequestListener = (_, response) => response.end("ok"),
  ) {
    const server = createBoundedServer(listener, bounds);
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const open = () => {
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
      socket.on("error", () => undefined);
      sockets.push(socket);
      return socket;
    };
    return { server, open };
  }

  /** Sends a request on a connection; resolves with the start of the response, or with "" if it was closed. */
  const exchange = (socket: Socket) =>
    new Promise<string>(resolve => {
      socket.once("data", data => resolve(String(data).split("\r\n", 1)[0] ?? ""));
      socket.once("close", () => resolve(""));
      socket.write(REQUEST);
    });

  it("keeps as many connections as it may, and closes the next one, which it counts", async () => {
    const { server, open } = await start({ ...BOUNDS, connections: 2, headersMs: 60_000, requestMs: 60_000 });
    let dropped = 0;
    server.on("drop", () => {
      dropped += 1;
    });
    const [first, second] = [open(), open()];
    expect(await Promise.all([exchange(first), exchange(second)])).to.deep.equal([
      "HTTP/1.1 200 OK",
      "HTTP/1.1 200 OK",
    ]);
    expect(await exchange(open())).to.equal("");
    expect(dropped).to.equal(1);
    first.destroy();
    await until(async () => (await exchange(open())) === "HTTP/1.1 200 OK");
  });

  const slow = [
    ["headers", "POST / HTTP/1.1\r\nHost: x\r\n"],
    ["body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nfive."],
  ] as const;
  for (const [part, sent] of slow) {
    it(`responds with 408 to a request whose ${part} do not arrive in time, and closes its connection`, async () => {
      const { open } = await start(BOUNDS, () => undefined);
      const socket = open();
      socket.write(sent);
      const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
      expect(head.split("\r\n")[0]).to.equal("HTTP/1.1 408 Too slow");
      expect(JSON.parse(body)).to.include({ type: "/docs/errors#too-slow", status: 408 });
    });
  }

  it("responds with 431 to headers that are too large", async () => {
    const { open } = await start({ ...BOUNDS, headersMs: 60_000, requestMs: 60_000 });
    const statusOf = (bytes: number) => {
      const socket = open();
      const [start, end] = ["GET / HTTP/1.1\r\nHost: x\r\nX: ", "\r\n\r\n"];
      const response = new Promise<string>(resolve => {
        socket.once("data", data => resolve(String(data).split("\r\n", 1)[0] ?? ""));
      });
      socket.write(`${start}${"x".repeat(bytes - start.length - end.length)}${end}`);
      return response;
    };
    expect(await statusOf(LIMITS.headBytes.value)).to.equal("HTTP/1.1 200 OK");
    expect(await statusOf(LIMITS.headBytes.value + 100)).to.equal("HTTP/1.1 431 Headers too large");
  });

  it("has the bounds of docs/limits.md by default", () => {
    const server = createBoundedServer(() => undefined);
    expect(server.maxConnections).to.equal(LIMITS.openConnections.value);
    expect(server.headersTimeout).to.equal(LIMITS.headersArriveMs.value);
    expect(server.requestTimeout).to.equal(LIMITS.requestArrivesMs.value);
  });
});

/** A busy machine may be late. */
const LATE_MS = 4000;

describe("a request that is responded to before it has arrived", () => {
  let server: Server;
  let connected: Socket[];
  before(async () => {
    connected = [];
    server = createBoundedServer((_, response) => {
      response.statusCode = 404;
      response.end("no");
    });
    server.on("connection", socket => connected.push(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => server.close());

  const LENGTHS: [what: string, length: number, closes: boolean][] = [
    ["a small body", LIMITS.drainedBytes.value, false],
    ["a large one", LIMITS.drainedBytes.value + 1, true],
  ];
  for (const [what, length, closes] of LENGTHS) {
    it(`ends its connection if the rest never comes: ${what}`, async () => {
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
      let received = "";
      socket.setEncoding("latin1").on("data", text => {
        received += text;
      });
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\nthe beginning`);
      await until(() => received.endsWith("no"), { what: "the response" });
      expect(/^connection: close$/im.test(received)).to.equal(closes);
      const [own] = connected.splice(0);
      const timeoutMs = LIMITS.drainMs.value + LATE_MS;
      await until(() => own?.destroyed, { timeoutMs, what: "the server to let go of the connection" });
      socket.destroy();
    });
  }
});
