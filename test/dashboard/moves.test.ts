// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { Worker } from "bullmq";
import { expect } from "chai";
import type { Browser, Locator, Page } from "playwright-core";
import { queuePrefix } from "../../src/queues/open-queues.ts";
import { createWorkflow } from "../../src/workflows/workflows.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, type Reply, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, setHidden, settled, signIn, type Tab } from "./signed-in.ts";

const CODE = `export default { name: "Moves", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;

const tile = (page: Page, label: string) =>
  page.locator(".tile").filter({ hasText: label }).locator(".value");
const badge = (page: Page, text: string) => page.locator("main").getByText(text, { exact: true });

interface Scene {
  screen: string;
  path: (ids: { source: string; webhook: string }) => string;
  /** What the reader looks at. */
  seen: (page: Page) => Locator;
  before: RegExp | null;
  after: RegExp;
}

/** What two events change, one of which nothing listens to, while the receiver is broken and another source switched off. */
const SCENES: Scene[] = [
  {
    screen: "the tiles of the overview",
    path: () => "",
    seen: page => tile(page, "Emitted"),
    before: /^0$/,
    after: /^2$/,
  },
  {
    screen: "the webhooks of the overview",
    path: () => "",
    seen: page => badge(page, "Failing"),
    before: null,
    after: /./,
  },
  {
    screen: "the sources of the overview",
    path: () => "",
    seen: page => badge(page, "Inactive"),
    before: null,
    after: /./,
  },
  {
    screen: "the list of sources",
    path: () => "/sources",
    seen: page => page.locator("tbody").getByText("Inactive"),
    before: null,
    after: /./,
  },
  {
    screen: "the list of webhooks",
    path: () => "/webhooks",
    seen: page => page.locator("tbody").getByText("Failing"),
    before: null,
    after: /./,
  },
  {
    screen: "the health of a webhook",
    path: ({ webhook }) => `/webhooks/${webhook}`,
    seen: page => page.getByText(/Failing since .*, will be disabled/),
    before: null,
    after: /./,
  },
  {
    screen: "the state of a webhook",
    path: ({ webhook }) => `/webhooks/${webhook}/signing`,
    seen: page => badge(page, "Failing"),
    before: null,
    after: /./,
  },
  {
    screen: "the statistics of a source",
    path: ({ source }) => `/sources/${source}/statistics`,
    seen: page => tile(page, "Emitted"),
    before: /^0$/,
    after: /^2$/,
  },
  {
    screen: "the dropped events of a source",
    path: ({ source }) => `/sources/${source}`,
    seen: page => page.getByText("without a subscription"),
    before: null,
    after: /./,
  },
  {
    screen: "the usage",
    path: () => "/usage",
    seen: page => tile(page, "Published today"),
    before: /^0$/,
    after: /^2$/,
  },
];

describe("what moves by itself in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let api: Api & { userId: string };
  let source: SourceView;
  let tab: Tab;
  let page: Page;
  const receivers: Receiver[] = [];

  before(async function () {
    browser = await browserOrSkip(this);
    // What failed stays so.
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1h", SANDBOX_EGRESS_ALLOW: "127.0.0.0/8" });
    api = await system.user();
    source = await api.createSource({ component_code: CODE, name: "moves" });
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await Promise.all(receivers.map(one => one.close()));
    await system?.stop();
  });

  const open = async (...replies: Reply[]) => {
    const receiver = await startReceiver(...replies);
    receivers.push(receiver);
    return receiver;
  };
  const publish = (id: string, event: unknown) =>
    api.expect(202, "POST", `/sources/${id}/events`, { body: { events: [{ event }] } });
  const isLive = () => page.getByText("Live", { exact: true }).first().waitFor();

  const send = (to: SourceView, body: unknown) =>
    fetch(to.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const whileHidden = async (act: () => Promise<unknown>) => {
    await isLive();
    await setHidden(page, true);
    await page.getByText("Connecting").first().waitFor();
    await act();
    await setHidden(page, false);
    await isLive();
  };

  it("shows on the page of the first event what was emitted while the tab was hidden", async () => {
    const echo = await api.createSource({ component_code: CODE, name: "echo" });
    await tab.open(`/start?source=${source.id}&echo=${echo.id}`);
    await whileHidden(async () => {
      await publish(source.id, { n: "at the source" });
      await publish(echo.id, { n: "at the receiver" });
      for (const { id } of [source, echo]) await until(async () => (await api.summaries(id)).length === 1);
    });
    const rows = (name: string) => page.getByRole("list", { name }).getByRole("listitem");
    await rows("2. The source emits").filter({ hasText: "at the source" }).waitFor();
    await rows("3. The receiver gets it").filter({ hasText: "at the receiver" }).waitFor();
    expect(await rows("2. The source emits").count()).to.equal(1);
  });

  it("shows on each screen what happens, without a reload", async () => {
    const account = await system.user();
    const receiver = await open(503);
    const { id } = await account.createSource({ component_code: CODE, name: "busy" });
    const other = await account.createSource({ component_code: CODE, name: "other" });
    const webhook = (await account.createWebhook(receiver.url, { name: "Billing" })).id;
    await account.subscribe(id, webhook);
    const visit = await openTab(browser, system);
    await signIn(visit, account);
    const paths = [...new Set(SCENES.map(({ path }) => path({ source: id, webhook })))];
    const storageState = await visit.context.storageState();
    // A context each: a browser allows six connections per host, and each page holds one.
    const contexts = await Promise.all(paths.map(() => browser.newContext({ storageState })));
    const opened = await Promise.all(
      paths.map(async (path, i) => {
        const screen = await (contexts[i] ?? visit.context).newPage();
        await screen.goto(`${new URL(system.baseUrl).origin}/dashboard${path}`);
        await settled(screen);
        await screen.evaluate(() => Object.assign(globalThis, { wasNotReloaded: true }));
        return [path, screen] as const;
      }),
    );
    const screens = new Map(opened);
    const seenIn = ({ path, seen }: Scene) => seen(screens.get(path({ source: id, webhook })) ?? visit.page);
    for (const scene of SCENES) {
      if (scene.before === null) expect(await seenIn(scene).count(), scene.screen).to.equal(0);
      else expect(await seenIn(scene).textContent(), scene.screen).to.match(scene.before);
    }
    await account.expect(200, "PUT", `/sources/${other.id}`, { body: { active: false } });
    const events = [{ event: { n: 1 } }, { event: { n: 2 }, name: "unheard" }];
    await account.expect(202, "POST", `/sources/${id}/events`, { body: { events } });
    for (const scene of SCENES) {
      await until(
        async () =>
          (await seenIn(scene).count()) > 0 &&
          scene.after.test((await seenIn(scene).first().textContent()) ?? ""),
        { what: `${scene.screen} to move` },
      );
    }
    for (const screen of screens.values()) {
      expect(await screen.evaluate(() => "wasNotReloaded" in globalThis)).to.equal(true);
    }
    await Promise.all([visit.close(), ...contexts.map(context => context.close())]);
  });

  it("shows the deliveries and runs that were recorded while the tab was hidden", async () => {
    const receiver = await open();
    const made = await api.createSource({ component_code: CODE, name: "unseen" });
    await api.subscribe(made.id, (await api.createWebhook(receiver.url)).id);
    await tab.open(`/sources/${made.id}`);
    await settled(page);
    await page.getByText("No event of this source was delivered yet.").waitFor();
    await whileHidden(async () => {
      await send(made, { n: 1 });
      const delivered = { query: { emitter_id: made.id, state: "delivered" } };
      await until(async () => (await api.expect(200, "GET", "/deliveries", delivered)).length === 1);
    });
    await page.getByRole("row").getByText("Delivered").waitFor();
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("row").getByText("ok", { exact: true }).waitFor();
    await setHidden(page, true);
    await send(made, { n: 1 });
    await until(async () => (await api.expect(200, "GET", `/sources/${made.id}/runs`)).length === 2);
    await setHidden(page, false);
    await until(async () => (await page.getByRole("row").getByText("ok", { exact: true }).count()) === 2);
  });

  it("keeps rows where they are when the stream begins again, while the reader has paused or scrolled", async () => {
    const made = await api.createSource({ component_code: CODE, name: "still" });
    const events = Array.from({ length: 60 }, (_, n) => ({ event: { n: `filler ${n}` } }));
    await api.expect(202, "POST", `/sources/${made.id}/events`, { body: { events } });
    await until(async () => (await api.summaries(made.id)).length === 60);
    await tab.open(`/sources/${made.id}`);
    const rows = page.getByRole("list", { name: "Events" }).getByRole("listitem");
    await until(async () => (await rows.count()) === 60);
    await page.getByRole("button", { name: "Pause" }).click();
    await setHidden(page, true);
    await publish(made.id, { n: "while paused" });
    await until(async () => (await api.summaries(made.id)).length === 61);
    await setHidden(page, false);
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(await rows.count()).to.equal(60);
    await page.getByRole("button", { name: "Continue" }).click();
    await until(async () => (await rows.count()) === 61);
    await page.mouse.wheel(0, 600);
    await until(() => page.evaluate(() => (globalThis as unknown as { scrollY: number }).scrollY > 200));
    await whileHidden(async () => {
      await publish(made.id, { n: "while scrolled" });
      await until(async () => (await api.summaries(made.id)).length === 62);
    });
    await page.getByRole("button", { name: "1 new" }).click();
    await rows.first().filter({ hasText: "while scrolled" }).waitFor();
  });

  it("keeps an error on the page however much is logged after it", async () => {
    const code = `export default { name: "Chatty", version: "0.0.1", props: { http: "$.interface.http" },
      run({ body }) {
        if (body.fails) throw new Error("no order");
        for (let n = 1; n <= 100; n++) console.log("line " + n + " of " + body.part);
      } };`;
    const made = await api.createSource({ component_code: code, name: "chatty" });
    await tab.open(`/sources/${made.id}/logs`);
    await isLive();
    const list = page.getByRole("list", { name: "Logs and errors" });
    const row = (text: string) => list.getByRole("listitem").filter({ hasText: text });
    await send(made, { fails: true });
    await row("no order").waitFor();
    for (const part of ["first", "second"]) {
      await send(made, { part });
      await row(`line 100 of ${part}`).waitFor();
    }
    expect(await row("line").count()).to.equal(150);
    expect(await row("no order").count()).to.equal(1);
    await page.getByLabel("Level").selectOption("error");
    await until(async () => (await row("line").count()) === 0);
    await row("no order").waitFor();
  });

  it("follows an event to a source that is still running, and to a workflow whose engine is away", async () => {
    const held = await open("hang");
    const code = `export default { name: "Slow", version: "0.0.1", async run() { await fetch("${held.url}"); } };`;
    const emitter = await api.createSource({ component_code: CODE, name: "emitter" });
    const listener = await api.createSource({ component_code: code, name: "slow" });
    const workflow = await createWorkflow(system.web, { ownerId: api.userId, name: "flow" });
    await api.subscribe(emitter.id, listener.id);
    await api.subscribe(emitter.id, workflow.id);
    await publish(emitter.id, { n: 1 });
    await until(() => held.requests.length === 1);
    const [event] = await api.summaries(emitter.id);
    await tab.open(`/events/${emitter.id}/${event?.id}`);
    const step = (name: string) => page.locator("li.step").filter({ hasText: name });
    await step("slow").getByText("queued").waitFor();
    await step("flow").getByText("queued").waitFor();
    held.release();
    await step("slow").getByText("finished").waitFor();
    const { redis, config } = system.worker;
    const engine = new Worker("workflow-events", async () => undefined, {
      connection: redis,
      prefix: queuePrefix(config.redisPrefix, "workflow-events"),
    });
    await step("flow")
      .getByText("taken")
      .waitFor()
      .finally(() => engine.close());
  });

  it("meets no error of the browser on the way", () => {
    // On a busy machine a store may respond too late to be ready, which the page shows.
    expect(tab.problems.filter(problem => !/ 503 .*\/readyz$/.test(problem))).to.deep.equal([]);
  });
});
