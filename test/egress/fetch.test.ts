import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createEgress, type Egress } from "../../src/egress/agent.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { fetchThrough } from "../../src/egress/fetch.ts";

describe("the guarded fetch", () => {
  let server: Server;
  let egress: Egress;
  let url: string;
  before(async () => {
    server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      if (request.url === "/long") return response.end("x".repeat(101));
      if (request.url === "/empty") return response.writeHead(204).end();
      if (request.url === "/elsewhere") return response.writeHead(302, { location: "/" }).end();
      response.writeHead(201, { "content-type": "text/plain", "x-method": request.method });
      response.end(`${request.headers["content-type"]}: ${body}`);
    });
    await new Promise<void>(done => server.listen(0, "127.0.0.1", done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    egress = createEgress({ allow: ["127.0.0.1"], blockedHosts: [], connectTimeoutMs: 2000 });
  });
  after(async () => {
    await egress.close();
    server.closeAllConnections();
    server.close();
  });

  const fetchOf = (through: Egress) => fetchThrough(through, { timeoutMs: 10_000, maxResponseBytes: 100 });
  const get = (path: string) => fetchOf(egress)(url + path, { method: "GET", headers: {} });

  it("sends a form and returns status, headers and body", async () => {
    const response = await fetchOf(egress)(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ code: "a b" }),
    });
    expect([response.status, response.headers.get("x-method")]).to.deep.equal([201, "POST"]);
    expect(await response.text()).to.equal("application/x-www-form-urlencoded: code=a+b");
    expect((await get("/empty")).status).to.equal(204);
    expect((await get("/elsewhere")).status, "a redirect is not followed").to.equal(302);
  });

  it("rejects a response that is too long, and an address that is not allowed", async () => {
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => "none",
        (error: EgressError) => (error instanceof EgressError ? error.code : String(error)),
      );
    expect(await codeOf(get("/long"))).to.equal("protocol");
    const strict = createEgress({ allow: [], blockedHosts: [], connectTimeoutMs: 2000 });
    const blocked = fetchOf(strict)(url, { method: "GET", headers: {} });
    expect(await codeOf(blocked)).to.equal("blocked-address");
    await strict.close();
  });
});
