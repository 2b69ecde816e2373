// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
import { until } from "../support/until.ts";
import { settled, type Tab } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const CODE = `export default { name: "Typed", version: "0.0.1",
  props: {
    http: "$.interface.http",
    text: { type: "string", label: "Text", optional: true },
    count: { type: "integer", label: "Count", optional: true },
    lines: { type: "string[]", label: "Lines", optional: true },
    rules: { type: "object", label: "Rules", optional: true },
  },
  run() {} };`;
const ACTION = `export default { name: "Did", version: "0.0.1", type: "action",
  props: { text: { type: "string", label: "Text", optional: true } }, run() {} };`;

const PAIRS = 30;
const LONGEST_GAP_MS = 15;
/** A tab that renders without end responds to nothing; this does not measure speed. */
const FROZEN_MS = 20_000;

interface Things {
  source: string;
  webhook: string;
  action: string;
  flow: string;
  subscription: string;
  connection: string;
}

interface Typed {
  what: string;
  path: (things: Things) => string;
  /** What opens it, after the screen is shown. */
  open?: (page: Page) => Promise<void>;
  field: (page: Page) => Locator;
  /** Keys that the field takes, in turn; letters unless given. */
  keys?: string;
}

const named = (name: string) => (page: Page) => page.getByRole("textbox", { name, exact: true });
const labelled = (label: string) => (page: Page) => page.getByLabel(label, { exact: true });
const press = (name: string) => (page: Page) => page.getByRole("button", { name, exact: true }).click();

/** Every field whose text is written by the page as well as by its reader. */
const FIELDS: Typed[] = [
  {
    what: "the code of a source",
    path: ({ source }) => `/sources/${source}/code`,
    field: named("Code of the component"),
  },
  {
    what: "the code of a source beside what differs",
    path: ({ source }) => `/sources/${source}/code`,
    open: page => page.getByLabel("Show changes").check(),
    field: named("Code of the component"),
  },
  { what: "the code of a new source", path: () => "/sources/new", field: named("Code of the component") },
  {
    what: "the function of a subscription",
    path: ({ subscription }) => `/subscriptions/${subscription}`,
    field: named("Code of the function"),
  },
  {
    what: "the event that a function is tried on",
    path: ({ subscription }) => `/subscriptions/${subscription}`,
    field: labelled("Event of your own"),
  },
  {
    what: "the filter of a subscription",
    path: ({ subscription }) => `/subscriptions?edit=${subscription}`,
    field: named("Filter"),
  },
  {
    what: "the emitter of a new subscription",
    path: () => "/subscriptions?new=1",
    field: labelled("From"),
  },
  {
    what: "the event that code is tried on",
    path: ({ source }) => `/sources/${source}/code`,
    field: labelled("Event"),
  },
  ...["Name", "Text (optional)", "Lines (optional)", "Rules (optional)"].map(label => ({
    what: `the field ${label} of a source's settings`,
    path: ({ source }: Things) => `/sources/${source}/settings`,
    field: labelled(label),
  })),
  {
    what: "a number in a source's settings",
    path: ({ source }) => `/sources/${source}/settings`,
    field: labelled("Count (optional)"),
    keys: "123456789",
  },
  ...["Address", "Name", "Description", "Waits before retries"].map(label => ({
    what: `the field ${label} of a webhook's settings`,
    path: ({ webhook }: Things) => `/webhooks/${webhook}/settings`,
    field: labelled(label),
  })),
  {
    what: "a template of an action",
    path: ({ action }) => `/destinations/${action}/settings`,
    field: labelled("Text (optional)"),
  },
  {
    what: "the code of a new action",
    path: () => "/destinations?new=1",
    open: async page => {
      await page.getByLabel("Kind").selectOption("action");
      await page.getByLabel("Component").selectOption("code");
    },
    field: labelled("Code"),
  },
  {
    what: "the event names of a connection",
    path: () => "/connections",
    open: async page => {
      await press("Edit")(page);
      await page.getByText("Events that the app sends").click();
    },
    field: labelled("What an event is called"),
  },
  {
    what: "the channel that deliveries are filtered by",
    path: () => "/deliveries",
    field: labelled("Channel"),
  },
  {
    what: "the webhook that deliveries are filtered by",
    path: () => "/deliveries",
    field: labelled("Webhook"),
  },
];

