// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Locator, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, settled, signIn, type Tab } from "./signed-in.ts";

const SOURCE = `export default { name: "Two", version: "0.0.1",
  props: {
    http: "$.interface.http",
    a: { type: "string", label: "First", optional: true },
    b: { type: "string", label: "Second", optional: true },
  },
  run() {} };`;
const ACTION = SOURCE.replace("http:", 'x: { type: "string", optional: true }, //').replace(
  '"0.0.1",',
  '"0.0.1", type: "action",',
);

interface Thing {
  what: string;
  make: (api: Api) => Promise<string>;
  path: (id: string) => string;
  /** Opens the form, after the screen is shown. */
  open?: (page: Page) => Promise<void>;
  /** The field that both change. */
  label: string;
  /** Where its value is. */
  resource: string;
  read: (stored: Stored) => unknown;
  /** A request that changes that field, or another one that the form has. */
  same: (text: string) => object;
  other: object;
  hasOther: (stored: Stored) => boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: each resource has fields of its own
type Stored = any;

const webhookOf = async (api: Api) => (await api.createWebhook("http://127.0.0.1:9/")).id;
const subscriptionOf = async (api: Api) => {
  const flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
  const query = { emitter_id: flow, listener_id: await webhookOf(api) };
  return (await api.expect(200, "POST", "/subscriptions", { query })).id;
};
const destinationOf = (api: Api, settings: object) =>
  api.expect(201, "POST", "/destinations", { body: settings }).then(({ id }) => id as string);

/** Everything that has a form of its own after it is made. */
const THINGS: Thing[] = [
  {
    what: "a source",
    make: async api => (await api.createSource({ component_code: SOURCE, name: "begun" })).id,
    path: id => `/sources/${id}/settings`,
    label: "First (optional)",
    resource: "sources",
    read: ({ configured_props }) => configured_props.a,
    same: a => ({ configured_props: { a } }),
    other: { name: "elsewhere", configured_props: { b: "elsewhere" }, active: false },
    hasOther: ({ name, active, configured_props: { b } }) =>
      name === "elsewhere" && b === "elsewhere" && active === false,
  },
  {
    what: "a webhook",
    make: webhookOf,
    path: id => `/webhooks/${id}/settings`,
    label: "Name",
    resource: "webhooks",
    read: ({ name }) => name,
    same: name => ({ name }),
    other: { description: "elsewhere", active: false, rate_limit_per_second: 7 },
    hasOther: ({ description, active, rate_limit_per_second: rate }) =>
      description === "elsewhere" && active === false && rate === 7,
  },
  {
    what: "the address of a webhook",
    make: webhookOf,
    path: id => `/webhooks/${id}/settings`,
    label: "Address",
    resource: "webhooks",
    read: ({ url }) => url,
    same: text => ({ url: `http://127.0.0.1:9/${text}` }),
    other: { ordered: true },
    hasOther: ({ ordered }) => ordered === true,
  },
  {
    what: "a destination",
    make: api => destinationOf(api, { redis_stream: { url: "redis://127.0.0.1:9", stream: "s" } }),
    path: id => `/destinations/${id}/settings`,
    label: "Stream",
    resource: "destinations",
    read: ({ redis_stream }) => redis_stream.stream,
    same: stream => ({ redis_stream: { stream } }),
    other: { redis_stream: { max_length: 77 }, active: false },
    hasOther: ({ redis_stream, active }) => redis_stream.max_length === 77 && active === false,
  },
  {
    what: "an action",
    make: api => destinationOf(api, { action: { component_code: ACTION } }),
    path: id => `/destinations/${id}/settings`,
    label: "First (optional)",
    resource: "destinations",
    read: ({ action }) => action.configured_props.a,
    same: a => ({ action: { configured_props: { a } } }),
    other: { action: { configured_props: { b: "elsewhere" } }, name: "elsewhere" },
    hasOther: ({ action, name }) => action.configured_props.b === "elsewhere" && name === "elsewhere",
  },
  {
    what: "a connection",
    make: async api => {
      const body = { app: "weather", name: "begun", fields: { api_key: "k" } };
      return (await api.expect(201, "POST", "/connections", { body })).id;
    },
    path: () => "/connections",
    open: page => page.getByRole("button", { name: "Edit" }).first().click(),
    label: "Name",
    resource: "connections",
    read: ({ name }) => name,
    same: name => ({ name }),
    other: { events: { names: ["{{body.type}}"] } },
    hasOther: ({ events }) => events?.names[0] === "{{body.type}}",
  },
  {
    what: "the filter of a subscription",
    make: subscriptionOf,
    path: id => `/subscriptions?edit=${id}`,
    label: "Filter",
    resource: "subscriptions",
    read: ({ filter }) => filter?.is,
    same: text => ({ filter: { is: text } }),
    other: { function: "export default event => event;" },
    hasOther: stored => stored.function === "export default event => event;",
  },
  {
    what: "the function of a subscription",
    make: subscriptionOf,
    path: id => `/subscriptions/${id}`,
    label: "Code of the function",
    resource: "subscriptions",
    read: stored => /"(.*)"/.exec(stored.function ?? "")?.[1],
    same: text => ({ function: `export default () => "${text}";` }),
    other: { filter: { is: "elsewhere" } },
    hasOther: ({ filter }) => filter?.is === "elsewhere",
  },
];

describe("a form of something that is changed elsewhere", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    api = await system.user();
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  /** What is typed for a value: some fields take more than a word. */
  const textFor = ({ label }: Thing, word: string) =>
    label === "Filter"
      ? `{ "is": "${word}" }`
      : label === "Address"
        ? `http://127.0.0.1:9/${word}`
        : label.startsWith("Code")
          ? `export default () => "${word}";`
          : word;
  const wordOf = (value: unknown) => String(value ?? "").replace("http://127.0.0.1:9/", "");
  const saves = () => page.getByRole("button", { name: "Save", exact: true });

  for (const thing of THINGS) {
    const { what, make, path, open, label, resource, read, same, other, hasOther } = thing;

    describe(`of ${what}`, () => {
      let id: string;
      let field: Locator;
      const stored = () => api.expect(200, "GET", `/${resource}/${id}`);
      const change = (body: object) => api.expect(200, "PUT", `/${resource}/${id}`, { body });
      const write = async (word: string) => {
        await field.click();
        await page.keyboard.press("Control+A");
        await page.keyboard.insertText(textFor(thing, word));
      };
      const show = async () => {
        await tab.open("/start");
        await tab.open(path(id));
        await settled(page);
        await open?.(page);
        field = page.getByRole("textbox", { name: label, exact: true });
        await field.waitFor();
      };
      /** Saves, and returns once the form says what came of it. */
      const isStored = (word: string) => until(async () => wordOf(read(await stored())) === word);
      const clash = () => page.getByText("was changed elsewhere since you began");

      before(async () => {
        id = await make(api);
      });

      it("saves what was changed, and nothing else", async () => {
        await show();
        await write("mine");
        await change(other);
        await saves().click();
        await isStored("mine");
        expect(hasOther(await stored()), JSON.stringify(await stored())).to.equal(true);
      });

      it("says that the same was changed, stores nothing, and shows or keeps what its reader chooses", async () => {
        await show();
        await write("typed");
        await change(same("theirs"));
        await saves().click();
        await clash().waitFor();
        expect(wordOf(read(await stored()))).to.equal("theirs");
        await page.getByRole("button", { name: "Load it" }).click();
        await clash().waitFor({ state: "detached" });
        const shown = () =>
          field.evaluate((one: { value?: string; textContent: string }) => one.value ?? one.textContent);
        await until(async () => (await shown()).includes("theirs"));
        await write("typed");
        await change(same("theirs again"));
        await saves().click();
        await clash().waitFor();
        await page.getByRole("button", { name: "Keep mine" }).click();
        await clash().waitFor({ state: "detached" });
        await saves().click();
        await isStored("typed");
      });
    });
  }

  it("of a source's code deploys over no code that was deployed since, and switches nothing on", async () => {
    const { id } = await api.createSource({ component_code: SOURCE, name: "coded" });
    const code = async () => {
      const { component_id } = await api.expect(200, "GET", `/sources/${id}`);
      return (await api.expect(200, "GET", `/components/${component_id}`)).code as string;
    };
    await tab.open("/start");
    await tab.open(`/sources/${id}/code`);
    const editor = page.getByRole("textbox", { name: "Code of the component" });
    await editor.click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.insertText("// mine\n");
    const theirs = { component_code: `// theirs\n${SOURCE}`, active: false };
    await api.expect(200, "PUT", `/sources/${id}`, { body: theirs });
    const deploy = page.getByRole("button", { name: "Deploy", exact: true });
    await deploy.click();
    await page.getByText("Other code was deployed since you began").waitFor();
    expect(await code()).to.match(/^\/\/ theirs/);
    await page.getByRole("button", { name: "Keep mine" }).click();
    await deploy.click();
    await until(async () => (await code()).startsWith("// mine"));
    expect((await api.expect(200, "GET", `/sources/${id}`)).active).to.equal(false);
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
