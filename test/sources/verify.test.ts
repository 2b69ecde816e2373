import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { DescribedProp } from "../../src/sandbox/protocol.ts";
import { prepareVerify, presentVerify, type StoredVerify } from "../../src/sources/verify.ts";
import type { AuthorVerify, VerifySettings } from "../../src/verify/schema.ts";
import { rejection } from "../components/rejection.ts";

const HTTP: DescribedProp = { name: "http", type: "$.interface.http" };
const SECRET: DescribedProp = { name: "token", type: "string", secret: true };
const by = (verify: AuthorVerify): DescribedProp[] => [{ ...HTTP, verify }, SECRET];

const owned = (asked: VerifySettings | null | undefined, before: StoredVerify | null = null) =>
  prepareVerify({ props: [HTTP], values: {}, asked, before, active: true });
const authored = (author: AuthorVerify, asked?: VerifySettings | null, values = {}) =>
  prepareVerify({ props: by(author), values, asked, before: null, active: true });
const faultsOf = async (work: () => unknown) =>
  (await rejection((async () => work())())).fields.map(({ path }) => path);

describe("how requests for a source are verified", () => {
  it("is nothing unless the author or the owner says so", () => {
    expect(owned(undefined)).to.equal(null);
    expect(owned(null)).to.equal(null);
    expect(prepareVerify({ props: [], values: {}, asked: undefined, before: null, active: true })).to.equal(
      null,
    );
  });

  it("is what the owner says", () => {
    const given: VerifySettings = { preset: "stripe", secrets: ["a", "b"], tolerance: 60, mode: "report" };
    const stored = owned(given);
    expect(stored).to.deep.include({ by: "owner", secrets: ["a", "b"], mode: "report", reject_with: 401 });
    expect(stored?.choice).to.include({ preset: "stripe", tolerance: 60 });
  });

  it("keeps its secrets until others are given, and ends with null", () => {
    const stored = owned({ preset: "stripe", secrets: ["a"] });
    expect(owned(undefined, stored)).to.deep.equal(stored);
    expect(owned({ preset: "stripe", reject_with: 403 }, stored)).to.deep.include({
      secrets: ["a"],
      reject_with: 403,
    });
    expect(owned({ preset: "stripe", secrets: [] }, stored)?.secrets).to.deep.equal([]);
    expect(owned(null, stored)).to.equal(null);
  });

  it("replaces one secret in two steps, of which neither needs the old one", async () => {
    const old = owned({ preset: "stripe", secrets: ["old"] });
    const both = owned({ preset: "stripe", secrets: [{ keep: 0 }, "new"] }, old);
    expect(both?.secrets).to.deep.equal(["old", "new"]);
    expect(owned(undefined, both)).to.deep.equal(both);
    expect(owned({ preset: "stripe", secrets: [{ keep: 1 }] }, both)?.secrets).to.deep.equal(["new"]);
    for (const before of [null, old]) {
      expect(
        await faultsOf(() => owned({ preset: "stripe", secrets: ["new", { keep: 1 }] }, before)),
      ).to.deep.equal(["verify.secrets[1]"]);
    }
  });

  it("needs an HTTP interface, and ends with it", async () => {
    const stored = owned({ preset: "stripe", secrets: ["a"] });
    expect(prepareVerify({ props: [], values: {}, asked: undefined, before: stored, active: true })).to.equal(
      null,
    );
    expect(
      await faultsOf(() =>
        prepareVerify({ props: [], values: {}, asked: { preset: "stripe" }, before: null, active: true }),
      ),
    ).to.deep.equal(["verify"]);
  });

  it("is one rule, with keys of it", async () => {
    expect(await faultsOf(() => owned({}))).to.deep.equal(["verify"]);
    expect(await faultsOf(() => owned({ preset: "strip" }))).to.deep.equal(["verify.preset"]);
    const secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not base64"];
    const failure = await rejection((async () => owned({ preset: "svix", secrets }))());
    expect(failure.fields.map(({ path }) => path)).to.deep.equal(["verify.secrets[1]"]);
    expect(failure.message).not.to.include("not base64");
  });

  it("is shown without its secrets", () => {
    const secrets = {
      open: (text: string) => text,
      seal: (text: string) => text,
      beginnings: ["v1."] as const,
    };
    const shown = presentVerify(
      { secrets },
      { verify: JSON.stringify(owned({ preset: "paddle", secrets: ["s3cr3t"] })) },
    );
    expect(shown).to.deep.equal({
      ...{ by: "owner", preset: "paddle", rule: null, tolerance: 5, reject_with: 401 },
      ...{ drop_repeats: false, mode: "enforce", secrets: 1, secrets_given: 1 },
    });
    expect(presentVerify({ secrets }, {})).to.equal(null);
  });
});

describe("a component whose author verifies", () => {
  const github: AuthorVerify = { preset: "github", secret: "token" };
  const paddle: AuthorVerify = { preset: "paddle", drop_repeats: true };

  it("has its secret in a prop, beside those of the owner", () => {
    expect(authored(github)).to.deep.include({ by: "author", secrets: [] });
    expect(authored(github, undefined, { token: "a" })?.secrets).to.deep.equal(["a"]);
    expect(authored(github, { secrets: ["b"] }, { token: "a" })?.secrets).to.deep.equal(["a", "b"]);
  });

  it("is verified by that rule, or more strictly", async () => {
    expect(authored(paddle, { tolerance: 3, reject_with: 403 })).to.deep.include({
      ...{ reject_with: 403, drop_repeats: true, mode: "enforce" },
      choice: { preset: "paddle", rule: undefined, tolerance: 3 },
    });
    for (const [asked, path] of [
      [{ preset: "stripe" }, "preset"],
      [{ tolerance: 6 }, "tolerance"],
      [{ mode: "report" }, "mode"],
      [{ drop_repeats: false }, "drop_repeats"],
    ] as [VerifySettings, string][]) {
      expect(await faultsOf(() => authored(paddle, asked)), path).to.deep.equal([`verify.${path}`]);
    }
    expect(await faultsOf(() => authored(github, { tolerance: 5 }))).to.deep.equal(["verify.tolerance"]);
  });

  it("counts only those of the owner as given, by whose places they are kept", () => {
    const props = by(github);
    const asked = { secrets: ["b"] };
    const stored = prepareVerify({ props, values: { token: "a" }, asked, before: null, active: true });
    const secrets = {
      open: (text: string) => text,
      seal: (text: string) => text,
      beginnings: ["v1."] as const,
    };
    expect(presentVerify({ secrets }, { verify: JSON.stringify(stored) })).to.include({
      secrets: 2,
      secrets_given: 1,
    });
    const next = { secrets: [{ keep: 0 }, "c"] };
    const rotated = prepareVerify({
      props,
      values: { token: "a" },
      asked: next,
      before: stored,
      active: true,
    });
    expect(rotated?.secrets).to.deep.equal(["a", "b", "c"]);
  });

  it("has at most three secrets in all", async () => {
    const secrets = Array.from({ length: LIMITS.verifySecrets.value }, (_, n) => `s${n}`);
    expect(authored(github, { secrets })?.secrets).to.have.length(3);
    expect(await faultsOf(() => authored(github, { secrets }, { token: "a" }))).to.deep.equal([
      "verify.secrets",
    ]);
  });
});
