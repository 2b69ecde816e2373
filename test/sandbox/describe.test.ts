import { expect } from "chai";
import { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { until } from "../support/until.ts";
import { bundleOf, openTestSandboxes } from "./sandbox-fixture.ts";

describe("describing a component in a sandbox", () => {
  let sandboxes: Sandboxes;

  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes.close());

  const describeCode = (code: string) => sandboxes.describe(bundleOf(code));
  const propsOf = async (props: string, before = "") =>
    (await describeCode(`${before} export default { name: "T", version: "1", props: ${props} };`)).props;

  async function rejectionOf(code: string, host = sandboxes): Promise<AppError> {
    const error = await host.describe(bundleOf(code)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(AppError).with.property("code", "invalid");
    return error as AppError;
  }

  it("returns the component's static parts", async () => {
    const described = await describeCode(`export default {
      key: "gh-new-star", name: "New Star", description: "Stars", version: "0.1.2", type: "source", dedupe: "unique",
      props: { db: "$.service.db", b: { type: "boolean", optional: true } },
      hooks: { async deploy() {}, deactivate() {} }, sampleEmit: {}, additionalProps() {}, run() {} };`);
    expect(described).to.deep.equal({
      key: "gh-new-star",
      name: "New Star",
      description: "Stars",
      version: "0.1.2",
      type: "source",
      dedupe: "unique",
      props: [
        { name: "db", type: "$.service.db" },
        { name: "b", type: "boolean", optional: true },
      ],
      hooks: ["deploy", "deactivate"],
      hasRun: true,
      hasSampleEmit: true,
      hasAdditionalProps: true,
    });
  });

  it("names what must be a function and is not", async () => {
    const described = await describeCode(`export default {
      name: "C", version: "1", run: 5, hooks: { deploy: "x", activate() {}, deactivate: null } };`);
    expect(described).to.deep.include({ hooks: ["activate"], notFunctions: ["run", "hooks.deploy"] });
  });

  it("resolves propDefinitions, in which local keys win, and app props", async () => {
    const app = `const app = { type: "app", app: "github", propDefinitions: {
      repo: { type: "string", label: "Repo", description: "d", async options() { return []; } },
      again: { propDefinition: [{ propDefinitions: { x: { type: "integer", min: 1, max: 9 } } }, "x"], label: "A" } } };`;
    const props = `{ github: app, repo: { propDefinition: [app, "repo", c => ({ c })], label: "Mine", optional: true },
      again: { propDefinition: [app, "again"] } }`;
    expect(await propsOf(props, app)).to.deep.equal([
      { name: "github", type: "app", app: "github" },
      { name: "repo", type: "string", label: "Mine", description: "d", remoteOptions: true, optional: true },
      { name: "again", type: "integer", label: "A", min: 1, max: 9 },
    ]);
  });

  it("returns timers (default, static, old style), options, secrets and custom responses", async () => {
    const props = `{
      t1: { type: "$.interface.timer", default: { intervalSeconds: 900 } },
      t2: { type: "$.interface.timer", static: { cron: "0 0 * * *" } },
      t3: { type: "$.interface.timer", intervalSeconds: 60 },
      t4: "$.interface.timer",
      http: { type: "$.interface.http", customResponse: true },
      pick: { type: "string[]", options: ["a", { label: "B", value: "b" }], default: ["a"] },
      key: { type: "string", secret: true, hidden: false } }`;
    expect(await propsOf(props)).to.deep.equal([
      { name: "t1", type: "$.interface.timer", default: { intervalSeconds: 900 } },
      { name: "t2", type: "$.interface.timer", static: { cron: "0 0 * * *" } },
      { name: "t3", type: "$.interface.timer", default: { intervalSeconds: 60 } },
      { name: "t4", type: "$.interface.timer" },
      { name: "http", type: "$.interface.http", customResponse: true },
      { name: "pick", type: "string[]", options: ["a", { label: "B", value: "b" }], default: ["a"] },
      { name: "key", type: "string", secret: true, hidden: false },
    ]);
  });

  it("returns how many ids dedupe is to remember, and a strategy alone as if it were no object", async () => {
    const described = (dedupe: string) =>
      describeCode(`export default { name: "A", version: "1", dedupe: ${dedupe} };`);
    expect(await described('{ strategy: "unique", remember: 5000 }')).to.include({
      dedupe: "unique",
      remember: 5000,
    });
    expect(await described('{ strategy: "last" }')).to.deep.equal(await described('"last"'));
  });

  it("accepts CommonJS exports, wrapped or not", async () => {
    const component = `{ name: "C", version: "2" }`;
    for (const code of [
      `const module = { exports: ${component} }; export default module.exports;`,
      `export default { default: ${component} };`,
      `export default { default: { default: ${component} } };`,
    ]) {
      expect(await describeCode(code), code).to.include({ name: "C", version: "2", hasRun: false });
    }
  });

  for (const [what, code, path, message] of [
    ["an app", `export default { name: "A", version: "1", type: "app" }`, "type", "action"],
    ["a missing name", `export default { version: "1" }`, "name", "required"],
    ["a missing version", `export default { name: "A" }`, "version", "required"],
    ["an unknown dedupe", `export default { name: "A", version: "1", dedupe: "best" }`, "dedupe", "unique"],
    [
      "more ids to remember than there may be",
      `export default { name: "A", version: "1", dedupe: { strategy: "unique", remember: ${LIMITS.rememberedIds.value + 1} } }`,
      "dedupe.remember",
      "5000",
    ],
    [
      "ids to remember that are not a number",
      `export default { name: "A", version: "1", dedupe: { strategy: "unique", remember: "all" } }`,
      "dedupe.remember",
      "integer",
    ],
    [
      "ids to remember of another strategy",
      `export default { name: "A", version: "1", dedupe: { strategy: "greatest", remember: 500 } }`,
      "dedupe.remember",
      "unique",
    ],
    [
      "ids to remember without a strategy",
      `export default { name: "A", version: "1", dedupe: { remember: 500 } }`,
      "dedupe.remember",
      "unique",
    ],
    [
      "a prop without a type",
      `export default { name: "A", version: "1", props: { p: {} } }`,
      "props.p",
      "type",
    ],
    [
      "a label that is far too long",
      `export default { name: "A", version: "1", props: { p: { type: "string", label: "x".repeat(2000) } } }`,
      "props.p.label",
      "1000",
    ],
    ["a function instead of a component", `export default () => {}`, "code", "default export"],
    ["a default export that is not a component", `export default 7`, "code", "default export"],
    [
      "an unknown propDefinition",
      `export default { name: "A", version: "1", props: { p: { propDefinition: [{}, "nope"] } } }`,
      "props.p",
      "nope",
    ],
    ["code that exports nothing", `const unused = 1;`, "code", "default export"],
    [
      "a default that is nested too deeply",
      `let deep = 1; for (let i = 0; i < 60; i++) deep = [deep];
       export default { name: "A", version: "1", props: { p: { type: "string[]", default: deep } } }`,
      "props.p",
      "nested",
    ],
    [
      "a key with NUL",
      `export default { name: "A", version: "1", props: { p: { type: "object", default: { "a\\0": 1 } } } }`,
      "props.p",
      "NUL",
    ],
    [
      "too large a description",
      `export default { name: "A", version: "1", props: { p: { type: "string", options: Array(9000).fill("x".repeat(200)) } } }`,
      "props",
      `${LIMITS.descriptionBytes.value / 1024} KB`,
    ],
    [
      "too many props",
      `export default { name: "A", version: "1", props: Object.fromEntries(
        Array.from({ length: ${LIMITS.props.value + 1} }, (_, n) => ["p" + n, { type: "string" }])) }`,
      "props",
      "",
    ],
    ["a throw at load", `throw new Error("missing setting")`, "code", "missing setting"],
    ["an import that is not bundled", `import "left-pad"; export default {}`, "code", "left-pad"],
    ["a syntax error", `export default {`, "code", ""],
    ["an exit at load", `process.exit(3)`, "code", "ended"],
    [
      "an error in the background",
      `setTimeout(() => { throw new Error("left behind"); }, 0);
       for (const end = Date.now() + 20; Date.now() < end; ); export default { name: "A", version: "1" }`,
      "code",
      "by an error that no call waited for: left behind",
    ],
  ] as const) {
    it(`rejects ${what} and names the field`, async () => {
      const error = await rejectionOf(code);
      expect(error.fields[0]).to.include({ in: "component", path });
      expect(error.message).to.contain(message);
    });
  }

  it("gives up on a module that never finishes loading @long", async () => {
    const impatient = await openTestSandboxes({ describeMs: { cpu: 500, wall: 5000 } });
    const [loop, wait] = await Promise.all([
      rejectionOf("for (;;);", impatient),
      rejectionOf("await new Promise(() => {}); export default {}", impatient),
    ]).finally(() => impatient.close());
    expect(loop.message).to.contain("computed for 0.5 s");
    expect(wait.message).to.contain("within 5 s");
  });

  it("leaves no process behind", async () => {
    await describeCode(`setInterval(() => {}, 10); export default { name: "A", version: "1" }`);
    await rejectionOf("throw 1");
    await until(() => sandboxes.stats().warm === 0);
  });
});
