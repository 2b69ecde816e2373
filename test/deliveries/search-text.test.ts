import { expect } from "chai";
import { eventQueries } from "../../src/deliveries/select/by-text.ts";
import { firstIdAt } from "../../src/lib/ids.ts";
import { wordsOfPayload } from "../../src/lib/payload-words.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { type StoredEvent, StoredEvents, WORDS_INDEX } from "../../src/models/event.ts";
import type { Api, Page } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const AT_MS = 1_700_000_000_000;
const SLOTS = 1024;

interface Stats {
  totalKeysExamined: number;
  totalDocsExamined: number;
}

/** What a query read, as the database explains it, of an aggregation in its first stage; and its other stages. */
function readBy(explained: unknown): Stats & { stages: string[] } {
  type Explained = { executionStats: Stats; stages?: { $cursor: { executionStats: Stats } }[] };
  const { executionStats, stages } = [explained].flat()[0] as Explained;
  const stats = stages?.[0]?.$cursor.executionStats ?? executionStats;
  return { ...stats, stages: (stages ?? []).flatMap(stage => Object.keys(stage)) };
}

describe("the search of deliveries by text in the payload", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let flow: string;
  let webhook: string;
  before(async () => {
    system = await startSystem({ PAYLOAD_SEARCH_WORDS: "8" });
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver?.close();
    await system?.stop();
  });
  beforeEach(async () => {
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    webhook = (await api.createWebhook(receiver.url)).id;
    await api.subscribe(flow, webhook);
  });

  type Query = Record<string, string | number>;
  const search = async (query: Query, as: Api = api) =>
    (await as.request<Page<{ id: string; event_id: string }>>("GET", "/deliveries", { query })).body;
  const publish = async (events: unknown[]) => {
    await api.expect(202, "POST", `/workflows/${flow}/events`, {
      body: { events: events.map(event => ({ event })) },
    });
    await until(async () => (await search({ state: "delivered" })).page_info.total_count === events.length);
  };
  const payloads = async (query: Query) => {
    const { data } = await search(query);
    const rows = await StoredEvents(system.worker.mongo)
      .find({ event_id: { $in: data.map(({ event_id }) => event_id) }, emitter_id: flow })
      .lean();
    return rows.map(({ event }) => JSON.parse(event).n).sort();
  };

  it("finds those whose payload has all of the words, in either case, with the other filters", async () => {
    await publish([
      { n: 1, id: "order-17", who: "ada@example.com" },
      { n: 2, id: "order-18", who: "Ada@Example.com" },
      { n: 3, id: "order-17", who: "grace" },
    ]);
    const tries: [Query, number[]][] = [
      [{ text: "order-17" }, [1, 3]],
      [{ text: "ADA@example.com" }, [1, 2]],
      [{ text: "ada@example.com order-17" }, [1]],
      [
        { text: "order-17", webhook_id: webhook, emitter_id: flow, state: "delivered", status: "2xx" },
        [1, 3],
      ],
      [{ text: "order-17", state: "failed" }, []],
      [{ text: "order-17", status: "5xx" }, []],
      [{ text: "order-17", until: 1_700_000_000 }, []],
      [{ text: "order-17", since: 1_700_000_000 }, [1, 3]],
      [{ text: "order" }, []],
    ];
    for (const [query, found] of tries) {
      expect(await payloads(query), JSON.stringify(query)).to.deep.equal(found);
      expect((await search(query)).page_info.total_count, JSON.stringify(query)).to.equal(found.length);
    }
  });

  it("replays what it finds", async () => {
    await publish([
      { n: 1, id: "order-17" },
      { n: 2, id: "order-18" },
    ]);
    const sent = receiver.requests.length;
    const { id, count } = await api.expect(202, "POST", "/replays", { body: { text: "order-18" } });
    expect(count).to.equal(1);
    await until(async () => (await api.expect(200, "GET", `/replays/${id}`)).state === "done");
    await until(() => receiver.requests.length === sent + 1);
    expect(receiver.requests.at(-1)?.raw).to.include("order-18");
  });

  it("shows nothing of another account, and wants a word", async () => {
    await publish([{ n: 1, id: "order-17" }]);
    const stranger = await system.user();
    expect((await search({ text: "order-17" }, stranger)).data).to.deep.equal([]);
    for (const text of ["", "-", "--- //", "x".repeat(201)]) {
      const { status, body } = await api.request("GET", "/deliveries", { query: { text } });
      expect([status, body.errors?.[0]?.path], text).to.deep.equal([400, "text"]);
    }
  });

  const event = (n: number, score: number): StoredEvent => ({
    _id: `${flow}-e${n}`,
    emitter_id: flow,
    owner_id: api.userId,
    event_id: `${Math.floor(score / SLOTS)}-${score % SLOTS}`,
    score,
    name: "",
    event: `{"n":${n}}`,
    has_webhook_listeners: true,
    words: wordsOfPayload(["common", `n${n}`], 24),
    created_at: new Date(),
  });

  /** Stores events with a word in common, each with a delivery that was made; returns the deliveries' ids, newest first. */
  async function insert(scores: number[]): Promise<string[]> {
    const events = scores.map((score, n) => event(n, score));
    await StoredEvents(system.worker.mongo).insertMany(events);
    const rows = events.map(({ _id, event_id, score }, n) => ({
      _id: `${firstIdAt("dlv", Math.floor(score / SLOTS))}${String((n * 7919) % 100_000).padStart(5, "0")}${webhook.slice(-4)}`,
      webhook_id: webhook,
      owner_id: api.userId,
      subscription_id: "sub_x",
      emitter_id: flow,
      emit_id: _id,
      event_id,
      event_name: "",
      event_score: score,
      state: "delivered" as const,
      reason: null,
      generation: 1,
      retry_index: 1,
      trigger: "schedule" as const,
      attempts: [],
      next_attempt_at_ms: null,
      sweep_at_ms: null,
      created_at: new Date(),
      finished_at_ms: 1,
    }));
    await Deliveries(system.worker.mongo).insertMany(rows);
    return rows
      .map(({ _id }) => _id)
      .sort()
      .reverse();
  }

  async function allPages(query: Query): Promise<string[]> {
    const found: string[] = [];
    let after: string | null = null;
    do {
      const page: Page<{ id: string }> = await search({ ...query, limit: 100, ...(after && { after }) });
      found.push(...page.data.map(({ id }) => id));
      expect(page.page_info.end_cursor, "the list goes on").not.to.equal(after ?? "");
      after = page.page_info.end_cursor;
    } while (after !== null);
    return found;
  }

  it("pages through more events than one request reads, each once, also of a single millisecond @long", async () => {
    const most = LIMITS.eventsSearched.value;
    const spread = Array.from({ length: most + 150 }, (_, n) => (AT_MS + n) * SLOTS);
    // More in one millisecond than a request reads: those of two emitters have the same scores.
    const crowded = Array.from({ length: most + 200 }, (_, n) => (AT_MS + 5_000) * SLOTS + (n % SLOTS));
    const ids = await insert([...spread, ...crowded]);
    expect(await allPages({ text: "common" })).to.deep.equal(ids);
    expect(await allPages({ text: "common n3" })).to.deep.equal([ids.at(-4)]);
  });

  it("finds its events by the index in order, also with words in common and in either direction", async () => {
    const most = LIMITS.eventsSearched.value;
    const ids = await insert(Array.from({ length: most + 50 }, (_, n) => (AT_MS + n) * SLOTS));
    const everything = { owners: [api.userId], sinceMs: 0, untilMs: 32_503_680_000_000 };
    for (const words of [wordsOfPayload(["common"], 1), wordsOfPayload(["common", "n3"], 2)]) {
      for (const bounds of [{}, { after: ids[10] ?? "" }, { before: ids.at(-10) ?? "" }]) {
        const { events, next, eventsOf } = eventQueries(system.worker, { ...everything, words }, bounds);
        const tries: [string, Promise<unknown>, number][] = [
          ["events", events().explain("executionStats"), most],
          ["next", next().explain("executionStats"), most + 1],
          ["eventsOf", eventsOf(AT_MS).explain("executionStats"), 1],
        ];
        for (const [name, explaining, read] of tries) {
          const explained = await explaining;
          const title = `${name} ${words.length} ${JSON.stringify(bounds)}`;
          const { totalKeysExamined, totalDocsExamined, stages } = readBy(explained);
          expect(totalKeysExamined, title).to.be.at.most(read + 1);
          expect(totalDocsExamined, title).to.be.at.most(read);
          const plan = JSON.stringify(explained);
          expect(plan, title).to.include(JSON.stringify({ keyPattern: WORDS_INDEX }).slice(1, -1));
          expect(plan, title).not.to.match(/"stage":"(COLLSCAN|SORT)"/);
          expect(stages, title).not.to.include("$sort");
        }
      }
    }
  });

  it("keeps the first words of a payload, and none of an event without webhooks", async () => {
    const texts = Array.from({ length: system.worker.config.payloadSearchWords + 1 }, (_, n) => `word-${n}`);
    await publish([{ n: 1, texts: texts.slice(1), first: texts[0] }]);
    expect(await payloads({ text: texts[1] ?? "" })).to.deep.equal([1]);
    expect(await payloads({ text: texts.at(-1) ?? "" })).to.deep.equal([]);
    const { id } = await api.expect(201, "POST", "/workflows", { body: { name: "Alone" } });
    await api.expect(202, "POST", `/workflows/${id}/events`, {
      body: { events: [{ event: { text: "x".repeat(3000) } }] },
    });
    const alone = await until(() => StoredEvents(system.worker.mongo).findOne({ emitter_id: id }).lean());
    expect(alone).not.to.have.property("words");
  });
});
