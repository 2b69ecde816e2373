import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { CODES } from "../../../src/mcp/protocol.ts";
import { openProcesses, type Processes } from "../../flows/processes.ts";
import { until } from "../../support/until.ts";
import { type AgentHost, startAgentHost } from "./agent-host.ts";
import { installedOrSkip } from "./installed.ts";

const run = promisify(execFile);
const CODE = `export default { name: "Orders", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;

// A process reads NODE_EXTRA_CA_CERTS when it starts, so these are processes of their own.
describe("mcp, for the AI SDK behind a certificate of an own authority,", () => {
  let packages: string;
  let folder: string;
  let processes: Processes;
  let agent: AgentHost | undefined;
  before(async function () {
    packages = installedOrSkip(this, "MCP_CLIENTS");
    folder = await mkdtemp(join(tmpdir(), "headwater-mcp-"));
  });
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
    await processes?.close();
  });
  after(async () => {
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** Makes an authority, and a certificate for this machine that it has signed. */
  async function makeCertificates(name: string) {
    const file = (ending: string) => join(folder, `${name}.${ending}`);
    const openssl = (...args: string[]) => run("openssl", args);
    const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    const ofAuthority = ["-keyout", file("ca.key"), "-out", file("ca.pem"), "-subj", "/CN=An own authority"];
    await openssl("req", "-x509", ...newKey, "-days", "2", ...ofAuthority);
    const ofServer = ["-keyout", file("key"), "-out", file("csr"), "-subj", "/CN=127.0.0.1"];
    await openssl("req", ...newKey, ...ofServer);
    await writeFile(file("ext"), "subjectAltName = IP:127.0.0.1\n");
    const by = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-CAcreateserial", "-days", "2"];
    await openssl("x509", "-req", "-in", file("csr"), ...by, "-extfile", file("ext"), "-out", file("pem"));
    const [key, cert] = await Promise.all([readFile(file("key"), "utf8"), readFile(file("pem"), "utf8")]);
    return { authority: file("ca.pem"), tls: { key, cert } };
  }

  async function startWith(authority: string, tls: { key: string; cert: string }) {
    processes = await openProcesses({ NODE_EXTRA_CA_CERTS: authority });
    const { api, start } = processes;
    await start("web");
    const mcpUrl = new URL("/mcp", api.baseUrl).href;
    agent = await startAgentHost(packages, { mcpUrl, apiKey: api.apiKey, tls });
    return { api, agent, start };
  }

  it("goes the whole way over https", async () => {
    const { authority, tls } = await makeCertificates("own");
    const { api, agent, start } = await startWith(authority, tls);
    const source = await api.createSource({ component_code: CODE });
    const { experimental_events: events } = agent.client;
    const { id } = await events.subscribe({
      name: `source.${source.id}`,
      arguments: {},
      delivery: { mode: "webhook", url: agent.url },
    });
    await Promise.all(["runs", "emissions", "deliveries"].map(start));
    const endpoint = source.configured_props.http?.endpoint_url ?? "";
    const headers = { "content-type": "application/json" };
    await fetch(endpoint, { method: "POST", headers, body: '{"n":1}' });
    await until(() => agent.events.length === 1, { what: "it is woken" });
    expect(agent.events[0]?.data.event).to.deep.equal({ n: 1 });
    expect((await events.refresh({ id })).id).to.equal(id);
    await events.unsubscribe({ id });
  });

  it("is told that a certificate of another authority is not trusted", async () => {
    const [{ authority }, { tls }] = [await makeCertificates("trusted"), await makeCertificates("other")];
    const { api, agent } = await startWith(authority, tls);
    const source = await api.createSource({ component_code: CODE });
    const error = await agent.client.experimental_events
      .subscribe({
        name: `source.${source.id}`,
        arguments: {},
        delivery: { mode: "webhook", url: agent.url },
      })
      .then(
        () => null,
        (thrown: unknown) => thrown,
      );
    expect(error).to.deep.include({ code: CODES.callbackEndpoint, data: { reason: "tls_error" } });
  });
});
