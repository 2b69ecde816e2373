// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser } from "playwright-core";
import { startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, settled, signIn } from "./signed-in.ts";

const CODE = "export default { name: 'Replayed', version: '0.0.1', props: { http: '$.interface.http' } };";

describe("a replay by filter in the dashboard", () => {
  let browser: Browser;
  let system: System;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  it("sends what it counted, and shows its progress although that could not be read once", async () => {
    const api = await system.user();
    const receiver = await startReceiver();
    const source = await api.createSource({ component_code: CODE, name: "replayed" });
    await api.subscribe(source.id, (await api.createWebhook(receiver.url)).id);
    const publish = (n: number) =>
      api.expect(202, "POST", `/sources/${source.id}/events`, { body: { events: [{ event: { n } }] } });
    await publish(1);
    await until(() => receiver.requests.length === 1);
    const tab = await openTab(browser, system);
    const { page } = tab;
    await signIn(tab, api, "/deliveries?hours=1");
    await settled(page);
    const rows = page.getByRole("row").filter({ hasText: "replayed" });
    await until(async () => (await rows.count()) === 1);
    const asked: { since: number; state?: string; dry_run?: boolean }[] = [];
    let looks = 0;
    await page.route(/\/v1\/replays/, async route => {
      const request = route.request();
      if (request.method() === "POST") asked.push(request.postDataJSON());
      if (request.method() !== "GET") return await route.continue();
      looks += 1;
      if (looks === 1) await route.abort();
      else await route.continue();
    });
    await page.getByRole("button", { name: "Replay these …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("State").selectOption("delivered");
    await dialog.getByRole("button", { name: "Replay 1" }).waitFor();
    await dialog.getByLabel("Send 1 delivery once more").check();
    // A minute later, an event has the page drawn again.
    await page.evaluate(() => {
      const now = Date.now;
      Date.now = () => now() + 60_000;
    });
    await publish(2);
    await until(async () => (await rows.count()) === 2);
    await dialog.getByRole("button", { name: "Replay 1" }).click();
    await dialog.getByText(/^([12]) of \1 are on their way/).waitFor();
    expect(looks).to.be.greaterThan(1);
    expect(asked.map(one => one.dry_run)).to.deep.equal([true, true, undefined]);
    expect(asked.map(one => one.state)).to.deep.equal(["failed", "delivered", "delivered"]);
    expect(new Set(asked.map(one => one.since)).size).to.equal(1);
    // The look that was cut off, and nothing else.
    expect(tab.problems.filter(one => !one.includes("net::ERR_FAILED"))).to.deep.equal([]);
    await receiver.close();
  });

  it("is offered for what is narrowed down only, and for a large number after that was typed", async () => {
    const api = await system.user();
    const tab = await openTab(browser, system);
    const { page } = tab;
    await signIn(tab, api, "/deliveries?state=failed");
    await settled(page);
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Replay these …" }).click();
    await dialog.getByText("Narrow the list first").waitFor();
    expect(await dialog.getByRole("button", { name: "Replay" }).count()).to.equal(0);
    await dialog.getByRole("button", { name: "Close" }).click();

    const counted = { state: "counted", count: 17_145, count_is_exact: true, replayed: 0, skipped: 0 };
    await page.route(/\/v1\/replays$/, async route => {
      const { state } = route.request().postDataJSON() as { state?: string };
      const count = state === "failed" ? 1772 : state === "delivered" ? 15_373 : 17_145;
      await route.fulfill({ json: { data: { ...counted, count } } });
    });
    await tab.go("/deliveries?hours=24");
    await page.getByRole("button", { name: "Replay these …" }).click();
    const send = (number: string) => dialog.getByRole("button", { name: `Replay ${number}` });
    await send("1,772").waitFor();
    expect(await send("1,772").isDisabled()).to.equal(true);
    await dialog.getByLabel("Type 1772 to confirm").fill("1,772");
    expect(await send("1,772").isDisabled()).to.equal(false);
    await dialog.getByLabel("State").selectOption({ label: "Any state" });
    await send("17,145").waitFor();
    await dialog.getByLabel("Type 17145 to confirm").fill("17145");
    expect(await send("17,145").isDisabled(), "most of them arrived").to.equal(true);
    await dialog.getByLabel(/Send 15,373 deliveries once more/).check();
    expect(await send("17,145").isDisabled()).to.equal(false);
    expect(tab.problems).to.deep.equal([]);
    await tab.close();
  });
});