async function makeOneOfEach(api: Api): Promise<Things> {
  const source = (await api.createSource({ component_code: CODE, name: "typed" })).id;
  const webhook = (await api.createWebhook("http://127.0.0.1:9/")).id;
  const action_code = { component_code: ACTION };
  const component_id = (await api.expect(201, "POST", "/components", { body: action_code })).id;
  const action = (await api.expect(201, "POST", "/destinations", { body: { action: { component_id } } })).id;
  const flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
  const query = { emitter_id: flow, listener_id: webhook };
  const subscription = (await api.expect(200, "POST", "/subscriptions", { query })).id;
  const keys = { app: "weather", fields: { api_key: "k" } };
  const connection = (await api.expect(201, "POST", "/connections", { body: keys })).id;
  return { source, webhook, action, flow, subscription, connection };
}

describe("fields that are typed into fast", () => {
  let visit: Visit;
  let things: Things;
  let tab: Tab;

  before(async function () {
    visit = await openDashboard(this, {
      prepare: async ({ api }) => {
        things = await makeOneOfEach(api);
      },
    });
    tab = visit.tab;
  });
  after(() => visit?.close());

  const textOf = async (field: Locator): Promise<string> =>
    await field.evaluate(
      (element: { value?: string; querySelectorAll(of: string): Iterable<{ textContent: string }> }) =>
        // What was deleted is shown beside the lines.
        element.value ?? [...element.querySelectorAll(".cm-line")].map(line => line.textContent).join("\n"),
    );
  /** The text, or that the tab is frozen. */
  const textOrFrozen = (field: Locator): Promise<string> =>
    Promise.race([
      textOf(field),
      new Promise<string>(resolve => setTimeout(() => resolve("(the tab is frozen)"), FROZEN_MS)),
    ]);
  const hasText = async (field: Locator, wanted: string) => {
    let text = await textOrFrozen(field);
    await until(
      async () => {
        text = await textOrFrozen(field);
        return text === wanted;
      },
      { timeoutMs: 3000 },
    ).catch(() => expect(text).to.equal(wanted));
  };
  const gap = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

  for (const { what, path, open, field: find, keys = "abcdefghijklmnopqrstuvwxyz" } of FIELDS) {
    it(`keeps every key in ${what}`, async () => {
      const { page } = tab;
      await tab.open("/start");
      await tab.open(path(things));
      await settled(page);
      await open?.(page);
      const field = find(page);
      await field.click();
      await page.keyboard.press("Control+A");
      await page.keyboard.press("Delete");
      let wanted = "";
      for (let pair = 0; pair < PAIRS; pair += 1) {
        const two = [keys[(2 * pair) % keys.length], keys[(2 * pair + 1) % keys.length]] as [string, string];
        wanted += two.join("");
        // Not waited for: the second comes within a frame of the first.
        const sent = [page.keyboard.press(two[0])];
        await gap((pair * LONGEST_GAP_MS) / (PAIRS - 1));
        sent.push(page.keyboard.press(two[1]));
        await Promise.race([Promise.all(sent), gap(FROZEN_MS)]);
      }
      await hasText(field, wanted);
      for (const key of ["Control+A", "Control+C"]) await page.keyboard.press(key);
      const replaced = ["Delete", "Control+V"].map(key => page.keyboard.press(key));
      await Promise.race([Promise.all(replaced), gap(FROZEN_MS)]);
      await hasText(field, wanted);
    });
  }

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
