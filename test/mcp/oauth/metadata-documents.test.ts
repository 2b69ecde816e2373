import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { choosePort } from "../../../script/lib/ports.mjs";
import { createUser } from "../../../src/accounts/users.ts";
import { OAuthRecords } from "../../../src/models/oauth-record.ts";
import { TEST_TLS } from "../../egress/test-tls.ts";
import { Api } from "../../support/api.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../../workers/worker-process.ts";
import { exchange, modern } from "../mcp.ts";
import { Host, Person, REDIRECT } from "./host.ts";

// A process reads NODE_EXTRA_CA_CERTS when it starts, so this is a web process of its own.
describe("a client of agents that is known by its metadata document", () => {
  let platform: TestPlatform;
  let server: Server;
  let folder: string;
  let web: WorkerProcess | undefined;
  let api: Api;
  let origin: string;
  /** What the server of the documents responds, by path. */
  const documents = new Map<string, { status?: number; headers?: Record<string, string>; body: unknown }>();
  const asked: string[] = [];
  before(async () => {
    platform = await openTestPlatform();
    server = createServer(TEST_TLS, (request, response) => {
      asked.push(request.url ?? "");
      const {
        status = 200,
        headers = {},
        body,
      } = documents.get(request.url ?? "") ?? { status: 404, body: "" };
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", () => resolve()));
    origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    folder = await mkdtemp(join(tmpdir(), "headwater-documents-"));
    await writeFile(join(folder, "ca.pem"), TEST_TLS.cert);
    const port = await choosePort(0);
    web = spawnWorker("web", {
      ...environmentOf(platform.config),
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
    });
    await whenReady(web);
    const { api_key } = await createUser(platform, { email: "anna@example.test" });
    api = new Api(`http://127.0.0.1:${port}/v1`, api_key);
  });
  after(async () => {
    web?.kill("SIGTERM");
    await web?.ended;
    await platform?.destroy();
    server?.closeAllConnections();
    await new Promise(resolve => server?.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });

  const hostOf = (path: string, changes: object = {}, more: object = {}) => {
    const host = new Host(api);
    host.clientId = origin + path;
    const metadata = {
      ...{ client_id: host.clientId, client_name: "By document", redirect_uris: [REDIRECT] },
      ...{ grant_types: ["authorization_code", "refresh_token", "other"], response_types: ["code"] },
      ...{ token_endpoint_auth_method: "none", scope: "mcp other", logo_uri: "http://127.0.0.1/" },
      ...changes,
    };
    documents.set(path, { body: metadata, ...more });
    return host;
  };

  it("is let in without a registration", async () => {
    const host = hostOf("/client.json");
    const person = await Person.signedIn(api);
    const request = await person.begin(host.authorizeUrl());
    expect((await person.ask(request)).body.data).to.include({ client_name: "By document" });
    const { body } = await person.decide(request, { allow: true });
    const code = (await person.goOn(body.data.url)).searchParams.get("code") ?? "";
    const { body: tokens } = await host.exchange(code);
    expect((await exchange(new Api(api.baseUrl, tokens.access_token), modern("tools/list"))).status).to.equal(
      200,
    );
    expect((await host.refresh(tokens.refresh_token)).status).to.equal(200);
    expect(asked, "kept for a while").to.deep.equal(["/client.json"]);
    expect(await OAuthRecords(platform.mongo).countDocuments({ _id: /^Client:/ })).to.equal(0);
  });

  it("is rejected for what its document says, or where that is", async () => {
    const visitor = (await Person.signedIn(api)).visitor;
    const large = { client_name: "x".repeat(20_000) };
    const wrong: Record<string, Host> = {
      "another client's": hostOf("/other.json", { client_id: `${origin}/client.json` }),
      "a client with a secret": hostOf("/secret.json", { token_endpoint_auth_method: "client_secret_basic" }),
      "a redirect to a script": hostOf("/script.json", { redirect_uris: ["javascript:alert(1)"] }),
      "too large": hostOf("/large.json", large),
      "a redirect": hostOf(
        "/moved.json",
        {},
        { status: 302, headers: { location: `${origin}/client.json` } },
      ),
      "an error": hostOf("/error.json", {}, { status: 500 }),
      "no JSON": hostOf("/text.json", {}, { body: "text" }),
    };
    for (const [what, host] of Object.entries(wrong)) {
      const response = await visitor.request(host.authorizeUrl());
      expect([response.status, response.headers.get("location")], what).to.deep.equal([400, null]);
    }
    // Past the egress guard nothing is asked for.
    for (const clientId of [
      "https://10.0.0.1/client.json",
      "https://[fd00::1]/client.json",
      "http://127.0.0.1/x",
    ]) {
      const host = new Host(api);
      host.clientId = clientId;
      expect((await visitor.request(host.authorizeUrl())).status, clientId).to.equal(400);
    }
  });
});
