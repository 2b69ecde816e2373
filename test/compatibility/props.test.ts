// runs-long: npm test has test/compatibility/events.test.ts and test/props
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { configureProps, presentProps, timerOf } from "../../src/props/configure.ts";
import { timerEvent } from "../../src/props/timer.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { rejection } from "../components/rejection.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Case, checkCase, openFixture } from "./fixture.ts";

const EVERYTHING = {
  stringProp: "s",
  stringList: ["a", "b"],
  integerProp: 3,
  integerList: [1, 2],
  booleanProp: false,
  booleanList: [true, false],
  objectProp: { a: 1 },
  objectList: [{ a: 1 }, {}],
  anyProp: [1, "x", null],
  anyList: [1, "x", { y: null }],
};

const unsupported = (prop: string, type: RegExp) => ({
  event: { use: prop },
  error: {
    code: "ConfigurationError",
    message: new RegExp(`"${prop}" has the type ${type.source}, a service that Headwater does not provide`),
  },
});

const CASES: Case[] = [
  {
    rule: "shorthand, and every plain type, each also as a list",
    file: "props/shorthand.mjs",
    configured: EVERYTHING,
    steps: [{ emits: [EVERYTHING] }],
  },
  {
    rule: "keys of a prop; propDefinition, in which local keys win; options as a function are kept and not called",
    file: "props/local-keys.mjs",
    configured: { choice: "b" },
    described: {
      props: [
        { name: "ledger", type: "app", app: "ledger" },
        {
          name: "account",
          type: "string",
          label: "Account",
          description: "My own",
          remoteOptions: true,
          optional: true,
        },
        { name: "amount", type: "integer", label: "Amount", min: 1, max: 20, default: 5 },
        { name: "shared", type: "boolean", label: "Deep", optional: true },
        { name: "plain", type: "string[]", hidden: true, optional: true },
        { name: "secret", type: "string", label: "Secret", secret: true, optional: true },
        { name: "fixed", type: "string", static: "always" },
        { name: "choice", type: "string", options: ["a", { label: "B", value: "b" }], default: "a" },
        { name: "asked", type: "string", optional: true, remoteOptions: true },
      ],
    },
    steps: [{ emits: [[null, 5, "always", "b", "undefined"]] }],
  },
  {
    rule: "$.interface.http: endpoint and endpointUrl in the code",
    file: "props/http-endpoint.mjs",
    steps: [{ call: "activate", emits: [["http://127.0.0.1/in/endpoint", "http://127.0.0.1/in/endpoint"]] }],
  },
  {
    rule: "alert is display only",
    file: "props/alert.mjs",
    described: {
      props: [
        { name: "note", type: "alert", alertType: "warning", content: "Read this first" },
        { name: "after", type: "string", optional: true },
      ],
    },
    steps: [{ emits: [["undefined", "undefined"]] }],
  },
  {
    rule: "props of unsupported services: accepted and described; they fail only when they are used",
    file: "props/absent-services.mjs",
    described: {
      props: [
        { name: "store", type: "data_store" },
        { name: "files", type: "dir" },
        { name: "query", type: "sql" },
        { name: "unset", type: "data_store", optional: true },
      ],
    },
    steps: [
      { event: { use: "nothing" }, emits: ["undefined"] },
      unsupported("store", /data_store/),
      unsupported("files", /dir/),
      unsupported("query", /sql/),
    ],
  },
  {
    rule: "$.interface.apphook: described with its app and event names, and nothing on this",
    file: "props/apphook.mjs",
    described: {
      props: [
        { name: "chat", type: "app", app: "chat" },
        { name: "hooked", type: "$.interface.apphook", appProp: "chat", remoteEventNames: true },
        { name: "room", type: "string", optional: true },
      ],
    },
    steps: [{ event: { type: "message" }, emits: [["undefined", { type: "message" }]] }],
  },
  {
    rule: "app: methods whose this is the app, $auth from the request, the db if declared; $.… of apps",
    file: "props/app-db.mjs",
    configured: { counter: { $auth: { step: 5 } }, base: "b1" },
    steps: [
      { emits: [{ n: 5, cached: 5, app: "counter", auth: { step: 5 }, base: "b1" }], db: { n: 5 } },
      { emits: [{ n: 10, cached: 10, app: "counter", auth: { step: 5 }, base: "b1" }], db: { n: 10 } },
    ],
  },
  {
    rule: "withLabel: the code receives {label, value}",
    file: "props/with-label.mjs",
    configured: {
      sheet: { label: "Sheet", value: "s1" },
      tabs: ["t1", { __lv: { label: "T2", value: "t2" } }],
      plain: { label: "P", value: "p" },
    },
    steps: [{ emits: [["Sheet", "s1", ["t1", "t2"], "p"]] }],
  },
  {
    rule: "withLabel, if the value has no label",
    file: "props/with-label.mjs",
    configured: { sheet: "s1" },
    steps: [{ emits: [["s1", "s1", null, null]] }],
  },
];

