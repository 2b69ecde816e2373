import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { type Source, Sources } from "../../src/models/source.ts";
import type { ChangeItem } from "../../src/queues/run-item.ts";
import { applyChange } from "../../src/runs/apply-change.ts";
import type { BatchRequest, CallResult, DescribedProp } from "../../src/sandbox/protocol.ts";
import { prepareVerify, verifyOf } from "../../src/sources/verify.ts";
import type { VerifySettings } from "../../src/verify/schema.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { resultOf, storeRunnableSource, withSandbox } from "./runnable-source.ts";

const PROPS: DescribedProp[] = [
  { name: "http", type: "$.interface.http", verify: { preset: "svix", secret: { from: "hook" } } },
];
const HOOKS = ["deploy" as const, "activate" as const, "deactivate" as const];
const KEY = `whsec_${Buffer.from("one").toString("base64")}`;
const NEXT_KEY = `whsec_${Buffer.from("two").toString("base64")}`;
const options = { signal: new AbortController().signal, hasCrashed: false };

describe("the secret that a hook has set", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const sealed = (asked?: VerifySettings) => {
    const given = { props: PROPS, values: {}, asked, before: null, active: true };
    return platform.secrets.seal(JSON.stringify(prepareVerify(given)));
  };
  const deploying = (overrides: Partial<Source> = {}) =>
    storeRunnableSource(
      platform,
      { verify: sealed(), state: "deploying", ...overrides },
      { props: PROPS, hooks: HOOKS },
    );
  /** A sandbox whose hooks return what is given for them. */
  const hooks = (results: Partial<Record<string, Partial<CallResult> | Error>>) =>
    withSandbox(platform, ({ call }: BatchRequest) => {
      const result = results[call];
      if (result instanceof Error) throw result;
      return resultOf(result);
    });
  const stored = async ({ _id }: Source) => {
    const source = await Sources(platform.mongo).findById(_id).lean();
    return source && { ...source, opened: verifyOf(platform, source) };
  };
  const itemOf = (op: "create" | "update", rest: Partial<ChangeItem> = {}): ChangeItem => ({
    ...{ kind: "change", op, run_id: newId("run"), at_ms: Date.now() },
    ...{ expires_at_ms: Date.now() + 60_000, ...rest },
  });
  const create = (source: Source, results: Parameters<typeof hooks>[0]) =>
    applyChange(hooks(results), source._id, itemOf("create"), options);
  /** An update as a request would prepare it; it keeps what a hook has set before. */
  async function updateOf(source: Source, { active = true } = {}): Promise<ChangeItem> {
    const before = (await Sources(platform.mongo).findById(source._id).lean()) ?? expect.fail();
    const { component_id, component_url, name, name_slug, endpoint, timer, change_id, configured_props } =
      before;
    const verify = prepareVerify({
      ...{ props: PROPS, values: {}, asked: undefined, active },
      before: verifyOf(platform, before),
    });
    const candidate = {
      ...{ component_id, component_url, name, name_slug, endpoint, timer, configured_props, active },
      verify: platform.secrets.seal(JSON.stringify(verify)),
    };
    return itemOf("update", { candidate, prepared_for: change_id });
  }

  it("is stored with the deployment, encrypted, beside those of the owner", async () => {
    const owned = `whsec_${Buffer.from("owner").toString("base64")}`;
    const source = await deploying({ verify: sealed({ secrets: [owned] }) });
    await create(source, { deploy: { secret: NEXT_KEY }, activate: { secret: KEY } });
    const after = await stored(source);
    expect(after).to.include({ state: "ready" });
    expect(after?.opened).to.deep.include({ secrets: [owned, KEY], hook: KEY });
    expect(after?.verify).not.to.include(KEY);
  });

  it("stays with a change that calls no hook, and ends with the source's being active", async () => {
    const source = await deploying();
    await create(source, { activate: { secret: KEY } });
    expect(verifyOf(platform, { verify: (await updateOf(source)).candidate?.verify ?? null })?.hook).to.equal(
      KEY,
    );
    await applyChange(hooks({}), source._id, await updateOf(source, { active: false }), options);
    expect((await stored(source))?.opened).to.deep.include({ secrets: [], hook: null });
  });

  it("is replaced by that of an update, and is none if its activate sets none", async () => {
    const source = await deploying();
    await create(source, { activate: { secret: KEY } });
    await applyChange(hooks({ activate: { secret: NEXT_KEY } }), source._id, await updateOf(source), options);
    expect((await stored(source))?.opened).to.deep.include({ secrets: [NEXT_KEY], hook: NEXT_KEY });
    await applyChange(hooks({}), source._id, await updateOf(source), options);
    expect((await stored(source))?.opened).to.deep.include({ secrets: [], hook: null });
  });

  it("leaves nothing if the hook fails, or sets what is no key of the rule", async () => {
    const error = { code: "Error", message: "no", stack: "" };
    for (const activate of [{ secret: KEY, error }, { secret: "whsec_not base64" }]) {
      const source = await deploying();
      const { outcome } = await create(source, { activate });
      expect(outcome).to.equal("error" in activate ? "Error" : "ConfigurationError");
      expect(await stored(source)).to.equal(null);
    }
  });

  it("is that with which the old code was activated again, if an update fails", async () => {
    const source = await deploying();
    await create(source, { activate: { secret: KEY } });
    let activations = 0;
    const failing = withSandbox(platform, ({ call }: BatchRequest) => {
      if (call !== "activate") return resultOf();
      activations += 1;
      const error = { code: "Error", message: "no", stack: "" };
      return activations === 1 ? resultOf({ error, secret: "new" }) : resultOf({ secret: NEXT_KEY });
    });
    const prepared = await updateOf(source);
    const item = await updateOf(source);
    expect((await applyChange(failing, source._id, item, options)).outcome).to.equal("Error");
    const after = await stored(source);
    expect(after?.opened).to.deep.include({ secrets: [NEXT_KEY], hook: NEXT_KEY });
    const late = await applyChange(hooks({ activate: { secret: KEY } }), source._id, prepared, options);
    expect(late.outcome, "a change that was prepared with the secret before").to.equal("stale");
  });

  it("is nowhere if the worker is killed in activate, and set by the next worker or undone", async () => {
    const killed = new Error("killed");
    const source = await deploying();
    const item = itemOf("create");
    const result = await applyChange(
      hooks({ deploy: { secret: KEY }, activate: killed }),
      source._id,
      item,
      options,
    ).catch(error => error);
    expect(result).to.equal(killed);
    expect(await stored(source)).to.deep.include({ state: "deploying" });
    expect((await stored(source))?.opened).to.deep.include({ secrets: [], hook: null });
    await applyChange(hooks({ activate: { secret: NEXT_KEY } }), source._id, item, options);
    expect((await stored(source))?.opened).to.deep.include({ secrets: [NEXT_KEY], hook: NEXT_KEY });

    const update = await updateOf(source);
    await applyChange(hooks({ activate: killed }), source._id, update, options).catch(() => undefined);
    expect((await stored(source))?.opened?.hook).to.equal(NEXT_KEY);
    await applyChange(
      hooks({ activate: { secret: KEY } }),
      source._id,
      { ...update, expires_at_ms: 0 },
      options,
    );
    const undone = await stored(source);
    expect(undone?.begun).to.equal(undefined);
    expect(undone?.opened, "of the activation that undid it").to.deep.include({ secrets: [KEY], hook: KEY });
  });
});
