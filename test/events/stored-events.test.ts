import { expect } from "chai";
import { deleteRange } from "../../src/events/stored-events.ts";
import { eventIdOf, eventScore, newId } from "../../src/lib/ids.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../src/models/event.ts";
import type { EventStream } from "../../src/store/keys.ts";
import { append } from "../support/event-log.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("deleting a range of stored events", () => {
  let platform: TestPlatform;
  let emitter: string;
  before(async () => {
    platform = await openTestPlatform();
  });
  beforeEach(() => {
    emitter = newId("dc");
  });
  after(() => platform.destroy());

  async function summary(stream: EventStream, emitterId = emitter): Promise<string> {
    const names = { emits: "", errors: "$errors", logs: "$logs" };
    const metadata = { emit_id: newId("emit"), name: names[stream], emitter_id: emitterId };
    return (await append(platform.eventLog, emitterId, stream, { event: {}, metadata })).eventId;
  }

  const payload = (event_id: string, more: Partial<StoredEvent> = {}): StoredEvent => ({
    _id: newId("emit"),
    emitter_id: emitter,
    owner_id: "u_1",
    event_id,
    score: eventScore(event_id) ?? 0,
    name: "",
    event: "{}",
    has_webhook_listeners: true,
    created_at: new Date(),
    ...more,
  });

  const remaining = async (stream: EventStream, emitterId = emitter) =>
    (await platform.eventLog.page(emitterId, stream, { limit: 100 })).rows.map(({ id }) => id).reverse();
  const payloads = async () =>
    (await StoredEvents(platform.mongo).find({ emitter_id: emitter }).sort({ score: 1 }).lean()).map(
      ({ event_id }) => event_id,
    );

  it("deletes summaries of every stream and their payloads, and nothing of another emitter", async () => {
    const other = newId("dc");
    const ids: string[] = [];
    for (const stream of ["emits", "errors", "logs", "emits", "errors"] as const)
      ids.push(await summary(stream));
    const theirs = await summary("emits", other);
    await StoredEvents(platform.mongo).insertMany([
      ...ids.map(id => payload(id)),
      payload(ids[2] as string, { emitter_id: other }),
    ]);
    const range = { emitter_id: emitter, start_id: ids[1] as string, end_id: ids[3] as string };
    expect(await deleteRange(platform, range)).to.deep.equal({ emitter_id: emitter, deleted: 3 });
    expect([await remaining("emits"), await remaining("errors"), await remaining("logs")]).to.deep.equal([
      [ids[0]],
      [ids[4]],
      [],
    ]);
    expect(await payloads()).to.deep.equal([ids[0], ids[4]]);
    expect(await deleteRange(platform, range), "repeated").to.include({ deleted: 0 });
    expect(await remaining("emits", other)).to.deep.equal([theirs]);
    expect(await StoredEvents(platform.mongo).countDocuments({ emitter_id: other })).to.equal(1);
    await deleteRange(platform, { emitter_id: emitter });
    expect([
      ...(await remaining("emits")),
      ...(await remaining("errors")),
      ...(await payloads()),
    ]).to.deep.equal([]);
  });

  it("deletes any number of payloads, but none that a delivery still needs", async () => {
    const base = Date.now() * 1024;
    const rows = Array.from({ length: 1203 }, (_, i) => payload(eventIdOf(base + i)));
    await StoredEvents(platform.mongo).insertMany(rows);
    const needed = [rows[0], rows[499], rows[500], rows[1202]] as StoredEvent[];
    const delivery = (event: StoredEvent, state: "pending" | "delivered") => ({
      _id: newId("dlv"),
      webhook_id: "wh_1",
      owner_id: "u_1",
      subscription_id: "sub_1",
      emitter_id: emitter,
      emit_id: event._id,
      event_id: event.event_id,
      event_name: "",
      state,
      reason: null,
      generation: 0,
      retry_index: 0,
      trigger: "schedule" as const,
      attempts: [],
      next_attempt_at_ms: null,
      sweep_at_ms: null,
      created_at: new Date(),
      finished_at_ms: null,
    });
    await Deliveries(platform.mongo).insertMany([
      ...needed.map(event => delivery(event, "pending")),
      delivery(rows[1] as StoredEvent, "delivered"),
    ]);
    await deleteRange(platform, { emitter_id: emitter });
    expect(await payloads()).to.deep.equal(needed.map(({ event_id }) => event_id));
  });

  it("takes ids that belong to no event as bounds in time", async () => {
    const first = await summary("emits");
    const [ms = 0] = first.split("-").map(Number);
    await deleteRange(platform, { emitter_id: emitter, start_id: `${ms - 10}-0`, end_id: `${ms - 1}-1023` });
    expect(await remaining("emits")).to.deep.equal([first]);
    await deleteRange(platform, { emitter_id: emitter, end_id: `${ms + 1}-0` });
    expect(await remaining("emits")).to.deep.equal([]);
  });
});
