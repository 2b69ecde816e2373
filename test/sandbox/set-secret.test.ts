import { expect } from "chai";
import type { CallRequest, ComponentCall } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { bundleOf, openTestSandboxes } from "./sandbox-fixture.ts";

const FROM_HOOK = `{ preset: "github", secret: { from: "hook" } }`;
const WRONG = ["", "undefined", "null", "7", '""', "{}", '"x".repeat(4097)', "Symbol()"];

/** Each function of it does what the prop `does` says. */
const settingSecrets = (verify = FROM_HOOK) =>
  bundleOf(`const work = async ({ does, http, $emit }) => {
    if (does === "emits") { await http.setSecret("s3cr3t"); $emit("set"); }
    if (does === "late") setTimeout(() => http.setSecret("s3cr3t"), 0);
    if (does === "throws") { http.setSecret("s3cr3t-0123"); throw new Error("no s3cr3t-0123 here"); }
    if (does === "twice") { http.setSecret("one"); http.setSecret("two"); }
    if (does === "long") http.setSecret("x".repeat(4096));
    ${WRONG.map((code, n) => `if (does === "wrong ${n}") http.setSecret(${code});`).join("\n")}
  };
  export default { name: "T", version: "1",
    props: { http: { type: "$.interface.http", verify: ${verify} }, does: "string" },
    hooks: { deploy() { return work(this); }, activate() { return work(this); }, deactivate() { return work(this); } },
    sampleEmit() { return work(this); },
    run() { return work(this); },
  };`);

describe("the secret that a hook sets", () => {
  let sandboxes: Sandboxes;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  const call = (does: string, what: ComponentCall = "activate", verify?: string) => {
    const request: CallRequest = { call: what, event: null, props: { http: {}, does }, db: {} };
    return sandboxes.call(`secrets:${verify}`, settingSecrets(verify), request);
  };

  it("leaves deploy and activate, and is part of no event, log or db", async () => {
    for (const hook of ["deploy", "activate"] as const) {
      const result = await call("emits", hook);
      expect(result).to.include({ secret: "s3cr3t" });
      expect(result.error).to.equal(undefined);
      expect(JSON.stringify({ ...result, secret: "" })).not.to.include("s3cr3t");
    }
    expect(await call("nothing")).not.to.have.property("secret");
  });

  it("is a text of bounded length", async () => {
    for (const [n, code] of WRONG.entries()) {
      const { error, secret } = await call(`wrong ${n}`);
      expect(error?.message, code).to.equal("setSecret: the secret must be a text of 1 to 4096 characters");
      expect(secret).to.equal(undefined);
    }
    expect((await call("long")).secret).to.have.length(4096);
  });

  it("is set once: that of a second webhook would be rejected for ever", async () => {
    expect((await call("twice")).error?.message).to.equal("setSecret: this hook has called it before");
  });

  it("is set by nothing else, and only where it verifies", async () => {
    for (const what of ["run", "deactivate", "sampleEmit"] as const) {
      const { error, secret } = await call("emits", what);
      expect(error?.message, what).to.equal("setSecret: only the hooks deploy and activate can call it");
      expect(secret).to.equal(undefined);
    }
    for (const verify of ["null", `{ preset: "github", secret: "token" }`]) {
      expect((await call("emits", "activate", verify)).error?.message, verify).to.equal(
        'setSecret: the interface has no verify with secret: { from: "hook" }',
      );
    }
  });

  it("is dropped after the end of its hook, and shown in no error of it", async () => {
    expect(await call("late")).not.to.have.property("secret");
    const { error } = await call("throws");
    expect(error?.message).to.match(/^no .* here$/);
    expect(JSON.stringify(error)).not.to.include("s3cr3t-0123");
  });
});
