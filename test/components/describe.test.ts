// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are code of components
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { describeComponent } from "../../src/components/describe.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { rejection } from "./rejection.ts";

describe("describing a component", () => {
  let sandboxes: Sandboxes;

  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  const describeCode = async (code: string) => {
    const bundle = await bundleComponent(fromCode(code), { cacheDir: tmpdir() });
    const hash = createHash("sha256").update(bundle.code).digest("hex");
    return describeComponent(sandboxes, { code: bundle.code, hash });
  };
  const withProps = (props: string) => `export default { name: "x", version: "1", props: ${props} };`;

  it("returns name, key, version, hooks, and props in the order of the code", async () => {
    const found = await describeCode(`
      const app = { type: "app", app: "acme", propDefinitions: { repo: { type: "string", label: "Repo" } } };
      export default {
        name: "X", key: "acme-x", version: "0.1.2", description: "About", dedupe: "unique",
        props: {
          app, db: "$.service.db", timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
          repo: { propDefinition: [app, "repo"], optional: true }, list: { type: "string[]", options: async () => [] },
        },
        hooks: { async deploy() {} },
        async run() {},
      };`);
    expect(found).to.deep.include({
      name: "X",
      key: "acme-x",
      version: "0.1.2",
      hooks: ["deploy"],
      hasRun: true,
    });
    expect(found.props.map(({ name, type }) => `${name} ${type}`)).to.deep.equal([
      "app app",
      "db $.service.db",
      "timer $.interface.timer",
      "repo string",
      "list string[]",
    ]);
    expect(found.props[3]).to.include({ label: "Repo", optional: true });
    expect(found.usesRespond).to.equal(false);
  });

  it("accepts every documented type of props", async () => {
    const plain = ["string", "integer", "boolean", "object", "any"];
    const types = [
      ...plain,
      ...plain.map(type => `${type}[]`),
      ...[
        "$.interface.timer",
        "$.interface.http",
        "$.interface.apphook",
        "$.service.db",
        "http_request",
        "alert",
      ],
      ...["data_store", "dir", "sql", "app", "$.airtable.baseId", "$.discord.channel[]"],
    ];
    const props = Object.fromEntries(types.map((type, index) => [`p${index}`, { type }]));
    expect(
      (await describeCode(withProps(JSON.stringify(props)))).props.map(({ type }) => type),
    ).to.deep.equal(types);
  });

  const respond: [string, boolean][] = [
    ["this.http.respond({ status: 200 })", true],
    [`this.http["respond"]({})`, true],
    ["this.http?.respond?.({})", true],
    ["const { respond } = this.http; respond({})", true],
    ["this.http.respond.call(this, {})", true],
    ["/* this.http.respond({}) */ null", false],
    [`"it will respond later"`, false],
    ["this.responder({})", false],
    ["this.respondTo({})", false],
  ];
  for (const [code, expected] of respond) {
    it(`finds ${expected ? "a" : "no"} call of respond in: ${code}`, async () => {
      const source = `export default { name: "x", version: "1", async run() { ${code}; } };`;
      expect((await describeCode(source)).usesRespond).to.equal(expected);
    });
  }

  const slash: [string, boolean][] = [
    ["`${this.http.endpoint}/`", true],
    ["verify(`${http.endpointUrl}/`)", true],
    ["this.http.endpoint + '/'", true],
    ["`${this.http.endpoint}/path`", false],
    ["`${this.http.endpoint}/${id}`", false],
    ["this.http.endpoint + '/path'", false],
    ["`${this.endpoints}/`", false],
  ];
  for (const [code, expected] of slash) {
    it(`finds ${expected ? "a" : "no"} slash added to the endpoint in: ${code}`, async () => {
      const source = `export default { name: "x", version: "1", async run() { ${code}; } };`;
      expect((await describeCode(source)).addsSlash).to.equal(expected);
    });
  }

  const rejected: [string, string, string][] = [
    ["an action without run", `export default { name: "x", version: "1", type: "action" };`, "run"],
    ["an unknown type", `export default { name: "x", version: "1", type: "app" };`, "type"],
    ["a missing name", `export default { version: "1" };`, "name"],
    ["a blank name", `export default { name: " ", version: "1" };`, "name"],
    ["a missing version", `export default { name: "x" };`, "version"],
    ["a key that looks like an id", `export default { name: "x", version: "1", key: "sc_1" };`, "key"],
    ["a key with a space", `export default { name: "x", version: "1", key: "a b" };`, "key"],
    ["an unknown type of props", withProps(`{ a: "text" }`), "props.a.type"],
    ["an unknown interface", withProps(`{ a: "$.interface.queue" }`), "props.a.type"],
    ["a reserved prop name", withProps(`{ $emit: "string" }`), "props.$emit"],
    [
      "a timer that is never due",
      withProps(`{ t: { type: "$.interface.timer", static: { cron: "0 0 30 2 *" } } }`),
      "props.t.static",
    ],
    [
      "a secret in the code by which requests are verified",
      withProps(`{ h: { type: "$.interface.http", verify: { preset: "github", secret: "s3cr3t" } } }`),
      "props.h.verify.secret",
    ],
    [
      "a secret from a hook that does not exist",
      withProps(
        `{ h: { type: "$.interface.http", verify: { preset: "github", secret: { from: "hook" } } } }`,
      ),
      "props.h.verify.secret",
    ],
    [
      "a secret from elsewhere",
      withProps(`{ h: { type: "$.interface.http", verify: { preset: "github", secret: { from: "db" } } } }`),
      "props.h.verify.secret",
    ],
    ["two timers", withProps(`{ t: "$.interface.timer", u: "$.interface.timer" }`), "props.u"],
    ["a run that is no function", `export default { name: "x", version: "1", run: 5 };`, "run"],
    [
      "a hook that is no function",
      `export default { name: "x", version: "1", hooks: { deploy: true, activate: null } };`,
      "hooks.deploy",
    ],
    ["code that throws when it is evaluated", `throw new Error("at once");`, "code"],
  ];
  for (const [what, code, path] of rejected) {
    it(`rejects ${what} and names ${path}`, async () => {
      const error = await rejection(
        describeCode(code.includes("throw") ? `${code} export default {};` : code),
      );
      expect(error.code).to.equal("invalid");
      expect(error.fields.map(field => field.path)).to.include(path);
    });
  }

  it("includes the location in the component's own code if the code throws when it is evaluated", async () => {
    const source = `const limits = { most: 1 };\nexport default { name: "x", version: limits.least.toString() };`;
    const error = await rejection(describeCode(source));
    expect(error.fields[0]?.message).to.match(/Cannot read.*\(at .*component\.\w+:2:\d+\)/);
  });
});
