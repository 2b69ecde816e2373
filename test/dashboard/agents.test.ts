// runs-long: npm test has test/mcp/events/health.test.ts for what this shows, and test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Page } from "playwright-core";
import { META } from "../../src/mcp/protocol.ts";
import { Memberships } from "../../src/models/organization.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { type Callback, call, newSecret, startCallback } from "../mcp/events/agent.ts";
import { Api } from "../support/api.ts";
import { until } from "../support/until.ts";
import { misfits } from "./fits.ts";
import { keepScreenshot, openTab, seriousFindings, settled, signIn } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const CODE = `export default { name: "Orders", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;

// One story in order: each part goes on where the one before ended.
describe("the agents in the dashboard", () => {
  let opened: Visit;
  let agent: Callback;
  let org: string;
  const ids: Record<string, string> = {};

  /** Subscribes as a host does that says its name, which may be markup. */
  const subscribe = async (of: Api, params: object, { client = "<b>Desk</b> agent", path = "/mcp" } = {}) => {
    const { result, error } = await call(
      of,
      "events/subscribe",
      { ...params, delivery: { mode: "webhook", url: agent.url, secret: newSecret() } },
      path,
      { [META.clientInfo]: { name: client, version: "2.1.0" } },
    );
    expect(error).to.equal(undefined);
    return result.id as string;
  };

  before(async function () {
    opened = await openDashboard(this, {
      env: { RATE_LIMITS: "api:0" },
      async prepare({ system, api }) {
        agent = await startCallback();
        const { id, configured_props } = await api.createSource({ component_code: CODE });
        const filter = {
          kind: "order",
          total: { $gt: 100 },
          country: { $in: ["DE", "AT", "CH"] },
        };
        ids.orders = await subscribe(api, { name: "source.event", arguments: { source: id, filter } });
        ids.alerts = await subscribe(api, { name: "alert.raised" });
        await fetch(configured_props.http?.endpoint_url ?? "", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ kind: "order", total: 200, country: "DE" }),
        });
        await until(() => agent.events.length === 1);
        await Webhooks(system.web.mongo).updateOne(
          { _id: ids.alerts },
          { $set: { failing_since_ms: Date.now() - 3_600_000 } },
        );
        org = await system.organization(api.userId);
        ids.org = await subscribe(api, { name: "alert.raised" }, { path: `/mcp?org_id=${org}` });
      },
    });
  });
  after(async () => {
    await opened?.close();
    await agent?.close();
  });

  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const rowOf = (page: Page, id = "") => page.getByRole("row").filter({ hasText: id });

  it("are found by the palette, and list what each is notified of, and its callback's host only", async () => {
    const { page } = opened;
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "An id, a name" }).fill("agents");
    await page.getByRole("option", { name: /^Agents/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await settled(page);
    const row = rowOf(page, ids.orders);
    await row.getByText("<b>Desk</b> agent").waitFor();
    await row.getByText('"country"').waitFor();
    await row.getByText(new URL(agent.url).host).waitFor();
    await rowOf(page, ids.alerts).getByText("Failing").waitFor();
    expect(await page.content()).not.to.contain("mcp_event_subscription");
    const key = page.getByRole("row").filter({ hasText: "2.1.0" });
    await key.getByText("Everything").waitFor();
  });

  it("fit each screen, in both colours, without a serious finding of axe", async () => {
    const { browser, system, api } = opened;
    for (const look of [
      {},
      { width: 390 },
      { colours: "dark" as const },
      { width: 390, colours: "dark" as const },
    ]) {
      const tab = await openTab(browser, system, look);
      const { page } = tab;
      await signIn(tab, api);
      for (const [name, path] of [
        ["agents", "/agents"],
        ["agent", `/agents/${ids.alerts}`],
      ] as const) {
        await tab.go(path);
        await settled(page);
        const shown = `${name}-${look.width ?? 1280}-${look.colours ?? "light"}`;
        await keepScreenshot(page, shown);
        expect(await misfits(page), shown).to.deep.equal([]);
        expect(await seriousFindings(page), shown).to.deep.equal([]);
      }
      expect(tab.problems).to.deep.equal([]);
      await tab.close();
    }
  });

  it("give the text for a host, with the address of this installation", async () => {
    const { page, show, system } = opened;
    await show("/agents");
    await page.getByLabel("Host").selectOption("Cursor");
    const { origin } = new URL(system.baseUrl);
    await page.getByLabel("Settings of Cursor").getByText(`"url": "${origin}/mcp"`).waitFor();
  });

  it("are what their deliveries lead to", async () => {
    const { page, show } = opened;
    await show(`/deliveries?webhook_id=${ids.orders}`);
    await page.getByRole("link", { name: "agent <b>Desk</b> agent: source orders" }).first().click();
    await page.getByRole("heading", { name: "<b>Desk</b> agent", level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).to.equal(`/dashboard/agents/${ids.orders}`);
    await page.getByRole("link", { name: "Deliveries" }).last().click();
    await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
    await settled(page);
  });

  it("are disconnected after a question that says what is lost, by the keyboard", async () => {
    const { page, show, api } = opened;
    await show("/agents");
    const disconnect = rowOf(page, ids.orders).getByRole("button", { name: "Disconnect" });
    await disconnect.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("no delivery is pending").waitFor();
    await dialog.getByText("may subscribe again while its API key is valid").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "agents-disconnect", false);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await api.expect(200, "GET", `/mcp_subscriptions/${ids.orders}`);
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Disconnect" }).focus();
    await page.keyboard.press("Enter");
    await rowOf(page, ids.orders).waitFor({ state: "detached" });
    await api.expect(404, "GET", `/mcp_subscriptions/${ids.orders}`);
  });

  it("are seen by a viewer of their organization, who can't disconnect one", async () => {
    const { browser, system } = opened;
    const viewer = await system.user();
    const at = { org_id: org, user_id: viewer.userId, role: "viewer" as const, created_at: 1 };
    await Memberships(system.web.mongo).insertOne({ _id: `${org}-${viewer.userId}`, ...at });
    const tab = await openTab(browser, system);
    await signIn(tab, viewer, `/agents?org=${org}`);
    await settled(tab.page);
    await rowOf(tab.page, ids.org).waitFor();
    const disconnect = button(tab.page, "Disconnect");
    expect(await disconnect.isDisabled()).to.equal(true);
    await tab.page.getByText("No agent has used one of your API keys yet.").waitFor();
    await tab.page.getByText(`/mcp?org_id=${org}`).first().waitFor();
    expect(tab.problems).to.deep.equal([]);
    await tab.close();
  });

  it("lose their connection with its API key", async () => {
    const { page, show, api, tab } = opened;
    const { id, api_key } = await api.expect(201, "POST", "/api_keys", {
      body: { name: "till", access: "read" },
    });
    await call(new Api(api.baseUrl, api_key), "tools/list");
    await until(async () => {
      const [key] = await api.expect(200, "GET", "/api_keys");
      return key.mcp_client !== null;
    });
    await show("/keys");
    await show("/agents");
    await page.getByRole("row").filter({ hasText: "till" }).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByText("nothing more is sent for the subscriptions").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("row").filter({ hasText: "till" }).waitFor({ state: "detached" });
    const keys = await api.expect(200, "GET", "/api_keys");
    expect(keys.find((one: { id: string }) => one.id === id).revoked_at).not.to.equal(null);
    expect(tab.problems).to.deep.equal([]);
  });
});
