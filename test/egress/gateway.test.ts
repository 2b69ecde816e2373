import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createDial } from "../../src/egress/dial.ts";
import { Gateway } from "../../src/egress/gateway.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { until } from "../support/until.ts";

describe("the egress gateway", () => {
  let directory: string;
  let socketPath: string;
  let echo: Server;
  let port: number;
  let gateway: Gateway;
  const accepted = new Set<Socket>();

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "hw-gate-"));
    socketPath = join(directory, "g.sock");
    echo = createServer({ allowHalfOpen: true }, socket => {
      accepted.add(socket);
      socket.on("close", () => accepted.delete(socket)).on("error", () => {});
      socket.pipe(socket);
    });
    await new Promise<void>(done => echo.listen(0, "127.0.0.1", done));
    port = (echo.address() as AddressInfo).port;
    const dial = createDial({ allow: ["127.0.0.1"], blockedHosts: [], connectTimeoutMs: 1000 });
    gateway = await Gateway.open({ dial, socketPath });
  });

  afterEach(async () => {
    await gateway.close();
    await new Promise(done => echo.close(done));
    await rm(directory, { recursive: true });
  });

  /** Sends `text`, ends the connection, and returns everything that was received. */
  function talk(text: string): Promise<string> {
    return new Promise((done, failed) => {
      let read = "";
      const client = connect(socketPath, () => client.end(text));
      client.on("data", chunk => {
        read += chunk;
      });
      client.on("end", () => done(read)).on("error", failed);
    });
  }

  const head = (host: unknown, to: unknown) => `${JSON.stringify({ host, port: to })}\n`;

  it("pipes bytes both ways after its ok, including those sent together with the header", async () => {
    const big = "x".repeat(300_000);
    expect(await talk(`${head("127.0.0.1", port)}early ${big}`)).to.equal(`{"ok":true}\nearly ${big}`);
  });

  it("rejects an address that is not public, with the error code", async () => {
    const response = JSON.parse(await talk(head("10.0.0.1", 80))) as { error: string; message: string };
    expect(response.error).to.equal("blocked-address");
    expect(response.message).to.contain("10.0.0.1");
  });

  it("reports a connection that failed", async () => {
    const closed = createServer();
    await new Promise<void>(done => closed.listen(0, "127.0.0.1", done));
    const closedPort = (closed.address() as AddressInfo).port;
    await new Promise(done => closed.close(done));
    expect(JSON.parse(await talk(head("127.0.0.1", closedPort)))).to.have.property("error", "connect");
  });

  for (const [what, text] of [
    ["a line that is not JSON", "hello\n"],
    ["an invalid port", head("a.test", 70_000)],
    ["an invalid host", head("a b\u0000", 80)],
    ["a missing host", '{"port":80}\n'],
    ["an endless header", `{"host":"${"a".repeat(5000)}`],
    ["an incomplete header", '{"host":"a.test"'],
  ] as const) {
    it(`rejects ${what}`, async () => {
      expect(JSON.parse(await talk(text))).to.have.property("error", "invalid-url");
    });
  }

  it("limits how many connections are open at a time", async () => {
    const held = Array.from({ length: LIMITS.sandboxConnections.value }, () => connect(socketPath));
    for (const client of held) client.write(head("127.0.0.1", port));
    await until(() => accepted.size === held.length);
    expect(JSON.parse(await talk(head("127.0.0.1", port)))).to.have.property("error", "connect");
    for (const client of held) client.destroy();
    // The gateway notices later than the other end that they are gone.
    const again = async () => (await talk(`${head("127.0.0.1", port)}again`)) === '{"ok":true}\nagain';
    await until(again, { what: "a connection again" });
  });

  it("ends every connection when it closes", async () => {
    const client = connect(socketPath);
    client
      .on("error", () => {})
      .resume()
      .write(head("127.0.0.1", port));
    await until(() => accepted.size === 1);
    const closed = new Promise(done => client.once("close", done));
    await gateway.close();
    await closed;
    await until(() => accepted.size === 0);
    gateway = await Gateway.open({
      dial: createDial({ allow: [], blockedHosts: [], connectTimeoutMs: 1000 }),
      socketPath,
    });
  });
});
