// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page, Request, Route } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, settled, signIn, type Tab } from "./signed-in.ts";

const CODE = `export default { name: "States", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { console.log("it ran"); this.$emit(body); } };`;

/** What the screens of an account are about. */
interface Things {
  source: string;
  component: string;
  webhook: string;
  destination: string;
  subscription: string;
  org: string;
  /** Only where something happened. */
  delivery: string;
  event: string;
}

interface Screen {
  name: string;
  path: (things: Things) => string;
  /** The requests that are held back; else all of the screen. */
  holds?: RegExp;
  /** What a new account sees; `of` things that exist, to which nothing has happened. */
  nothingYet?: { title: string; of?: boolean; command?: RegExp };
  /** A filter that nothing fits. */
  filter?: string;
}

const INSIDE = /event_summaries|\/runs|\/stats|\/deliveries|\/components/;

const SCREENS: Screen[] = [
  {
    name: "the overview",
    path: () => "",
    nothingYet: { title: "From nothing to a watched event in a minute", command: /\/v1\/sources'/ },
  },
  {
    name: "sources",
    path: () => "/sources",
    nothingYet: { title: "No sources yet", command: /\/v1\/sources'/ },
    filter: "q=nothing+has+this+name",
  },
  {
    name: "subscriptions",
    path: () => "/subscriptions",
    nothingYet: { title: "No subscriptions yet", command: /\/v1\/subscriptions/ },
  },
  {
    name: "alerts",
    path: () => "/alerts",
    nothingYet: { title: "No alerts", command: /\/v1\/subscriptions\?emitter_id=u_/ },
  },
  {
    name: "webhooks",
    path: () => "/webhooks",
    nothingYet: { title: "No webhooks yet", command: /\/v1\/webhooks'/ },
  },
  {
    name: "destinations",
    path: () => "/destinations",
    nothingYet: { title: "No destinations yet", command: /\/v1\/destinations'/ },
  },
  {
    name: "the health of a destination",
    path: ({ destination }) => `/destinations/${destination}`,
    holds: INSIDE,
    nothingYet: { title: "Nothing to count in this time", of: true, command: /\/v1\/subscriptions/ },
  },
  {
    name: "the deliveries of a destination",
    path: ({ destination }) => `/destinations/${destination}/deliveries`,
    holds: INSIDE,
    nothingYet: { title: "Nothing was sent yet", of: true, command: /\/v1\/subscriptions/ },
  },
  {
    name: "the settings of a destination",
    path: ({ destination }) => `/destinations/${destination}/settings`,
  },
  { name: "the function of a subscription", path: ({ subscription }) => `/subscriptions/${subscription}` },
  {
    name: "connections",
    path: () => "/connections",
    nothingYet: { title: "No connections yet", command: /\/v1\/connections'/ },
  },
  {
    name: "deliveries",
    path: () => "/deliveries",
    nothingYet: { title: "Nothing was delivered yet", command: /\/v1\/subscriptions/ },
    filter: "state=failed",
  },
  {
    name: "the map",
    path: () => "/map",
    nothingYet: { title: "Nothing is connected yet", command: /\/v1\/subscriptions/ },
  },
  {
    name: "workflows",
    path: () => "/workflows",
    nothingYet: { title: "No workflows yet", command: /\/v1\/workflows'/ },
  },
  {
    name: "replays",
    path: () => "/replays",
    nothingYet: { title: "No replays", command: /\/v1\/replays'/ },
  },
  {
    name: "queues",
    path: () => "/queues",
    nothingYet: { title: "Nothing waits", command: /\/v1\/queues'/ },
  },
  {
    name: "components",
    path: () => "/components",
    nothingYet: { title: "No components yet", command: /\/v1\/components'/ },
  },
  { name: "the audit log", path: () => "/audit-log", filter: "actor_id=headwater" },
  { name: "the gallery", path: () => "/gallery" },
  { name: "usage", path: () => "/usage" },
  { name: "API keys", path: () => "/keys" },
  { name: "sessions", path: () => "/sessions" },
  {
    name: "organizations",
    path: () => "/organization",
    nothingYet: { title: "No organizations", command: /headwater org create/ },
  },
  {
    name: "an organization",
    path: ({ org }) => `/organization?org=${org}`,
    nothingYet: { title: "Nobody is invited", of: true, command: /\/invitations'/ },
  },
  { name: "a source", path: ({ source }) => `/sources/${source}` },
  {
    name: "the events of a source",
    path: ({ source }) => `/sources/${source}`,
    holds: INSIDE,
    nothingYet: { title: "Waiting for the first event", of: true, command: /\/in\// },
    filter: "channel=none",
  },
  {
    name: "the versions of a source",
    path: ({ source }) => `/sources/${source}/versions`,
    holds: /\/versions/,
  },
  {
    name: "the runs of a source",
    path: ({ source }) => `/sources/${source}/runs`,
    holds: INSIDE,
    nothingYet: { title: "No runs yet", of: true, command: /\/in\// },
    filter: "outcome=error",
  },
  {
    name: "the logs of a source",
    path: ({ source }) => `/sources/${source}/logs`,
    holds: INSIDE,
    nothingYet: { title: "Nothing logged", of: true, command: /console\.log/ },
    filter: "level=debug",
  },
  {
    name: "the statistics of a source",
    path: ({ source }) => `/sources/${source}/statistics`,
    holds: INSIDE,
    nothingYet: { title: "Nothing to count in this time", of: true, command: /\/in\// },
  },
  { name: "the settings of a source", path: ({ source }) => `/sources/${source}/settings`, holds: INSIDE },
  { name: "the code of a source", path: ({ source }) => `/sources/${source}/code`, holds: INSIDE },
  { name: "a component", path: ({ component }) => `/components/${component}` },
  {
    name: "the health of a webhook",
    path: ({ webhook }) => `/webhooks/${webhook}`,
    holds: INSIDE,
    nothingYet: { title: "Nothing to count in this time", of: true, command: /\/v1\/subscriptions/ },
  },
  {
    name: "the deliveries of a webhook",
    path: ({ webhook }) => `/webhooks/${webhook}/deliveries`,
    holds: INSIDE,
    nothingYet: { title: "Nothing was sent yet", of: true, command: /\/v1\/subscriptions/ },
    filter: "state=failed",
  },
  { name: "the settings of a webhook", path: ({ webhook }) => `/webhooks/${webhook}/settings` },
  { name: "a delivery", path: ({ delivery }) => `/deliveries/${delivery}` },
  { name: "an event", path: ({ source, event }) => `/events/${source}/${event}` },
  {
    name: "a receiver",
    path: ({ source }) => `/echo/${source}`,
    nothingYet: { title: "Nothing arrived yet", of: true, command: /\/in\/.*\/200/ },
  },
  { name: "the first event", path: ({ source }) => `/start?source=${source}&echo=${source}` },
];

/** Who is signed in, and the stream, which is not read by a screen. */
const NEVER_HELD = /\/v1\/(users\/me|live)(\?|$)/;

/** Holds back what a page requests of the API, then fails it as a lost connection does. */
async function openGate(page: Page) {
  let holds: RegExp | null = null;
  let isBroken = false;
  const held = new Set<Route>();
  const isHeld = (request: Request) => holds?.test(request.url()) && !NEVER_HELD.test(request.url());
  await page.route(/\/v1\//, async route => {
    if (!isHeld(route.request()) || route.request().method() !== "GET") return await route.continue();
    if (isBroken) return await route.abort();
    held.add(route);
  });
  return {
    hold: (pattern = /\/v1\//) => {
      holds = pattern;
      isBroken = false;
    },
    isHolding: () => held.size > 0,
    break: async () => {
      isBroken = true;
      // The page may have given one up.
      await Promise.all([...held].map(route => route.abort().catch(() => undefined)));
      held.clear();
    },
    open: () => {
      holds = null;
    },
  };
}

describe("each screen of the dashboard", () => {
  let browser: Browser;
  let system: System;
  let receiver: Receiver;
  /** Each account in a tab of its own: `regular` has something of everything, `beginner` things to which nothing happened. */
  const tabs: Record<"regular" | "beginner" | "newcomer", Tab> = {} as never;
  const things: Record<"regular" | "beginner", Things> = {} as never;
  let gate: Awaited<ReturnType<typeof openGate>>;

  async function make(api: Api & { userId: string }): Promise<Things & { endpoint: string }> {
    const source: SourceView = await api.createSource({ component_code: CODE, name: "states" });
    const webhook = await api.createWebhook(receiver.url, { name: "Billing" });
    const destination = await api.expect(201, "POST", "/destinations", {
      body: { redis_stream: { url: "redis://127.0.0.1:1", stream: "orders" } },
    });
    return {
      source: source.id,
      component: source.component_id,
      webhook: webhook.id,
      destination: destination.id,
      subscription: "",
      org: await system.organization(api.userId),
      delivery: "",
      event: "",
      endpoint: source.configured_props.http?.endpoint_url ?? "",
    };
  }

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    receiver = await startReceiver();
    const [regular, beginner, newcomer] = await Promise.all([system.user(), system.user(), system.user()]);
    const { endpoint, ...made } = await make(regular);
    things.beginner = await make(beginner);
    const subscription = await regular.subscribe(made.source, made.webhook);
    await fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"n":1}',
    });
    const delivery = await until(async () => {
      const found = await regular.expect(200, "GET", `/webhooks/${made.webhook}/deliveries`);
      return found.find((one: { state: string }) => one.state === "delivered");
    });
    things.regular = {
      ...made,
      subscription: subscription.id,
      delivery: delivery.id,
      event: delivery.event_id,
    };
    for (const [name, api] of Object.entries({ regular, beginner, newcomer })) {
      tabs[name as keyof typeof tabs] = await openTab(browser, system);
      await signIn(tabs[name as keyof typeof tabs], api);
    }
    gate = await openGate(tabs.regular.page);
  });
  after(async () => {
    await browser?.close();
    await receiver?.close();
    await system?.stop();
  });

  const blank = (page: Page) => page.locator("main .state:not(.failed)");
  const failed = (page: Page) => page.locator("main .state.failed");

  for (const { name, path, holds } of SCREENS) {
    it(`says that it loads, says that it failed, and loads when asked again: ${name}`, async () => {
      const { page, go } = tabs.regular;
      // So that the screen is new.
      await go("/no-such-page");
      gate.hold(holds);
      await go(path(things.regular));
      await page.locator("main").getByRole("status", { name: "Loading" }).first().waitFor();
      await until(gate.isHolding);
      expect(await blank(page).count(), "says nothing that it can't know").to.equal(0);
      await gate.break();
      await failed(page).first().waitFor();
      await settled(page);
      expect(await failed(page).first().textContent()).to.include("This did not load");
      expect(await blank(page).count(), "what failed is not nothing").to.equal(0);
      gate.open();
      const again = failed(page).getByRole("button", { name: "Try again" });
      await again.evaluateAll(buttons => {
        for (const one of buttons) (one as unknown as { click(): void }).click();
      });
      await until(async () => (await failed(page).count()) === 0);
      await settled(page);
    });
  }

  for (const { name, path, nothingYet } of SCREENS) {
    if (!nothingYet) continue;
    it(`teaches how to begin where there is nothing yet: ${name}`, async () => {
      const { page, go } = nothingYet.of ? tabs.beginner : tabs.newcomer;
      await go(path(things.beginner));
      await page.getByRole("heading", { name: nothingYet.title }).waitFor();
      const commands = await page
        .locator("main .state")
        .getByRole("region", { name: "Command" })
        .allTextContents();
      expect(commands.join("\n")).to.match(nothingYet.command ?? /curl/);
    });
  }

  for (const { name, path, filter } of SCREENS) {
    if (!filter) continue;
    it(`says that nothing matches, and clears the filters: ${name}`, async () => {
      const { page, go } = tabs.regular;
      await go(`${path(things.regular)}?${filter}`);
      await page.getByRole("heading", { name: "Nothing matches" }).waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.locator("main tbody tr, main .event").first().waitFor();
      expect(page.url()).not.to.include(filter);
    });
  }

  it("meets no error of the browser on the way, but those of the connection that was cut", () => {
    const all = Object.values(tabs).flatMap(tab => tab.problems);
    expect(all.filter(one => !one.includes("net::ERR_FAILED"))).to.deep.equal([]);
  });
});
