import { expect } from "chai";
import { causeOf, issueIdOf } from "../../src/issues/cause.ts";

describe("the cause of a failed attempt", () => {
  const WEBHOOK = "wh_0CjBAEdF3kWq9RtZ";
  const ACTION = "ac_0CjBAEdF3kWq9RtZ";
  const cause = (error: string | null, { status = null as number | null, of = WEBHOOK } = {}) =>
    causeOf(of, { status, error });

  it("is its status, or the code of its error", () => {
    expect(cause(null, { status: 200 })).to.equal(null);
    expect(cause("HTTP status 503", { status: 503 })).to.equal("status:503");
    expect(cause("timeout: example.com did not respond in time")).to.equal("timeout");
    expect(cause("blocked-address: no")).to.equal("blocked-address");
    expect(cause("rejected: NOPERM this user: has no permissions", { of: "ds_0CjBAEdF3kWq9RtZ" })).to.equal(
      "rejected",
    );
    expect(cause("function: event.a is undefined (line 1, column 9)")).to.equal("function");
  });

  it("of an action names the code that its author has chosen, as one short line", () => {
    expect(cause("TypeError: x is not a function\n at run", { of: ACTION })).to.equal("action:TypeError");
    expect(cause("Quota Exceeded: used up", { of: ACTION })).to.equal("action:Quota Exceeded");
    expect(cause("function: event.a is undefined", { of: ACTION })).to.equal("function");
    expect(cause("", { of: ACTION })).to.equal("action:Error");
    expect(cause(`a\nb\u202e${"c".repeat(5000)}: d`, { of: ACTION })).to.match(/^action:a b c{59}…$/);
  });

  it("and its listener make the id of the issue", () => {
    const id = issueIdOf(WEBHOOK, "timeout");
    expect(id).to.match(/^iss_0CjBAEd[0-9A-Za-z]{9}$/);
    expect(issueIdOf(WEBHOOK, "timeout")).to.equal(id);
    expect(issueIdOf(WEBHOOK, "dns")).not.to.equal(id);
    expect(issueIdOf(ACTION, "timeout")).not.to.equal(id);
  });
});
