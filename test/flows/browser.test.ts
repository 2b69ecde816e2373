// runs-long: npm test has test/ops/board.test.ts and test/ops/sessions.test.ts

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { signInWith } from "../accounts/sessions/browser.ts";
import type { Api, SourceView } from "../support/api.ts";
import { openBrowser } from "../support/browser.ts";
import { skipBecause } from "../support/skip.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const PASSWORD = "correct horse battery";
/** Names of this machine in the browser: the board's host, a host of the endpoints' own, and another site. */
const [BOARD, INGRESS, EVIL] = ["headwater.test", "in.test", "evil.example"];

/** Does what it can to get the operator's credentials, and emits the headers that it receives. */
const HOSTILE = `export default { name: "Hostile", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  async run({ headers, path }) {
    this.$emit({ path, headers });
    await this.http.respond({
      status: path === "/ask" ? 401 : 200,
      headers: {
        "content-type": "text/html",
        "www-authenticate": 'Basic realm="Headwater", charset="UTF-8"',
        "set-cookie": "headwater_board=evil; Path=" + (path === "/root" ? "/" : "/admin") + "; Domain=test",
        "clear-site-data": '"cookies"',
        "refresh": "0; url=/admin/sign-out",
        "service-worker-allowed": "/",
        "x-request-id": "forged",
      },
      body: "<title>component</title><script>document.title = 'ran'; fetch('/v1/users/me'); fetch('/admin/queues/api/queues')</script>" +
        "<form method=post action=/admin/sign-out><button>go</button></form>",
    });
  } };`;

interface Seen {
  path: string;
  headers: Record<string, string>;
}

