import { expect } from "chai";
import { mayShareProcess } from "../../src/runs/open-version.ts";

describe("a source's process", () => {
  it("may be shared if the source has a timer, and no endpoint for strangers", () => {
    const timer = { interval_seconds: 60, cron: null, timezone: null };
    expect(mayShareProcess({ timer, endpoint: null })).to.equal(true);
    expect(mayShareProcess({ timer, endpoint: "abc" })).to.equal(false);
    expect(mayShareProcess({ timer: null, endpoint: null })).to.equal(false);
  });
});
