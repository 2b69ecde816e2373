import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { reply } from "../../src/queues/replies.ts";
import { type ChangeItem, parseRunItem } from "../../src/queues/run-item.ts";
import { ChangeRejection, requestChange } from "../../src/sources/change.ts";
import { rejection } from "../components/rejection.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("requestChange", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
  });
  after(() => platform.destroy());

  /** Requests a change, and replies as the worker would that has taken it from the run queue. */
  async function requestAndReply(error?: { code: string; message: string; stack?: string }) {
    const sourceId = newId("dc");
    const result = requestChange(platform, sourceId, { op: "update" }, newId("u"));
    const text = await until(() => platform.redis.lindex(platform.keys.changeQueue(sourceId), 0), {
      what: "the change in its queue",
    });
    const change = parseRunItem(text) as ChangeItem;
    await reply(platform, change, { type: "ended", ...(error && { error }) });
    return result;
  }

  it("returns whether the worker applied the change or found it stale", async () => {
    expect(await requestAndReply()).to.equal("applied");
    expect(await requestAndReply({ code: ChangeRejection.stale, message: "changed" })).to.equal("stale");
  });

  it("throws `unavailable` if the change expired before a worker started it", async () => {
    const error = await rejection(requestAndReply({ code: ChangeRejection.expired, message: "too late" }));
    expect(error.code).to.equal("unavailable");
  });

  it("throws `invalid` with the error of a hook", async () => {
    const error = await rejection(requestAndReply({ code: "TypeError", message: "no such city" }));
    expect(error.code).to.equal("invalid");
    expect(error.message).to.equal("updating the source failed: no such city");
  });

  it("names the line of the component's own file where a hook failed", async () => {
    const stack =
      "TypeError: no such city\n    at fetch (node:undici:1:1)\n    at Object.deploy (sources/new/new.mjs:12:9)\n    at acme.mjs:3:1";
    const error = await rejection(requestAndReply({ code: "TypeError", message: "no such city", stack }));
    expect(error.message).to.equal("updating the source failed: no such city (at sources/new/new.mjs:12:9)");
    expect(error.fields[0]?.message).to.equal("TypeError: no such city (at sources/new/new.mjs:12:9)");
  });
});
