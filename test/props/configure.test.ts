import { expect } from "chai";
import fc from "fast-check";
import { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { configureProps, presentProps, propValuesForRun, timerOf } from "../../src/props/configure.ts";
import type { DescribedProp } from "../../src/sandbox/protocol.ts";

const prop = (type: string, more: Partial<DescribedProp> = {}): DescribedProp => ({
  name: "p",
  type,
  ...more,
});

/** Returns the stored values, or the rejected paths with their messages. */
function outcome(props: DescribedProp[], configured: unknown, previous?: Record<string, unknown>) {
  try {
    return { stored: configureProps(props, configured, previous) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).to.equal("invalid");
    return { rejected: Object.fromEntries(error.fields.map(({ path, message }) => [path, message])) };
  }
}

const rejectedPaths = (props: DescribedProp[], configured: unknown) =>
  Object.keys(outcome(props, configured).rejected ?? {});

describe("configureProps", () => {
  it("rejects values that outgrow a source, also by many updates", () => {
    const large = "x".repeat(60_000);
    const most = Math.floor(LIMITS.configuredPropsBytes.value / 60_020);
    const names = Array.from({ length: most + 1 }, (_, i) => `p${i}`);
    const props = names.map(name => ({ ...prop("string", { optional: true }), name }));
    const kept = Object.fromEntries(names.slice(1).map(name => [name, large]));
    expect(outcome(props, kept)).to.have.property("stored");
    const { rejected = {} } = outcome(props, { p0: large }, kept);
    expect(Object.keys(rejected)).to.deep.equal(["configured_props"]);
  });

  it("needs a timer where the component's own default can't be used, and takes one that can", () => {
    const timer = prop("$.interface.timer", { default: { intervalSeconds: 900_000_000 } });
    expect(outcome([timer], {}).rejected?.["configured_props.p"]).to.match(
      /^is required, because the component's default can't be used: intervalSeconds must /,
    );
    expect(outcome([timer], { p: { intervalSeconds: 900 } })).to.have.property("stored");
    const fixed = { ...timer, static: { intervalSeconds: 60 } };
    expect(outcome([fixed], {}), "its static value counts").to.deep.equal({ stored: {} });
  });

  const valid: [DescribedProp, unknown][] = [
    [prop("string"), "a"],
    [prop("string"), ""],
    [prop("string[]"), ["a", "b"]],
    [prop("integer", { min: 1, max: 3 }), 3],
    [prop("integer[]"), []],
    [prop("boolean"), false],
    [prop("object"), { a: { b: 1 } }],
    [prop("any"), [1, "a", null]],
    [prop("any"), 0],
    [prop("string", { options: ["a", "b"] }), "a"],
    [prop("string[]", { options: [{ label: "A", value: "a" }] }), ["a"]],
    [prop("integer", { options: [1, 2] }), 2],
    [prop("app"), { $auth: { token: "t" } }],
    [prop("app"), {}],
    [prop("$.airtable.baseId"), "base"],
    [prop("$.discord.channel[]"), ["1"]],
    [prop("http_request"), { url: "https://example.com" }],
  ];
  for (const [one, value] of valid) {
    it(`accepts ${JSON.stringify(value)} for ${JSON.stringify(one)}`, () => {
      expect(outcome([one], { p: value })).to.deep.equal({ stored: { p: value } });
    });
  }

  const invalid: [DescribedProp, unknown, string][] = [
    [prop("string"), 1, "p"],
    [prop("string"), ["a"], "p"],
    [prop("string[]"), "a", "p"],
    [prop("string[]"), ["a", 2], "p[1]"],
    [prop("integer"), "1", "p"],
    [prop("integer"), 1.5, "p"],
    [prop("integer"), 2 ** 53, "p"],
    [prop("integer", { min: 1 }), 0, "p"],
    [prop("integer[]", { max: 3 }), [1, 4], "p[1]"],
    [prop("boolean"), "true", "p"],
    [prop("object"), [], "p"],
    [prop("object"), "{}", "p"],
    [prop("string", { options: ["a"] }), "c", "p"],
    [prop("string[]", { options: [{ label: "A", value: "a" }] }), ["a", "A"], "p[1]"],
    [prop("app"), "token", "p"],
    [prop("app"), { token: "t" }, "p"],
    [prop("app"), { $auth: "t" }, "p"],
    [prop("$.interface.http"), { path: "/x" }, "p"],
    [prop("$.interface.http"), "https://example.com", "p"],
    [prop("$.service.db"), {}, "p"],
    [prop("alert"), "x", "p"],
    [prop("$.interface.timer"), { cron: "x" }, "p.cron"],
    [prop("$.interface.timer"), { cron: "0 0 * * *", timezone: "x" }, "p.timezone"],
    [prop("$.interface.timer"), { intervalSeconds: 0 }, "p.intervalSeconds"],
    [prop("$.interface.timer"), 60, "p"],
    [prop("$.interface.timer", { static: { intervalSeconds: 60 } }), { intervalSeconds: 30 }, "p"],
    [prop("any"), "x".repeat(LIMITS.propValueBytes.value), "p"],
  ];
  for (const [one, value, path] of invalid) {
    it(`rejects ${JSON.stringify(value).slice(0, 40)} for ${JSON.stringify(one)}`, () => {
      expect(rejectedPaths([one], { p: value })).to.deep.equal([`configured_props.${path}`]);
    });
  }

  it("stores only the value of a label and value", () => {
    const one = prop("string[]", { options: ["a", "b"] });
    expect(
      outcome([one], { p: [{ label: "A", value: "a" }, { __lv: { label: "B", value: "b" } }] }),
    ).to.deep.equal({
      stored: { p: ["a", "b"] },
    });
  });

  it("reports every invalid prop at once, each by its path", () => {
    const props = [
      { name: "timer", type: "$.interface.timer" },
      { name: "count", type: "integer" },
      { name: "needed", type: "string" },
    ];
    expect(
      rejectedPaths(props, { timer: { cron: "x" }, count: "1", other: 1, __proto__x: 1 }),
    ).to.have.members(
      ["other", "__proto__x", "timer.cron", "count", "needed"].map(path => `configured_props.${path}`),
    );
  });

  for (const value of ["x", 1, [], true]) {
    it(`rejects ${JSON.stringify(value)} instead of an object`, () => {
      expect(rejectedPaths([], value)).to.deep.equal(["configured_props"]);
    });
  }

  it("requires no value for a prop with a default, and for kinds that need none", () => {
    const props = [
      prop("string", { default: "a" }),
      prop("string", { optional: true }),
      prop("boolean", { default: false }),
      prop("object", { static: {} }),
      ...["$.interface.timer", "$.interface.http", "$.interface.apphook", "$.service.db", "alert", "app"].map(
        type => prop(type),
      ),
      ...["data_store", "dir", "sql"].map(type => prop(type)),
    ].map((one, index) => ({ ...one, name: `p${index}` }));
    expect(outcome(props, undefined)).to.deep.equal({ stored: {} });
  });

  it("requires a value for every other kind, and null is not a value", () => {
    for (const type of ["string", "integer", "boolean", "object", "any", "string[]", "$.x.y"]) {
      expect(outcome([prop(type)], {})).to.deep.equal({ rejected: { "configured_props.p": "is required" } });
      expect(outcome([prop(type)], { p: null })).to.deep.equal({
        rejected: { "configured_props.p": "is required" },
      });
    }
  });

  it("keeps stored values that the request leaves out, and removes those that are null", () => {
    const props = [
      prop("string", { name: "token", secret: true }),
      prop("app", { name: "app" }),
      prop("integer", { name: "count", optional: true }),
    ];
    const before = { token: "s", app: { $auth: { a: 1 } }, count: 1, gone: "x" };
    expect(outcome(props, {}, before).stored).to.deep.equal({
      token: "s",
      app: { $auth: { a: 1 } },
      count: 1,
    });
    expect(outcome(props, { count: null, token: "t" }, before).stored).to.deep.equal({
      token: "t",
      app: { $auth: { a: 1 } },
    });
    expect(rejectedPaths([prop("integer", { name: "token" })], {})).to.deep.equal(["configured_props.token"]);
    expect(outcome([prop("integer", { name: "token" })], {}, before).rejected).to.have.property(
      "configured_props.token",
    );
  });

  it("accepts what presentProps returned", () => {
    const props: DescribedProp[] = [
      { name: "timer", type: "$.interface.timer", static: { intervalSeconds: 60 } },
      { name: "http", type: "$.interface.http" },
      { name: "cron", type: "$.interface.timer" },
      { name: "list", type: "string[]" },
      { name: "token", type: "string", secret: true },
    ];
    const stored = configureProps(props, { cron: { cron: "0 8 * * *" }, list: ["a"], token: "s" });
    const presented = presentProps(props, stored, { endpointUrl: "https://h/in/x" });
    const again = configureProps(props, presented, stored);
    expect(presentProps(props, again, { endpointUrl: "https://h/in/x" })).to.deep.equal(presented);
    expect(again).to.include({ token: "s" });
  });
});

describe("presentProps", () => {
  const props: DescribedProp[] = [
    { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 300 } },
    { name: "http", type: "$.interface.http" },
    { name: "db", type: "$.service.db" },
    { name: "app", type: "app", app: "github" },
    { name: "token", type: "string", secret: true },
    { name: "repo", type: "string" },
    { name: "level", type: "string", default: "low" },
  ];
  const values = { app: { $auth: { oauth_access_token: "hidden-1" } }, token: "hidden-2", repo: "a/b" };

  it("shows the timer and the endpoint in their response shape, without secrets and credentials", () => {
    const shown = presentProps(props, values, { endpointUrl: "https://h/in/x" });
    expect(shown).to.deep.equal({
      timer: { cron: null, interval_seconds: 300 },
      http: { endpoint_url: "https://h/in/x" },
      repo: "a/b",
    });
  });

  it("shows a cron timer with its zone", () => {
    const cron = { timer: { cron: "0 8 * * *", timezone: "Europe/Berlin" } };
    expect(presentProps(props, cron, { endpointUrl: null }).timer).to.deep.equal({
      cron: "0 8 * * *",
      interval_seconds: null,
      timezone: "Europe/Berlin",
    });
  });

  it("never shows a secret, whatever is configured", () => {
    const secret = fc.string({ minLength: 12 }).map(text => `secret:${text}`);
    fc.assert(
      fc.property(secret, fc.string(), (hidden, open) => {
        const stored = configureProps(props, { token: hidden, app: { $auth: { key: hidden } }, repo: open });
        expect(JSON.stringify(presentProps(props, stored, { endpointUrl: null }))).not.to.include(
          JSON.stringify(hidden),
        );
      }),
    );
  });
});

