import { request } from "node:http";
import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Cookies", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run(event) {
    this.http.respond({ headers: { "set-cookie": "a=1; Path=/; Domain=test", refresh: "0" }, body: event.url });
  } };`;

describe("INGRESS_URL", () => {
  let system: System;
  let api: Api;
  let endpoint: URL;
  let sourceId: string;
  before(async () => {
    system = await startSystem({ INGRESS_URL: "https://in.test/", TRUST_PROXY: "true" });
    api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    sourceId = source.id;
    endpoint = new URL(source.configured_props.http?.endpoint_url ?? "");
  });
  after(() => system.stop());

  const ask = (host: string, path: string, more: Record<string, string> = {}) =>
    new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((done, failed) => {
      const options = { port: new URL(system.baseUrl).port, path, headers: { host, ...more }, agent: false };
      request(options, response => {
        let text = "";
        response.setEncoding("utf8").on("data", chunk => {
          text += chunk;
        });
        response.once("end", () =>
          done({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      })
        .once("error", failed)
        .end();
    });

  it("is what endpoint URLs and the URLs of events start with", async () => {
    expect(endpoint.href).to.match(/^https:\/\/in\.test\/in\/\w{32}$/);
    for (const host of ["in.test", "IN.test:8443"]) {
      const { status, text } = await ask(host, `${endpoint.pathname}/a?b=1`);
      expect([status, text]).to.deep.equal([200, `${endpoint.href}/a?b=1`]);
    }
  });

  it("is a host where nothing but endpoints exists", async () => {
    const paths = [
      "/",
      "/v1/users/me",
      "/docs",
      "/admin/queues",
      "/admin/sign-in",
      "/metrics",
      "/readyz",
      "/inx",
    ];
    for (const path of paths) expect((await ask("in.test", path)).status, path).to.equal(404);
  });

  it("is the only host where endpoints exist", async () => {
    for (const host of ["127.0.0.1", "headwater.test", "xin.test", "in.test.evil", "[::1]", "", "[x"]) {
      expect((await ask(host, endpoint.pathname)).status, host).to.equal(404);
    }
    expect((await ask("headwater.test", "/healthz")).status).to.equal(200);
  });

  it("is compared with the request's own host, whatever a client says that a proxy has seen", async () => {
    const [toIngress, away] = [{ "x-forwarded-host": "in.test" }, { "x-forwarded-host": "evil.example" }];
    expect((await ask("headwater.test", endpoint.pathname, toIngress)).status).to.equal(404);
    expect((await ask("in.test", endpoint.pathname, away)).status).to.equal(200);
    expect((await ask("in.test", "/v1/openapi.json", away)).status).to.equal(404);
    const page = await ask("headwater.test", "/dashboard", away);
    expect(page.headers["content-security-policy"]).to.include("headwater.test/dashboard/assets/");
    expect(page.headers["content-security-policy"]).not.to.include("evil.example");
  });

  it("lets components set cookies for their own endpoint, and the run's log names what was left out", async () => {
    const { headers } = await ask("in.test", endpoint.pathname);
    expect(headers["set-cookie"]).to.deep.equal([`a=1; Path=${endpoint.pathname}`]);
    expect(headers).not.to.have.property("refresh");
    const [line] = await until(async () => {
      const logs = await api.summaries(sourceId, { stream: "$logs", query: { expand: "event" } });
      return logs.length > 0 && logs;
    });
    expect(line?.event).to.include({
      level: "warn",
      message: "respond: headers that a component may not set were left out: refresh",
    });
  });
});