// The whole of docs/design.md#browsers, in a real one.
describe("a browser that is signed in to the board", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let source: SourceView;
  let context: BrowserContext;
  let page: Page;
  let attacker: Server;

  before(async function () {
    this.timeout(300_000);
    const opened = await openBrowser([BOARD, INGRESS, EVIL]);
    if ("missing" in opened) {
      return skipBecause(this, opened.missing);
    }
    browser = opened;
    system = await startSystem({ ADMIN_PASSWORD: PASSWORD });
    api = await system.user();
    source = await api.createSource({ component_code: HOSTILE });
    attacker = createServer((_request, response) => {
      const action = `${at(BOARD)}/admin/sign-out`;
      response.setHeader("content-type", "text/html");
      response.end(
        `<form method=post action="${action}"><button>go</button></form><iframe src="${at(BOARD)}/admin/queues"></iframe>`,
      );
    });
    await new Promise<void>(resolve => attacker.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    await browser?.close();
    attacker?.close();
    await system?.stop();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    await page.goto(`${at(BOARD)}/admin/queues`);
    await page.getByLabel("ADMIN_PASSWORD").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${at(BOARD)}/admin/queues**`);
  });
  afterEach(() => context?.close());

  const at = (host: string | undefined) => `http://${host}:${new URL(system.baseUrl).port}`;
  const endpointAt = (host: string | undefined) =>
    at(host) + new URL(source.configured_props.http?.endpoint_url ?? "").pathname;
  const boardCookies = async () =>
    (await context.cookies(`${at(BOARD)}/admin/queues`)).map(({ name, value }) => `${name}=${value}`);
  /** With what the browser would send; Node can't resolve its host names. */
  const isSignedIn = async () => {
    const headers = { cookie: (await boardCookies()).join("; ") };
    return (await fetch(new URL("/admin/queues/api/queues", system.baseUrl), { headers })).ok;
  };

  /** What the component received at a path. */
  const seenAt = (path: string) =>
    until(async () => {
      const summaries = await api.summaries(source.id, { query: { expand: "event" } });
      const seen = summaries.map(({ event }) => event.raw_event as Seen).filter(one => one.path === path);
      return seen.length > 0 && seen;
    });

  it("sees the queues, and signs out with the page's button", async () => {
    await page.getByText("deliveries").first().waitFor();
    expect(await isSignedIn()).to.equal(true);
    await page.goto(`${at(BOARD)}/admin/sign-out`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${at(BOARD)}/admin/sign-in`);
    expect(await isSignedIn()).to.equal(false);
    await page.goto(`${at(BOARD)}/admin/queues`);
    expect(page.url()).to.equal(`${at(BOARD)}/admin/sign-in`);
  });

  it("gives a component that asks for a password neither the password nor the cookie", async () => {
    for (let i = 0; i < 2; i++) {
      const response = await page.goto(`${endpointAt(BOARD)}/ask`);
      expect(response?.status()).to.equal(401);
      expect(response?.headers()).not.to.have.property("www-authenticate");
    }
    const all = await seenAt("/ask");
    for (const { headers } of all) expect(headers).not.to.have.any.keys("authorization", "cookie");
    expect(await isSignedIn()).to.equal(true);
  });

  it("takes nothing from a component that speaks for the whole host", async () => {
    const before = await boardCookies();
    for (const path of ["/page", "/root"]) {
      const response = await page.goto(endpointAt(BOARD) + path);
      const headers = await response?.allHeaders();
      expect(headers).not.to.have.any.keys(
        "set-cookie",
        "clear-site-data",
        "refresh",
        "service-worker-allowed",
      );
      expect(headers?.["x-request-id"]).not.to.equal("forged");
      // Its page is sandboxed: no script runs and no form is sent.
      expect(await page.title()).to.equal("component");
      await page.getByRole("button", { name: "go" }).click();
      expect(page.url()).to.include(path);
    }
    expect(await boardCookies())
      .to.deep.equal(before)
      .and.have.length(1);
    expect(await isSignedIn()).to.equal(true);
  });

  it("gives a component neither a user's session nor a page that could use it", async () => {
    const [name = "", value = ""] = (await signInWith(api)).split("=");
    await context.addCookies([{ name, value, url: at(BOARD), httpOnly: true, sameSite: "Lax" }]);
    expect((await page.goto(`${at(BOARD)}/v1/users/me`))?.status()).to.equal(200);
    const sentByPage: string[] = [];
    page.on("request", request => {
      if (request.url().includes("/v1/")) sentByPage.push(request.url());
    });
    await page.goto(`${endpointAt(BOARD)}/session`);
    expect(await page.title(), "its script ran").to.equal("component");
    expect(sentByPage).to.deep.equal([]);
    for (const { headers } of await seenAt("/session")) expect(headers.cookie ?? "").not.to.include("hws_");
  });

  it("makes no change, and shows no board, for a page of another site or of another port of the host", async () => {
    const { port } = attacker.address() as AddressInfo;
    for (const host of [EVIL, BOARD]) {
      await page.goto(`http://${host}:${port}/`);
      const frame = page.frames().find(one => one !== page.mainFrame());
      expect(await frame?.locator("body").textContent()).not.to.match(/deliveries/);
      await page.getByRole("button", { name: "go" }).click();
      await page.waitForURL(`${at(BOARD)}/admin/sign-out`);
      expect(await page.textContent("body")).to.include("from the board's own pages only");
      expect(await isSignedIn(), host).to.equal(true);
    }
  });

  it("keeps a component's cookies at its endpoint, where endpoints have a host of their own", async () => {
    const separate = await startSystem({ INGRESS_URL: `http://${INGRESS}`, ADMIN_PASSWORD: PASSWORD });
    try {
      const user = await separate.user();
      const other = await user.createSource({ component_code: HOSTILE });
      const { pathname } = new URL(other.configured_props.http?.endpoint_url ?? "");
      const { port } = new URL(separate.baseUrl);
      await page.goto(`http://${INGRESS}:${port}${pathname}/root`);
      const cookies = await context.cookies([
        `http://${INGRESS}/`,
        `http://${INGRESS}${pathname}`,
        `${at(BOARD)}/`,
      ]);
      expect(cookies.map(({ domain, path }) => ({ domain, path }))).to.deep.equal([
        { domain: INGRESS, path: pathname },
      ]);
      const shut = await page.goto(`http://${INGRESS}:${port}/admin/sign-in`);
      expect(shut?.status()).to.equal(404);
      const gone = await page.goto(`http://${BOARD}:${port}${pathname}/ask`);
      expect(gone?.status()).to.equal(404);
    } finally {
      await separate.stop();
    }
  });
});