describe("propValuesForRun", () => {
  it("returns the configured values, else the defaults of the code", () => {
    const props: DescribedProp[] = [
      { name: "timer", type: "$.interface.timer" },
      { name: "http", type: "$.interface.http" },
      { name: "db", type: "$.service.db" },
      { name: "note", type: "alert" },
      { name: "app", type: "app" },
      { name: "level", type: "string", default: "low" },
      { name: "fixed", type: "integer", static: 7 },
      { name: "zero", type: "integer", default: 5 },
      { name: "unset", type: "string", optional: true },
    ];
    const values = configureProps(props, { zero: 0 });
    expect(propValuesForRun(props, values, { endpointUrl: "https://h/in/x" })).to.deep.equal({
      timer: { intervalSeconds: 900 },
      http: { endpoint: "https://h/in/x", endpointUrl: "https://h/in/x" },
      app: { $auth: {} },
      level: "low",
      fixed: 7,
      zero: 0,
    });
  });
});

describe("the timer of a source", () => {
  const timed = (more: Partial<DescribedProp> = {}): DescribedProp[] => [
    { name: "a", type: "string", optional: true },
    { name: "every", type: "$.interface.timer", ...more },
  ];

  it("is null without a timer prop", () => {
    expect(timerOf([prop("string")], {})).to.equal(null);
  });

  it("is the configured timer", () => {
    const values = configureProps(timed({ default: { intervalSeconds: 60 } }), {
      every: { cron: "0 8 * * *" },
    });
    expect(timerOf(timed(), values)).to.deep.equal({ name: "every", cron: "0 8 * * *", timezone: "UTC" });
  });

  it("is the code's fixed or default timer, else every 15 minutes", () => {
    expect(timerOf(timed({ default: { cron: "0 8 * * *" } }), {})).to.include({ cron: "0 8 * * *" });
    expect(timerOf(timed({ static: { intervalSeconds: 5 } }), {})).to.include({ intervalSeconds: 5 });
    expect(timerOf(timed({ default: "nonsense" }), {})).to.include({ intervalSeconds: 900 });
  });
});

describe("any configured value", () => {
  const types = [
    "string",
    "integer",
    "boolean",
    "object",
    "any",
    "app",
    "$.interface.timer",
    "$.interface.http",
    "$.x.y",
  ];

  it("is stored as it is or rejected at its own path, and stays the same when it is stored again", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...types, ...types.map(type => `${type}[]`)),
        fc.jsonValue(),
        (type, value) => {
          const one = prop(type, { optional: true });
          const first = outcome([one], { p: value });
          for (const path of Object.keys(first.rejected ?? {})) expect(path).to.match(/^configured_props\.p/);
          if (first.stored) expect(outcome([one], {}, first.stored)).to.deep.equal(first);
        },
      ),
    );
  });
});
