import { expect } from "chai";
import { send, sendTest } from "../../../src/deliveries/attempt/send.ts";
import { findPulled } from "../../../src/deliveries/pull/pull.ts";
import { readKept } from "../../../src/deliveries/pull/read.ts";
import { createDestination, deleteDestination } from "../../../src/destinations/destinations.ts";
import type { Message } from "../../../src/destinations/message.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { type Alert, Alerts } from "../../../src/models/alert.ts";
import { PulledEvents } from "../../../src/models/pulled-event.ts";
import { type Destination, Webhooks } from "../../../src/models/webhook.ts";
import { EMITTER, OWNER, storeEvent } from "../../deliveries/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

describe("what is kept for a program to pull", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform?.destroy());

  const created = async (): Promise<Destination> => {
    const { id } = await createDestination(platform, { ownerId: OWNER, userId: OWNER, pull: {} });
    return await present(id);
  };
  const present = async (id: string): Promise<Destination> => {
    const found = await findPulled(platform, id, [OWNER]);
    if (!found) throw new Error("no destination");
    return found;
  };
  const messageOf = async (n: number): Promise<Message> => {
    const { _id: emit_id, event_id } = await storeEvent(platform, { n });
    return {
      ...{ id: newId("dlv"), eventId: event_id, emitterId: EMITTER, eventName: "", attempt: 1 },
      body: JSON.stringify({ n }),
      stored: {
        ...{ emit_id, subscription_id: newId("sub"), subscriber_id: OWNER },
        ...{ is_transformed: false, schedule: 0 },
      },
    };
  };
  const read = async (id: string, behind = 0) =>
    await readKept(platform, await present(id), { behind, limit: 100 });
  const acknowledge = (id: string, position: number) =>
    Webhooks(platform.mongo).updateOne({ _id: id }, { $set: { "pull.acknowledged": position } });

  it("is there once, however often its attempt is repeated, also after it was acknowledged", async () => {
    const destination = await created();
    const message = await messageOf(1);
    const attempts = [1, 2].map(attempt => send(platform, destination, { ...message, attempt }));
    expect((await Promise.all(attempts)).map(({ status, response }) => [status, response])).to.deep.equal([
      [200, "position 1"],
      [200, "position 1"],
    ]);
    await acknowledge(destination._id, 1);
    expect(await send(platform, destination, message)).to.include({ status: 200, response: "position 1" });
    expect((await read(destination._id, 1)).events).to.have.length(0);
  });

  it("is there again if it is retried by hand", async () => {
    const destination = await created();
    const message = await messageOf(1);
    await send(platform, destination, message);
    await acknowledge(destination._id, 1);
    const byHand = { ...message, stored: { ...message.stored, schedule: 1 } as Message["stored"] & object };
    expect(await send(platform, destination, byHand)).to.include({ response: "position 2" });
    expect((await read(destination._id, 1)).events.map(({ id }) => id)).to.deep.equal([message.id]);
  });

  it("is seen once by a reader that follows the cursor while two processes keep events", async () => {
    const destination = await created();
    const messages = await Promise.all(Array.from({ length: 120 }, (_, n) => messageOf(n)));
    // What keeps them belongs to the platform of a process.
    const processes = [platform, { ...platform }];
    let isWriting = true;
    const writing = Promise.all(
      messages.map((message, n) => send(processes[n % 2] as TestPlatform, destination, message)),
    ).finally(() => {
      isWriting = false;
    });
    const seen: string[] = [];
    for (let isLast = false; !isLast; ) {
      isLast = !isWriting;
      const { events, truncated } = await read(destination._id, seen.length);
      expect(truncated).to.equal(false);
      seen.push(...events.map(({ id }) => id));
    }
    expect((await writing).map(({ status }) => status)).to.deep.equal(messages.map(() => 200));
    for (let more = 1; more > 0; ) {
      const { events } = await read(destination._id, seen.length);
      seen.push(...events.map(({ id }) => id));
      more = events.length;
    }
    expect(seen.toSorted()).to.deep.equal(messages.map(({ id }) => id).toSorted());
  });

  it("is no more than may wait: the attempt fails, and nothing gives way", async () => {
    const destination = await created();
    const most = LIMITS.pulledEvents.value;
    const pull = { last: most + 5, acknowledged: 5, waiting_since_ms: 1 };
    await Webhooks(platform.mongo).updateOne({ _id: destination._id }, { $set: { pull } });
    const message = await messageOf(1);
    const full = await send(platform, destination, message);
    expect(full.status).to.equal(null);
    expect(full.error).to.match(/^rejected: 100000 events wait to be pulled/);
    await acknowledge(destination._id, 6);
    expect(await send(platform, destination, message)).to.include({ response: `position ${most + 6}` });
  });

  it("alerts its owner once while nothing is acknowledged, and again in another such time", async () => {
    const destination = await created();
    const alerts = () =>
      Alerts(platform.mongo)
        .find({ "subject.id": destination._id })
        .sort({ at_ms: 1, _id: 1 })
        .lean<Alert[]>();
    const since = (ms: number) =>
      Webhooks(platform.mongo).updateOne({ _id: destination._id }, { $set: { "pull.waiting_since_ms": ms } });
    await send(platform, destination, await messageOf(1));
    await send(platform, destination, await messageOf(2));
    expect(await alerts()).to.have.length(0);
    const sinceMs = platform.clock() - LIMITS.pullLagMs.value;
    await since(sinceMs);
    for (const n of [3, 4]) await send(platform, destination, await messageOf(n));
    const [alert, ...others] = await alerts();
    expect(others).to.have.length(0);
    expect(alert).to.deep.include({ type: "destination.lagging", owner_id: OWNER });
    expect(alert?.details).to.deep.equal({ waiting: 3, waiting_since_ms: sinceMs });
    await since(sinceMs - 1);
    await send(platform, destination, await messageOf(5));
    expect(await alerts()).to.have.length(2);
  });

  it("may be a test, which is not stored anywhere else", async () => {
    const destination = await created();
    expect(await sendTest(platform, destination)).to.include({ status: 200, error: null });
    const { events } = await read(destination._id);
    expect(JSON.parse(JSON.stringify(events))[0]).to.include({ event_name: "$test" });
  });

  it("goes with the destination, to which nothing more is sent", async () => {
    const destination = await created();
    await send(platform, destination, await messageOf(1));
    await deleteDestination(platform, destination);
    expect(await PulledEvents(platform.mongo).countDocuments({ listener_id: destination._id })).to.equal(0);
    expect((await send(platform, destination, await messageOf(2))).error).to.equal(
      "rejected: it was deleted",
    );
    expect(await PulledEvents(platform.mongo).countDocuments({ listener_id: destination._id })).to.equal(0);
  });
});