const BERLIN = { cron: "0 8 * * *", timezone: "Europe/Berlin" };
const TIMERS: [what: string, file: string, configured: object | null, wanted: object][] = [
  ["its default", "props/timer-default.mjs", null, { intervalSeconds: 60 }],
  ["its default, a cron expression with a time zone", "props/timer-default-cron.mjs", null, BERLIN],
  ["its configured value", "props/timer-default.mjs", BERLIN, BERLIN],
  ["its static value", "props/timer-static.mjs", null, { intervalSeconds: 120 }],
  ["intervalSeconds directly on the prop", "props/timer-old.mjs", null, { intervalSeconds: 180 }],
  ["900 s if the code has none", "props/timer-none.mjs", null, { intervalSeconds: 900 }],
];

describe("compatibility: props", () => {
  let sandboxes: Sandboxes;
  let server: Server;

  before(async () => {
    sandboxes = await openTestSandboxes();
    server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      const { method, url, headers } = request;
      response.end(JSON.stringify({ method, url, own: headers["x-own"], auth: headers.authorization, body }));
    });
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    await sandboxes?.close();
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });

  for (const one of CASES) it(`${one.rule} (${one.file})`, () => checkCase(sandboxes, one));

  for (const [what, file, configured, wanted] of TIMERS) {
    it(`a timer is ${what} (${file})`, async () => {
      const values = configured === null ? {} : { timer: configured };
      const { description, call } = await openFixture(sandboxes, file, values);
      expect(timerOf(description.props, configureProps(description.props, values))).to.deep.equal({
        name: "timer",
        ...wanted,
      });
      const event = timerEvent(wanted as typeof BERLIN, Date.UTC(2024, 6, 1, 6));
      const { emits } = await call("run", event);
      expect(emits.map(one => one.event)).to.deep.equal([{ event, timer: wanted }]);
    });
  }

  it("a static timer can't be configured (props/timer-static.mjs)", async () => {
    const work = openFixture(sandboxes, "props/timer-static.mjs", { timer: { intervalSeconds: 60 } });
    expect((await rejection(work)).message).to.contain("fixed by the component");
  });

  it("http_request sends the configured request (props/http-request.mjs)", async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`;
    const request = {
      method: "POST",
      url,
      params: [{ name: "q", value: "1" }],
      headers: [
        { name: "X-Own", value: "yes" },
        { name: "X-Off", value: "no", disabled: true },
      ],
      auth: { type: "bearer", token: "t" },
      body: { contentType: "application/json", raw: '{"a":1}' },
    };
    const { call } = await openFixture(sandboxes, "props/http-request.mjs", { request });
    const { emits, error } = await call("run", {});
    expect(error?.stack).to.equal(undefined);
    const data = { method: "POST", url: "/path?q=1", own: "yes", auth: "Bearer t", body: '{"a":1}' };
    expect(emits[0]?.event).to.deep.equal({ status: 200, length: String(JSON.stringify(data).length), data });
  });

  it("secrets and credentials are never in responses; a timer and an endpoint have their response shape", async () => {
    const app = await openFixture(sandboxes, "props/local-keys.mjs", { choice: "b" });
    const values = { choice: "b", secret: "hush", ledger: { $auth: { token: "hush" } } };
    const shown = presentProps(app.description.props, values, { endpointUrl: null });
    expect(shown).to.deep.equal({ choice: "b" });
    const hook = await openFixture(sandboxes, "props/http-endpoint.mjs");
    expect(presentProps(hook.description.props, {}, { endpointUrl: "https://h/in/x" })).to.deep.equal({
      hook: { endpoint_url: "https://h/in/x" },
    });
    const timer = await openFixture(sandboxes, "props/timer-default-cron.mjs");
    expect(presentProps(timer.description.props, {}, { endpointUrl: null })).to.deep.equal({
      timer: { ...BERLIN, interval_seconds: null },
    });
  });
});
