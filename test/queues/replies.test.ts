import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { openSubscriber } from "../../src/platform.ts";
import { openReplies, type Replies, type Reply, reply } from "../../src/queues/replies.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

const PROCESS = "waiting-process";
const responseOf = (bytes: number): Reply => ({
  type: "response",
  response: { status: 200, headers: {}, bodyBase64: Buffer.alloc(bytes, 7).toString("base64") },
});

describe("replies to runs", () => {
  let platform: TestPlatform;
  let replies: Replies;
  /** What was published on the process's channel, as every subscriber receives it. */
  const published: string[] = [];
  let observer: ReturnType<typeof openSubscriber>;
  before(async () => {
    platform = await openTestPlatform();
    const { redis, keys } = platform;
    replies = await openReplies(openSubscriber(platform), redis, keys, PROCESS);
    observer = openSubscriber(platform);
    observer.on("message", (_channel, message) => published.push(message));
    await observer.subscribe(keys.replies(PROCESS));
  });
  beforeEach(() => void published.splice(0));
  after(async () => {
    observer.disconnect();
    await replies.close();
    await platform.destroy();
  });

  const send = (runId: string, message: Reply) =>
    reply(platform, { run_id: runId, reply_to: PROCESS }, message);
  const keyOf = (runId: string) => platform.keys.reply(PROCESS, runId);

  it("of 5 MB each arrive together, and none of their bytes is published", async () => {
    const runIds = Array.from({ length: 10 }, () => newId("run"));
    const received = runIds.map(runId => replies.first(runId, 30_000));
    const sent = responseOf(5 * 1024 * 1024);
    await Promise.all(runIds.map(runId => send(runId, sent)));
    for (const one of received) expect((await one) as object).to.deep.equal(sent);
    await until(() => published.length === runIds.length);
    for (const message of published) expect(message.length).to.be.below(100);
    expect(await platform.redis.exists(...runIds.map(keyOf))).to.equal(0);
  });

  it("are replaced by an end if they are larger than a reply may be", async () => {
    const frame = JSON.stringify(responseOf(0)).length;
    // Three bytes are four characters of base64.
    const most = Math.floor((LIMITS.replyBytes.value - frame) / 4) * 3;
    for (const [bytes, type] of [
      [most, "response"],
      [most + 3, "ended"],
    ] as const) {
      const runId = newId("run");
      const received = replies.first(runId, 30_000);
      await send(runId, responseOf(bytes));
      expect((await received)?.type, `${bytes} bytes`).to.equal(type);
    }
  });

  it("are kept for a moment, and for none if the wait is over", async () => {
    const runId = newId("run");
    await reply(platform, { run_id: runId, reply_to: "gone" }, responseOf(1));
    expect(await platform.redis.pttl(platform.keys.reply("gone", runId))).to.be.within(
      1,
      LIMITS.replyKeptMs.value,
    );
    await send(runId, responseOf(1));
    await until(async () => (await platform.redis.exists(keyOf(runId))) === 0);
  });

  it("count once: the first one", async () => {
    const runId = newId("run");
    const first = replies.first(runId, 30_000);
    await Promise.all([send(runId, responseOf(3)), send(runId, { type: "ended" })]);
    expect(await first).to.deep.equal(responseOf(3));
  });

  it("over their limit become the end of the run, which says so", async () => {
    const runId = newId("run");
    const first = replies.first(runId, 30_000);
    await send(runId, responseOf(7 * 1024 * 1024));
    expect(await first)
      .to.deep.include({ type: "ended" })
      .and.nested.include({ "error.code": "Response Too Large" });
  });

  it("that are lost end the wait at once, as a timeout does", async () => {
    const runId = newId("run");
    const first = replies.first(runId, 30_000);
    await platform.redis.publish(platform.keys.replies(PROCESS), `${runId} 10`);
    expect(await first).to.equal(null);
  });
});
