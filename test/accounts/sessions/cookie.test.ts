import { request } from "node:http";
import { expect } from "chai";
import { withoutSessionCookie } from "../../../src/http/session-cookie.ts";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { signInWith } from "./browser.ts";

/** Shows what it receives, as a page. */
const ECHO = `export default { name: "Echo", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run({ headers }) {
    this.http.respond({ headers: { "content-type": "text/html" }, body: "cookie: " + headers.cookie });
  } };`;

describe("the cookie of a session", () => {
  const systems: System[] = [];
  after(() => Promise.all(systems.map(system => system.stop())));

  async function start(env: Record<string, string>): Promise<{ system: System; api: Api; cookie: string }> {
    const system = await startSystem(env);
    systems.push(system);
    const api = await system.user();
    return { system, api, cookie: await signInWith(api) };
  }

  it("is removed from a Cookie header, and nothing else is", () => {
    expect(withoutSessionCookie("a=1; headwater=hws_x; __Host-headwater=hws_y; b=2")).to.equal("a=1; b=2");
    expect(withoutSessionCookie("headwater-sign-in=v1.x; a=1; __Host-headwater-sign-in=v1.y")).to.equal(
      "a=1",
    );
    expect(withoutSessionCookie("headwater_board=1; headwater2=2")).to.equal(
      "headwater_board=1; headwater2=2",
    );
    expect(withoutSessionCookie(" headwater =hws_x")).to.equal(undefined);
    expect(withoutSessionCookie(""), "no cookie at all").to.equal(undefined);
  });

  it("reaches no component, whose pages are sandboxed, and does not open the board", async () => {
    const { system, api, cookie } = await start({ ADMIN_PASSWORD: "correct horse battery" });
    const source = await api.createSource({ component_code: ECHO });
    const endpoint = source.configured_props.http?.endpoint_url ?? "";
    const page = await fetch(endpoint, { headers: { cookie: `a=1; ${cookie}; b=2` } });
    expect(await page.text()).to.equal("cookie: a=1; b=2");
    expect(page.headers.get("content-security-policy")).to.equal("sandbox");
    expect(await (await fetch(endpoint, { headers: { cookie } })).text()).to.equal("cookie: undefined");
    const board = await fetch(new URL("/admin/queues", system.baseUrl), {
      headers: { cookie },
      redirect: "manual",
    });
    expect(board.headers.get("location")).to.equal("/admin/sign-in");
    const jobs = await fetch(new URL("/admin/queues/api/queues", system.baseUrl), { headers: { cookie } });
    expect(jobs.status).to.equal(401);
  });

  it("is worth nothing on the host of INGRESS_URL", async () => {
    const { system, cookie } = await start({ INGRESS_URL: "http://in.test" });
    const ask = (host: string) =>
      new Promise<number | undefined>((done, failed) => {
        const { port } = new URL(system.baseUrl);
        const options = { port, path: "/v1/users/me", headers: { host, cookie }, agent: false };
        request(options, response => done(response.resume().statusCode))
          .once("error", failed)
          .end();
      });
    expect([await ask("127.0.0.1"), await ask("in.test")]).to.deep.equal([200, 404]);
  });
});
