// runs-long: npm test has test/mcp/oauth/oauth.test.ts, which sends what this page does

import { expect } from "chai";
import { Host } from "../mcp/oauth/host.ts";
import { misfits } from "./fits.ts";
import { keepScreenshot, seriousFindings, settled } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

describe("the page on which a user lets an agent's host in", () => {
  let opened: Visit;
  let host: Host;
  before(async function () {
    opened = await openDashboard(this);
    host = new Host(opened.api);
    await host.register({ client_name: "ChatGPT", redirect_uris: [new URL("/livez", host.origin).href] });
  });
  after(() => opened?.close());

  const redirect = () => new URL("/livez", host.origin).href;
  const begin = async () => {
    await opened.page.goto(host.authorizeUrl({ redirect_uri: redirect() }).href);
    await settled(opened.page);
  };

  it("says who asks and where the browser goes on, and makes no key unless the user agrees", async () => {
    const { page, api } = opened;
    await begin();
    await page.getByRole("heading", { name: "ChatGPT wants to connect" }).waitFor();
    await page.getByText(new URL(host.origin).host).waitFor();
    expect(await page.getByLabel("It may").inputValue()).to.equal("read");
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await misfits(page), `${width}`).to.deep.equal([]);
      expect(await seriousFindings(page), `${width}`).to.deep.equal([]);
      await keepScreenshot(page, `connect-agent-${width}`);
    }
    const before = await api.expect(200, "GET", "/api_keys");
    await page.getByRole("button", { name: "Do not connect" }).click();
    await page.waitForURL(/\/livez\?error=access_denied/);
    expect(await api.expect(200, "GET", "/api_keys")).to.have.length(before.length);
  });

  it("lets it in, sends the browser on with a code, and lists it among the API keys", async () => {
    const { page, tab } = opened;
    await begin();
    await page.getByLabel("It may").selectOption("Everything that you can");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.waitForURL(/\/livez\?code=/);
    const code = new URL(page.url()).searchParams.get("code") ?? "";
    const { status, body } = await host.exchange(code, { redirect_uri: redirect() });
    expect(status, JSON.stringify(body)).to.equal(200);
    await tab.open("/keys");
    await settled(page);
    const row = page.getByRole("row").filter({ hasText: "ChatGPT (" });
    await row.getByText("Agent", { exact: true }).waitFor();
    await row.getByText("Everything that you can").waitFor();
  });

  it("says that nothing waits for what is unknown or was decided", async () => {
    const { page, show } = opened;
    await show("/connect?request=unknown");
    await page.getByText("Nothing waits here").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
  });
});
