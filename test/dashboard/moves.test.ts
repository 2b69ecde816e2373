import { expect } from "chai";
import type { Browser, Locator, Page } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
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
    seen: page => badge(page, "Failing"),
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

  before(async function () {
    browser = await browserOrSkip(this);
    // What failed stays so.
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1h" });
    api = await system.user();
    source = await api.createSource({ component_code: CODE, name: "moves" });
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const publish = (id: string, event: unknown) =>
    api.expect(202, "POST", `/sources/${id}/events`, { body: { events: [{ event }] } });
  const isLive = () => page.getByText("Live", { exact: true }).first().waitFor();

  it("shows on the page of the first event what was emitted while the tab was hidden", async () => {
    const echo = await api.createSource({ component_code: CODE, name: "echo" });
    await tab.open(`/start?source=${source.id}&echo=${echo.id}`);
    await isLive();
    await setHidden(page, true);
    await page.getByText("Connecting").first().waitFor();
    await publish(source.id, { n: "at the source" });
    await publish(echo.id, { n: "at the receiver" });
    for (const { id } of [source, echo]) await until(async () => (await api.summaries(id)).length === 1);
    await setHidden(page, false);
    const rows = (name: string) => page.getByRole("list", { name }).getByRole("listitem");
    await rows("2. The source emits").filter({ hasText: "at the source" }).waitFor();
    await rows("3. The receiver gets it").filter({ hasText: "at the receiver" }).waitFor();
    expect(await rows("2. The source emits").count()).to.equal(1);
  });

  it("shows on each screen what happens, without a reload", async () => {
    const account = await system.user();
    const receiver: Receiver = await startReceiver(503);
    const { id } = await account.createSource({ component_code: CODE, name: "busy" });
    const other = await account.createSource({ component_code: CODE, name: "other" });
    const webhook = (await account.createWebhook(receiver.url, { name: "Billing" })).id;
    await account.subscribe(id, webhook);
    const visit = await openTab(browser, system);
    await signIn(visit, account);
    const paths = [...new Set(SCENES.map(({ path }) => path({ source: id, webhook })))];
    const opened = await Promise.all(
      paths.map(async path => {
        const screen = await visit.context.newPage();
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
    await visit.close();
    await receiver.close();
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
