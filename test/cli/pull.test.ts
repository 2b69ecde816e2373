// runs-long: npm test has test/deliveries/pull/routes.test.ts and test/cli/usage.test.ts
import { expect } from "chai";
import { PulledEvents } from "../../src/models/pulled-event.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { commandsWith, type RunningCommand, startHeadwater } from "./command.ts";

describe("headwater pull", () => {
  let system: System;
  let api: Api;
  let env: Record<string, string>;
  let flow: string;
  let id: string;
  let kept = 0;
  let started: RunningCommand | undefined;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
  });
  after(async () => {
    started?.kill("SIGKILL");
    await started?.ended;
    await system?.stop();
  });

  const { printed, json, failure } = commandsWith(() => env);
  /** Publishes events one after another, so that they are kept in this order. */
  async function publish(...events: unknown[]) {
    for (const event of events) {
      await api.expect(202, "POST", `/workflows/${flow}/events`, { body: { event } });
      kept += 1;
      await until(
        async () => (await PulledEvents(system.worker.mongo).countDocuments({ listener_id: id })) === kept,
        { what: "the event" },
      );
    }
  }
  const eventsIn = (lines: string): unknown[] =>
    lines
      .split("\n")
      .filter(Boolean)
      .map(line => JSON.parse(line).event);
  const pulled = async (...args: string[]) => eventsIn(await printed("pull", "inbox", ...args));

  it("prints what is kept, a line each, and acknowledges it", async () => {
    id = (await json("destination", "create", "pull", "--name", "inbox")).id;
    await api.subscribe(flow, id);
    expect(await pulled("--once")).to.deep.equal([]);
    await publish({ n: 1 }, { n: 2 }, { n: 3 });
    expect(await pulled("--limit", "2")).to.deep.equal([{ n: 1 }, { n: 2 }]);
    expect(await printed("destination", "show", "inbox")).to.match(/waiting +1\n/);
    expect(await pulled("--once")).to.deep.equal([{ n: 3 }]);
    expect(await pulled("--once")).to.deep.equal([]);
  });

  it("waits for more, and loses nothing when it is killed", async () => {
    started = startHeadwater(["pull", "inbox"], env);
    const isThere = (n: number) =>
      until(() => eventsIn(started?.stdout() ?? "").length === n, { what: "the line" });
    await publish({ n: 4 });
    await isThere(1);
    await publish({ n: 5 });
    await isThere(2);
    started.kill("SIGKILL");
    await started.ended;
    await publish({ n: 6 });
    const again = await pulled("--once");
    expect(again.at(-1)).to.deep.equal({ n: 6 });
    expect(again, "acknowledged when it was asked for more").not.to.deep.include({ n: 4 });
  });

  it("begins behind a cursor", async () => {
    await publish({ n: 7 }, { n: 8 });
    const { events } = await api.expect(200, "GET", `/listeners/${id}/events`);
    expect(await pulled("--once", "--after", events[0].cursor)).to.deep.equal([{ n: 8 }]);
  });

  it("says what is wrong", async () => {
    expect(await failure("pull", "inbox", "--after", "garbage")).to.include(
      "is not a cursor of this listener",
    );
    expect(await failure("pull", "absent")).to.include("absent");
  });
});
