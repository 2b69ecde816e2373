// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Locator, Page } from "playwright-core";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, settled, signIn, type Tab } from "./signed-in.ts";

const CODE = `export default { name: "Keys", version: "0.0.1", props: { http: "$.interface.http" },
  sampleEmit: { text: "a sample" },
  run({ body }) { console.log("it ran"); this.$emit({ deep: { deeper: { deepest: 1 } }, ...body }); } };`;
const MOST_STOPS = 80;

interface Things {
  source: string;
  component: string;
  webhook: string;
  subscription: string;
  destination: string;
  delivery: string;
  event: string;
  org: string;
}

/** What has the focus: its name, and whether the focus can be seen. */
interface Stop {
  name: string;
  isSeen: boolean;
}

/** Runs in the page; without types of the DOM, which Node does not have. Notes each stop of the focus in `stops`. */
const WATCH = `{
  const stopAt = () => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    if (element === null || element === document.body) return null;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const name = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent ?? "";
    // The caret shows where an editor is.
    const isSeen = (outlineStyle !== "none" && outlineWidth !== "0px") || element.isContentEditable;
    return { name: name.trim().slice(0, 60), isSeen };
  };
  let stops = [];
  let reached = new Set();
  document.addEventListener("focusin", ({ target }) => {
    reached.add(target);
    stops.push(stopAt());
  });
  const beginWalk = () => {
    stops = [];
    reached = new Set();
  };
  const isShown = one => !one.disabled && one.checkVisibility({ visibilityProperty: true });
  const missed = () =>
    [...document.querySelectorAll("main :is(a, button, input, select, textarea, [tabindex='0'])")]
      .filter(one => isShown(one) && !reached.has(one))
      .map(one => one.outerHTML.slice(0, 120));
  Object.assign(globalThis, { stopAt, beginWalk, endWalk: () => ({ stops: stops.filter(Boolean), missed: missed() }) });
}`;
interface Watched {
  stopAt(): Stop | null;
  beginWalk(): void;
  /** Where the focus was, and what can be used and never had it. */
  endWalk(): { stops: Stop[]; missed: string[] };
}

const focused = (page: Page) => page.evaluate(() => (globalThis as unknown as Watched).stopAt());

type ToPath = (things: Things) => string;

/** Every screen; what has no heading of its own is reached by the one before it. */
const SCREENS: Record<string, ToPath> = {
  "the overview": () => "",
  sources: () => "/sources",
  "sources that no filter fits": () => "/sources?q=nothing+has+this+name",
  "a new source": () => "/sources/new",
  "the gallery": () => "/gallery",
  "a source": ({ source }) => `/sources/${source}`,
  "the runs of a source": ({ source }) => `/sources/${source}/runs`,
  "the logs of a source": ({ source }) => `/sources/${source}/logs`,
  "the statistics of a source": ({ source }) => `/sources/${source}/statistics`,
  "the settings of a source": ({ source }) => `/sources/${source}/settings`,
  "the code of a source": ({ source }) => `/sources/${source}/code`,
  components: () => "/components",
  "a component": ({ component }) => `/components/${component}`,
  webhooks: () => "/webhooks",
  "a webhook": ({ webhook }) => `/webhooks/${webhook}`,
  "the deliveries of a webhook": ({ webhook }) => `/webhooks/${webhook}/deliveries`,
  "the signing key of a webhook": ({ webhook }) => `/webhooks/${webhook}/signing`,
  "the settings of a webhook": ({ webhook }) => `/webhooks/${webhook}/settings`,
  deliveries: () => "/deliveries",
  "a delivery": ({ delivery }) => `/deliveries/${delivery}`,
  "an event": ({ source, event }) => `/events/${source}/${event}`,
  subscriptions: () => "/subscriptions",
  "a function": ({ subscription }) => `/subscriptions/${subscription}`,
  destinations: () => "/destinations",
  "a destination": ({ destination }) => `/destinations/${destination}`,
  "the settings of a destination": ({ destination }) => `/destinations/${destination}/settings`,
  connections: () => "/connections",
  "a receiver": ({ source, webhook }) => `/echo/${source}?webhook=${webhook}`,
  "the first event": () => "/start",
  "API keys": () => "/keys",
  sessions: () => "/sessions",
  usage: () => "/usage",
  organizations: () => "/organization",
  "an organization": ({ org }) => `/organization?org=${org}`,
};

interface Opener {
  screen: string;
  button: string;
  /** What leaves the dialog besides Escape. */
  leave?: string;
}

const DIALOGS: Opener[] = [
  { screen: "the settings of a source", button: "Delete source" },
  { screen: "a component", button: "Delete" },
  { screen: "webhooks", button: "New webhook" },
  { screen: "a webhook", button: "Send a test event", leave: "Close" },
  { screen: "a webhook", button: "Last 24 hours" },
  { screen: "the signing key of a webhook", button: "Rotate" },
  { screen: "the settings of a webhook", button: "Delete webhook" },
  { screen: "deliveries", button: "Replay these …", leave: "Close" },
  { screen: "an event", button: "Replay to all …" },
  { screen: "subscriptions", button: "New subscription" },
  { screen: "subscriptions", button: "Filter" },
  { screen: "subscriptions", button: "Delete subscription" },
  { screen: "a function", button: "Remove" },
  { screen: "destinations", button: "New destination" },
  { screen: "the settings of a destination", button: "Delete destination" },
  { screen: "connections", button: "Connect" },
  { screen: "connections", button: "Edit" },
  { screen: "connections", button: "Delete" },
  { screen: "API keys", button: "New key" },
  { screen: "API keys", button: "Revoke" },
];

