// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Page } from "playwright-core";
import { buildCrowd } from "../../bench/crowd.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import type { SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { misfits } from "./fits.ts";
import { keepScreenshot, openTab, seriousFindings, settled, signIn } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const CROWD = { sources: 200, webhooks: 150, subscriptions: 3000, deliveries: 20_000 };
const CODE = "export default { name: 'Till', version: '0.0.1', props: { http: '$.interface.http' } };";

/** What issue 32 asks for. */
const MOST_CLICKS = 3;
/** `npm run bench:dashboard` holds the aim; a busy machine must not fail the tests, which allow ten times as much. */
const SEEN_WITHIN_MS = process.env.DASHBOARD === "timed" ? 5000 : 50_000;
const EVENTS_A_MINUTE = 10_000;
const BATCH = 100;

/** Runs in the page: counts the clicks of a person, and not those of a script. */
const COUNT_CLICKS = `{
  globalThis.clicks = 0;
  addEventListener("click", ({ isTrusted }) => { if (isTrusted) globalThis.clicks += 1; }, true);
}`;

describe("who is on call for 200 sources and 150 webhooks", function () {
  this.timeout(300_000);
  let visit: Visit;
  let page: Page;
  let till: SourceView;
  let printer: Receiver;
  let scanner: Receiver;
  let good: Receiver;
  const ids = { webhook: "", delivery: "", event: "" };

  before(async function () {
    printer = await startReceiver({ status: 503, body: "out of paper" });
    scanner = await startReceiver(200);
    good = await startReceiver(200);
    visit = await openDashboard(this, {
      env: { DELIVERY_RETRY_SCHEDULE: "1s", PAYLOAD_SEARCH_WORDS: "50", RATE_LIMITS: "api:0" },
      prepare: async ({ system, api }) => {
        await buildCrowd(system.web, api.userId, CROWD, () => undefined);
        // Longer than those that fail since now, and so many that the overview can't name them all.
        await Webhooks(system.web.mongo).updateMany(
          { owner_id: api.userId, name: /^refunds/ },
          { $set: { failing_since_ms: Date.now() - 3_600_000 } },
        );
        till = await api.createSource({ component_code: CODE, name: "shop till" });
        const url = new URL("/receipts", printer.url).href;
        ids.webhook = (await api.createWebhook(url, { name: "receipt printer" })).id;
        await api.subscribe(till.id, ids.webhook);
        const { id } = await api.createWebhook(scanner.url, { name: "label scanner" });
        await api.subscribe(till.id, id);
        await publish(api, till.id, [{ order: "order-4711" }]);
        const [failed] = await until(async () => {
          const rows = await api.expect<{ id: string; event_id: string }[]>(200, "GET", "/deliveries", {
            query: { webhook_id: ids.webhook, state: "failed" },
          });
          return rows.length === 1 && rows;
        });
        Object.assign(ids, { delivery: failed?.id, event: failed?.event_id });
      },
    });
    page = visit.page;
    await visit.tab.page.evaluate(COUNT_CLICKS);
  });
  after(async () => {
    await visit?.close();
    for (const one of [printer, scanner, good]) await one?.close();
  });

  const publish = (api: Visit["api"], id: string, events: unknown[]) =>
    api.expect(202, "POST", `/sources/${id}/events`, { body: { events: events.map(event => ({ event })) } });
  const clicks = () => page.evaluate("clicks") as Promise<number>;
  const line = () => page.locator(".attention li").filter({ hasText: "label scanner" });

  /** Prints how long it took since then, and returns that. */
  const sayMs = (from: number) => {
    const ms = Date.now() - from;
    process.stdout.write(`      shown after ${ms} ms\n`);
    return ms;
  };

  /** From the overview to what has this text, with the mouse; returns how many clicks it took. */
  const clickTo = async (text: string, result: string) => {
    await visit.tab.go("");
    await settled(page);
    const before = await clicks();
    await page.getByRole("button", { name: "Find …" }).click();
    await page.keyboard.type(text);
    const first = page.getByRole("option").first();
    await until(async () => (await first.innerText()).includes(result), { what: `${result} for ${text}` });
    await first.click();
    await settled(page);
    await page.getByText("out of paper").first().waitFor();
    return (await clicks()) - before;
  };

  for (const [what, text, result] of [
    ["the webhook-id that a customer has", () => ids.delivery, "delivery"],
    ["an event's id", () => ids.event, "shop till"],
    ["a word of the event", () => "order-4711", "delivery"],
    ["a part of the URL", () => "/receipts", "receipt printer"],
    ["a name", () => "receipt", "receipt printer"],
  ] as const) {
    it(`finds the cause from ${what} in at most ${MOST_CLICKS} clicks`, async () => {
      expect(await clickTo(text(), result)).to.be.at.most(MOST_CLICKS);
    });
  }

  it("does the same with the keyboard alone, and sends it again", async () => {
    await visit.tab.go("");
    await settled(page);
    await page.keyboard.press("/");
    await page.keyboard.type(ids.delivery);
    await until(async () => (await page.getByRole("option").first().innerText()).includes("delivery"));
    await page.keyboard.press("Enter");
    await page.getByText("out of paper").first().waitFor();
    const retry = page.getByRole("button", { name: "Retry now" });
    const isFocused = () =>
      retry.evaluate(one => (one as unknown as { matches(of: string): boolean }).matches(":focus"));
    for (let n = 0; n < 60 && !(await isFocused()); n++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("It is sent again now.").waitFor();
  });

  it(`says on the overview that a webhook stopped, and why, within ${SEEN_WITHIN_MS / 1000} s`, async () => {
    await visit.tab.go("");
    await settled(page);
    expect(await line().count(), "it works").to.equal(0);
    scanner.script("reset");
    const from = Date.now();
    await publish(visit.api, till.id, [{ n: 1 }]);
    await line().getByText("Connection closed").waitFor();
    expect(sayMs(from)).to.be.at.most(SEEN_WITHIN_MS);
    await keepScreenshot(page, "on-call-stopped");
  });

  it("names there what began to fail last, and says how many more there are", async () => {
    const { needs, failing } = await visit.api.expect(200, "GET", "/attention");
    expect(needs.failing).to.be.greaterThan(failing.length);
    const more = page.locator(".attention li").filter({ hasText: "More" });
    await more.getByText(`and ${needs.failing - failing.length} others`).waitFor();
    await more.getByRole("link", { name: "Webhooks" }).click();
    await settled(page);
    await page.getByText(`${needs.failing} in all`).waitFor();
  });

  it("loses nothing when two tabs edit one webhook at once: the later one says what changed, and goes on", async () => {
    const other = await visit.tab.context.newPage();
    const [first, second] = [page, other];
    await visit.tab.open(`/webhooks/${ids.webhook}/settings`);
    await page.evaluate(COUNT_CLICKS);
    await second.goto(page.url());
    for (const one of [first, second]) await settled(one);
    await first.getByLabel("Description").fill("by the first");
    await second.getByLabel("Name").fill("named by the second");
    const refused: number[] = [];
    second.on("response", response => {
      if (response.request().method() === "PUT") refused.push(response.status());
    });
    // What the first saves comes between the look of the second and its request.
    let isLate = false;
    await second.route(/\/webhooks\/wh_\w+$/, async route => {
      if (route.request().method() === "PUT" && !isLate) {
        isLate = true;
        await first.getByLabel("Name").fill("named by the first");
        await first.getByRole("button", { name: "Save", exact: true }).click();
        await first.getByText("Saved.").waitFor();
      }
      await route.continue();
    });
    await second.getByRole("button", { name: "Save", exact: true }).click();
    const clash = second.locator(".notice.bad").filter({ hasText: "was changed elsewhere" });
    await clash.getByText("named by the first").waitFor();
    expect(refused, "the request was refused").to.deep.equal([412]);
    await keepScreenshot(second, "on-call-clash");
    expect(await second.getByLabel("Name").inputValue(), "nothing is lost").to.equal("named by the second");
    expect(await second.getByLabel("Description").inputValue()).to.equal("by the first");
    await clash.getByRole("button", { name: "Keep mine" }).click();
    await second.getByRole("button", { name: "Save", exact: true }).click();
    await second.getByText("Saved.").waitFor();
    const stored = await visit.api.expect(200, "GET", `/webhooks/${ids.webhook}`);
    expect(stored).to.include({ name: "named by the second", description: "by the first" });
    await visit.api.expect(200, "PUT", `/webhooks/${ids.webhook}`, { body: { name: "receipt printer" } });
    await other.close();
  });

  it("returns with Back to the list as it was narrowed, and where it was scrolled to", async () => {
    const scrolled = () => page.evaluate("scrollY") as Promise<number>;
    await visit.tab.go("/webhooks?q=customer");
    await settled(page);
    const rows = page.locator("tbody a.title");
    await until(async () => (await rows.count()) > 20);
    const last = rows.last();
    const name = await last.innerText();
    await last.scrollIntoViewIfNeeded();
    const before = await scrolled();
    await last.click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await page.goBack();
    await until(async () => Math.abs((await scrolled()) - before) < 5, { what: "the list is where it was" });
    expect(new URL(page.url()).search).to.include("q=customer");
    expect(await page.getByLabel("Search webhooks").inputValue()).to.equal("customer");
  });

  // All rules of axe once, and then those that can differ.
  for (const [width, colours, rules] of [
    [1280, "light", []],
    [1280, "dark", ["color-contrast"]],
    [390, "light", ["scrollable-region-focusable", "target-size"]],
    [390, "dark", ["color-contrast"]],
  ] as const) {
    it(`has screens that can be read and used with so many of everything, at ${width} px, ${colours}`, async () => {
      const tab = await openTab(visit.browser, visit.system, { width, colours });
      await signIn(tab, visit.api);
      const findings: string[] = [];
      for (const [name, path] of Object.entries({
        overview: "",
        issues: "/issues",
        sources: "/sources",
        webhooks: "/webhooks",
        subscriptions: "/subscriptions",
        deliveries: "/deliveries",
        "deliveries-failed": "/deliveries?state=failed",
        webhook: `/webhooks/${ids.webhook}`,
        "webhook-subscriptions": `/webhooks/${ids.webhook}/subscriptions`,
        delivery: `/deliveries/${ids.delivery}`,
        event: `/events/${till.id}/${ids.event}`,
      })) {
        await tab.go(path);
        await settled(tab.page);
        await keepScreenshot(tab.page, `on-call-${name}-${width}-${colours}`);
        const found = [...(await seriousFindings(tab.page, [...rules])), ...(await misfits(tab.page))];
        findings.push(...found.map(one => `${name}: ${one}`));
      }
      expect([...tab.problems, ...findings].join("\n")).to.equal("");
      await tab.close();
    });
  }

  it(`stays usable, and loses nothing, while ${EVENTS_A_MINUTE} events a minute go by`, async () => {
    const busy = await visit.api.createSource({ component_code: CODE, name: "busy" });
    const { id } = await visit.api.createWebhook(good.url, { name: "busy receiver" });
    await visit.api.subscribe(busy.id, id);
    scanner.script({ status: 503, body: "lens is dirty" });
    let sent = 0;
    let isOver = false;
    const flood = (async () => {
      const from = Date.now();
      while (!isOver) {
        await publish(
          visit.api,
          busy.id,
          Array.from({ length: BATCH }, (_, n) => ({ n: sent + n })),
        );
        sent += BATCH;
        const due = from + (sent / EVENTS_A_MINUTE) * 60_000;
        await new Promise(resolve => setTimeout(resolve, Math.max(0, due - Date.now())));
      }
    })();
    try {
      await visit.tab.go("/deliveries");
      await settled(page);
      await page.locator("tbody").getByText("busy receiver").first().waitFor();
      expect(await clickTo(ids.delivery, "delivery")).to.be.at.most(MOST_CLICKS);
      expect(await clickTo("order-4711", "delivery")).to.be.at.most(MOST_CLICKS);
      await visit.tab.go("");
      const from = Date.now();
      await publish(visit.api, till.id, [{ n: 2 }]);
      await line().getByText("Status 503").waitFor();
      expect(sayMs(from)).to.be.at.most(SEEN_WITHIN_MS);
    } finally {
      isOver = true;
      await flood;
    }
    await until(() => good.requests.length >= sent, { what: "every event of the flood is delivered" });
  });

  it("meets no error of the browser on the way", () => {
    expect(visit.tab.problems.filter(one => !/status of 412/.test(one))).to.deep.equal([]);
  });
});
