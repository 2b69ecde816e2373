import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect } from "chai";
import { createBoundedServer } from "../../src/http/bounded-server.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { until } from "../support/until.ts";

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