interface Action {
  screen: string;
  button: string;
  key?: "Enter" | "Space";
  /** What says that it was done. */
  shows: (page: Page) => Locator;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** In this order: some undo what one before them did. */
const ACTIONS: Action[] = [
  { screen: "a source", button: "Switch off", key: "Space", shows: page => button(page, "Switch on") },
  { screen: "a source", button: "Switch on", shows: page => button(page, "Switch off") },
  { screen: "a source", button: "Pause", shows: page => button(page, "Continue") },
  { screen: "a source", button: "Publish a test event", shows: page => page.getByText("Published; it") },
  { screen: "a source", button: "Copy endpoint address", shows: page => button(page, "Copied") },
  { screen: "the statistics of a source", button: "7 days", shows: page => pressed(page, "7 days") },
  { screen: "the settings of a source", button: "Save", shows: page => page.getByText("Saved.") },
  {
    screen: "the code of a source",
    button: "Run once",
    shows: page => page.getByText("Ran", { exact: true }),
  },
  { screen: "the code of a source", button: "Emit the sample", shows: page => page.getByText('"a sample"') },
  { screen: "a function", button: "Try", shows: page => page.getByText(/of \d events would be sent/) },
  {
    screen: "the settings of a destination",
    button: "Save",
    key: "Space",
    shows: page => page.getByText("Saved."),
  },
  { screen: "the settings of a webhook", button: "Save", shows: page => page.getByText("Saved.") },
  { screen: "the signing key of a webhook", button: "Python", shows: page => pressed(page, "Python") },
  { screen: "a delivery", button: "Retry now", shows: page => page.getByText("It is sent again now.") },
  { screen: "an event", button: "Open deeper", key: "Space", shows: page => page.getByText("deepest") },
  { screen: "a receiver", button: "503", shows: page => pressed(page, "503") },
  { screen: "sources", button: "Dark colours", shows: page => button(page, "Light colours") },
  { screen: "sources that no filter fits", button: "Clear filters", shows: page => page.getByRole("row") },
  { screen: "the first event", button: "Make all four", shows: page => page.getByText("1. Send it") },
  { screen: "a new source", button: "Deploy", shows: page => page.getByText("Deployed.") },
];

const pressed = (page: Page, name: string) => page.getByRole("button", { name, exact: true, pressed: true });

describe("the dashboard by keyboard", () => {
  let browser: Browser;
  let system: System;
  let receiver: Receiver;
  let tab: Tab;
  let page: Page;
  let things: Things;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "100ms" });
    receiver = await startReceiver();
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE, name: "keys" });
    const webhook = await api.createWebhook(receiver.url, { name: "Billing" });
    const { id: subscription } = await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: source.id, listener_id: webhook.id },
      body: { function: "export default event => event;" },
    });
    const { id: destination } = await api.expect(201, "POST", "/destinations", {
      body: { redis_stream: { url: "redis://127.0.0.1:1", stream: "orders" } },
    });
    await api.expect(201, "POST", "/connections", { body: { app: "weather", fields: { api_key: "a key" } } });
    const sendOne = async (wanted: "delivered" | "failed") => {
      await fetch(source.configured_props.http?.endpoint_url ?? "", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"n":1}',
      });
      return await until(async () => {
        const found = await api.expect(200, "GET", `/webhooks/${webhook.id}/deliveries`);
        return found.find(({ state }: { state: string }) => state === wanted);
      });
    };
    receiver.script(503);
    await sendOne("failed");
    receiver.script(200);
    const delivery = await sendOne("delivered");
    things = {
      source: source.id,
      component: source.component_id,
      ...{ webhook: webhook.id, subscription, destination },
      delivery: delivery.id,
      event: delivery.event_id,
      org: await system.organization(api.userId),
    };
    tab = await openTab(browser, system);
    page = tab.page;
    await tab.context.addInitScript({ content: WATCH });
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await receiver?.close();
    await system?.stop();
  });

  const press = (key: string) => page.keyboard.press(key);
  const dialog = () => page.getByRole("dialog");

  async function show(screen: string): Promise<void> {
    await tab.go("/no-such-page");
    await tab.go(SCREENS[screen]?.(things) ?? "");
    await settled(page);
  }

  /** Presses Tab until the focus is on what is called `name`. */
  async function tabTo(name: string): Promise<void> {
    for (let i = 0; i < MOST_STOPS; i += 1) {
      await press("Tab");
      if ((await focused(page))?.name === name) return;
    }
    throw new Error(`Tab does not reach ${name}`);
  }

  /** Goes over the whole content of the page with Tab, from the link that skips the navigation. */
  async function walk(): Promise<{ stops: Stop[]; missed: string[] }> {
    await page.locator(".skip").focus();
    await press("Enter");
    await page.evaluate(() => (globalThis as unknown as Watched).beginWalk());
    // Into the editor, which takes Tab for itself until Escape, as it says.
    if ((await page.locator("main .editor").count()) > 0) {
      await tabTo((await page.locator("main .editor").getByRole("textbox").getAttribute("aria-label")) ?? "");
      await press("Escape");
    }
    let end = await page.evaluate(() => (globalThis as unknown as Watched).endWalk());
    // A list that was loaded again since then may have new links.
    for (let i = 0; i < MOST_STOPS && end.missed.length > 0; i += end.missed.length) {
      for (const _ of end.missed) await press("Tab");
      end = await page.evaluate(() => (globalThis as unknown as Watched).endWalk());
    }
    return end;
  }

  for (const screen of Object.keys(SCREENS)) {
    it(`reaches everything that a pointer does, with a focus that is seen: ${screen}`, async () => {
      await show(screen);
      const { stops, missed } = await walk();
      expect(missed).to.deep.equal([]);
      expect(stops.filter(stop => !stop.isSeen).map(stop => stop.name)).to.deep.equal([]);
    });
  }

  for (const { screen, button: opener, leave = "Cancel" } of DIALOGS) {
    it(`opens a dialog, leaves it, and is where it was: ${opener}, of ${screen}`, async () => {
      await show(screen);
      await button(page, opener).first().focus();
      for (const [open, end] of [
        ["Enter", "Escape"],
        ["Space", "Enter"],
      ] as const) {
        await press(open);
        await dialog().waitFor();
        const isInside = () =>
          dialog().evaluate(element => {
            // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
            const { document } = globalThis as any;
            return (element as unknown as { contains(other: unknown): boolean }).contains(
              document.activeElement,
            );
          });
        expect(await isInside(), "the dialog has the focus").to.equal(true);
        if (end === "Enter" && (await focused(page))?.name !== leave) await tabTo(leave);
        await press(end);
        await dialog().waitFor({ state: "detached" });
        await until(async () => (await focused(page))?.name === opener);
      }
    });
  }

  for (const { screen, button: name, key = "Enter", shows } of ACTIONS) {
    it(`does what a pointer does, and keeps the focus: ${name}, of ${screen}`, async () => {
      await show(screen);
      await button(page, name).first().focus();
      await press(key);
      await shows(page).first().waitFor();
      expect(await focused(page)).not.to.equal(null);
    });
  }

  it("makes a key in a dialog that keeps the focus, and revokes it", async () => {
    await show("API keys");
    await tabTo("New key");
    await press("Enter");
    await dialog().waitFor();
    await page.keyboard.type("made by keyboard");
    await press("Enter");
    await button(page, "I have kept it").waitFor();
    await tabTo("I have kept it");
    await press("Enter");
    await dialog().waitFor({ state: "detached" });
    await until(async () => (await focused(page))?.name === "New key");
    const row = page.getByRole("row").filter({ hasText: "made by keyboard" });
    await row.waitFor();
    await tabTo("Revoke");
    await press("Enter");
    await dialog().getByText("made by keyboard").waitFor();
    await tabTo("Revoke");
    await press("Enter");
    await row.getByText("Revoked").waitFor();
    // Its button is gone, and the next Tab begins with the screen.
    await until(async () => (await focused(page)) !== null);
  });

  it("skips the navigation, opens a source from its list, and opens one of its events", async () => {
    await tab.open("/sources");
    await settled(page);
    await press("Tab");
    expect((await focused(page))?.name).to.equal("Skip to content");
    await press("Enter");
    await tabTo("keys");
    await press("Enter");
    await page.getByRole("heading", { name: "keys", level: 1 }).waitFor();
    const line = page.getByRole("list", { name: "Events" }).getByRole("button").first();
    await line.waitFor();
    const name = ((await line.textContent()) ?? "").trim().slice(0, 60);
    await tabTo(name);
    await press("Space");
    await page.getByRole("link", { name: "Where did it go?" }).waitFor();
    await tabTo("Where did it go?");
    await press("Enter");
    await page.getByRole("heading", { name: "Where did it go?" }).waitFor();
  });

  it("opens the menu of a narrow screen, and leaves by it", async () => {
    const narrow = await tab.context.newPage();
    await narrow.setViewportSize({ width: 390, height: 844 });
    await narrow.goto(page.url());
    await settled(narrow);
    const stopAt = async (name: string) => {
      for (let i = 0; i < MOST_STOPS && (await focused(narrow))?.name !== name; i += 1)
        await narrow.keyboard.press("Tab");
    };
    await stopAt("Menu");
    await narrow.keyboard.press("Enter");
    await stopAt("Webhooks");
    await narrow.keyboard.press("Enter");
    await narrow.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
    expect(await narrow.getByRole("navigation", { name: "Main" }).isVisible()).to.equal(false);
    await narrow.close();
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
