import { expect } from "chai";
import { AppError } from "../../src/lib/errors.ts";
import { eventScore } from "../../src/lib/ids.ts";
import { RunRecords } from "../../src/models/run.ts";
import { openPublisher } from "../../src/queues/emissions.ts";
import { until } from "../support/until.ts";
import { EVENTS, isFullSize, KINDS, type Kind, type Lab, WEBHOOKS } from "./lab.ts";
import { LOOK_EVERY_MS, openWork } from "./open-work.ts";
import { whereabouts } from "./whereabouts.ts";

/** Shares of all events: most are published, because a run in a sandbox costs many times what a delivery does. */
const SHARES: Record<Kind, number> = {
  numbered: 0.3,
  plain: 0.25,
  published: 0.15,
  source: 0.2,
  stateless: 0.1,
};
/** Events emitted at the same time; all must be accepted before the next batch. */
const BATCH: Record<Kind, number> = { numbered: 20, plain: 20, published: 4, source: 10, stateless: 10 };
/**
 * Published requests are in turn single events, a batch that is larger than a job, so that its event ids are reserved before
 * it is accepted (src/events/publish/publisher.ts), and a small batch. At full size most of the large ones are small.
 */
const LARGE_EACH = isFullSize ? 4 : 1;
const PADDING = "x".repeat(140 * 1024);
/** Most events in flight, so that the load lasts as long as the faults. */
const MOST_IN_FLIGHT = isFullSize ? 3000 : 150;
/** Sent before the first fault, as a share of all events. */
const FIRST = 0.2;
/** Time after the last fault: for a stalled job, a sweep, or a permit that a killed process held. */
const FINISH_MS = isFullSize ? 240_000 : 180_000;
const AGAIN_MS = 100;
/** Failed runs that are printed. */
const MOST_SAID = 3;

/** What the receiver got of the whole load. */
export interface Outcome {
  lost: string[];
  /** Requests beyond the first of each event at each webhook. */
  repeats: number;
}

export interface Load {
  /** True once all events are accepted. */
  isSent(): boolean;
  /** Allows this share of the events, beyond the first, to be sent. */
  allow(share: number): void;
  /** Publishes a batch more, whose event ids are reserved before it is accepted. */
  publishLarge(): void;
  /** Deliveries that have arrived. */
  arrived(): number;
  /** Waits until all events are accepted and delivered and all queues are empty; then checks and counts them. */
  finish(): Promise<Outcome>;
}

/** Sends until it is accepted; returns how many times it was not. */
const accepted = async (send: () => Promise<unknown>): Promise<number> => {
  for (let failures = 0; ; failures++) {
    try {
      await send();
      return failures;
    } catch (error) {
      const isAway = error instanceof AppError ? error.code === "unavailable" : error instanceof TypeError;
      if (!isAway && !(error instanceof NotAccepted)) throw error;
      await new Promise(resolve => setTimeout(resolve, AGAIN_MS));
    }
  }
};

class NotAccepted extends Error {}

/** Emits `EVENTS` events under this name, as fast as they are delivered; rejected events are sent again. */
export function startLoad(lab: Lab, name: string): Load {
  const { platform, receiver, emitters } = lab;
  const publish = openPublisher(platform.queues);
  const before = receiver.events();
  const arrived = () => receiver.events() - before;
  const totals = Object.fromEntries(KINDS.map(kind => [kind, Math.round(EVENTS * SHARES[kind])]));
  const sent: Record<Kind, number> = { numbered: 0, plain: 0, published: 0, source: 0, stateless: 0 };
  /** Of each request with several events that was accepted at once. */
  const batches: number[][] = [];
  const extra: Promise<void>[] = [];
  let requests = 0;
  let allowed = FIRST;
  let isSent = false;

  const keyOf = (kind: Kind, n: number) => `${name}:${kind}:${n}`;
  const inFlight = () => KINDS.reduce((sum, kind) => sum + sent[kind] * WEBHOOKS[kind].length, 0) - arrived();
  const maySend = (kind: Kind) => sent[kind] < (totals[kind] ?? 0) * allowed && inFlight() < MOST_IN_FLIGHT;

  const emissionOf = (kind: "numbered" | "plain", n: number) => ({
    emitter_id: emitters[kind],
    emit_id: keyOf(kind, n),
    event: { key: keyOf(kind, n) },
  });
  const postAll = (kind: "source" | "stateless", numbers: number[]) =>
    Promise.all(numbers.map(n => accepted(() => post(emitters.endpoints[kind], { key: keyOf(kind, n) }))));
  /** Under the same ids until it gets a 202, whatever became of an earlier request. */
  const publishBatch = async (numbers: number[], padding?: string) => {
    const ids = numbers.map(n => keyOf("published", n));
    const events = ids.map(id => ({ event: { key: id, ...(padding && { padding }) }, id }));
    const failures = await accepted(() => post202(lab, { events }, ids));
    if (failures === 0) batches.push(numbers);
  };
  const publishAll = async (numbers: number[]) => {
    requests += 1;
    if (requests % 3 !== 1) {
      const isLarge = requests % (3 * LARGE_EACH) === 2;
      return await publishBatch(numbers, isLarge ? PADDING : undefined);
    }
    const ids = numbers.map(n => keyOf("published", n));
    await Promise.all(ids.map(id => accepted(() => post202(lab, { event: { key: id }, id }, [id]))));
  };
  const sendOne: Record<Kind, (numbers: number[]) => Promise<unknown>> = {
    async numbered(numbers) {
      let first = 0;
      await accepted(async () => {
        first = await platform.eventLog.reserve(emitters.numbered, numbers.length);
      });
      await Promise.all(
        numbers.map((n, i) => accepted(() => publish({ ...emissionOf("numbered", n), score: first + i }))),
      );
    },
    plain: numbers => Promise.all(numbers.map(n => accepted(() => publish(emissionOf("plain", n))))),
    published: publishAll,
    source: numbers => postAll("source", numbers),
    stateless: numbers => postAll("stateless", numbers),
  };
  const send = async (kind: Kind) => {
    const total = totals[kind] ?? 0;
    while (sent[kind] < total) {
      await until(() => maySend(kind), { timeoutMs: FINISH_MS, what: `${kind} events to be delivered` });
      const size = Math.min(BATCH[kind], total - sent[kind]);
      const numbers = Array.from({ length: size }, (_, i) => sent[kind] + i);
      sent[kind] += size;
      await sendOne[kind](numbers);
    }
  };
  const all = Promise.all(KINDS.map(send)).then(() => {
    isSent = true;
  });
  // `finish` reports the error.
  all.catch(() => undefined);

  return {
    isSent: () => isSent,
    arrived,
    allow(share) {
      allowed = Math.max(allowed, FIRST + (1 - FIRST) * share);
    },
    publishLarge() {
      const first = totals.published ?? 0;
      totals.published = first + BATCH.published;
      const more = publishBatch(
        Array.from({ length: BATCH.published }, (_, i) => first + i),
        PADDING,
      );
      more.catch(() => undefined);
      extra.push(more);
    },
    async finish() {
      allowed = 1;
      await Promise.all([all, ...extra]);
      const missing = () =>
        KINDS.flatMap(kind =>
          WEBHOOKS[kind].flatMap(path => {
            const arrivals = receiver.at(path);
            return Array.from({ length: totals[kind] ?? 0 }, (_, n) => keyOf(kind, n))
              .filter(key => !arrivals.has(key))
              .map(key => ({ key, path }));
          }),
        );
      const expected = KINDS.reduce((sum, kind) => sum + (totals[kind] ?? 0) * WEBHOOKS[kind].length, 0);
      await until(() => arrived() >= expected, { timeoutMs: FINISH_MS, what: "all events" }).catch(
        () => undefined,
      );
      const lost = missing();
      if (lost.length > 0) {
        await sayWhere(lab, new Set(lost.map(({ key }) => key)));
        return { lost: lost.map(({ key, path }) => `${key} at ${path}`), repeats: 0 };
      }
      await until(() => expectIdle(lab), {
        timeoutMs: FINISH_MS,
        everyMs: LOOK_EVERY_MS,
        what: "all queues to be empty",
      });
      return { lost: [], repeats: checkIds() };
    },
  };

  /** Checks the ids of all requests; returns how many requests were repeats. */
  function checkIds(): number {
    let repeats = 0;
    for (const kind of KINDS) {
      // A request whose response was lost is sent again, and without dedupe it is another event.
      if (kind === "stateless") continue;
      for (const path of WEBHOOKS[kind]) {
        const ids: string[] = [];
        for (let n = 0; n < (totals[kind] ?? 0); n++) {
          const arrival = receiver.at(path).get(keyOf(kind, n));
          const where = `of ${keyOf(kind, n)} at ${path}`;
          expect([...(arrival?.webhookIds ?? [])], `webhook-ids ${where}`).to.have.length(1);
          expect([...(arrival?.eventIds ?? [])], `event ids ${where}`).to.have.length(1);
          ids.push(...(arrival?.eventIds ?? []));
          repeats += (arrival?.requests ?? 1) - 1;
        }
        expect(new Set(ids).size, `distinct event ids of ${kind}`).to.equal(ids.length);
        // A request that was not accepted at once may have put its events on the queue twice.
        if (kind === "published") {
          for (const numbers of batches)
            expectInOrder(
              numbers.map(n => ids[n] ?? ""),
              1,
              `a request at ${path}`,
            );
        } else if (kind !== "plain") {
          expectInOrder(ids, kind === "source" ? BATCH.source : 1, `${kind} at ${path}`);
        }
      }
    }
    return repeats;
  }
}

/** Ids must strictly increase from each batch to the next; within a batch the order of requests is unknown. */
function expectInOrder(ids: string[], batch: number, what: string): void {
  let highest = 0;
  for (let at = 0; at < ids.length; at += batch) {
    const scores = ids.slice(at, at + batch).map(id => eventScore(id) ?? 0);
    expect(Math.min(...scores), `event ids of ${what}, number ${at}`).to.be.above(highest);
    highest = Math.max(...scores);
  }
}

async function post(url: string, body: unknown): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new NotAccepted(`status ${response.status}`);
}

/** Publishes as the workflow of the lab; the response must name these ids. */
async function post202({ api, emitters }: Lab, body: unknown, ids: string[]): Promise<void> {
  const response = await api.request("POST", `/workflows/${emitters.published}/events`, { body });
  if (response.status !== 202) {
    const isTemporary = response.status >= 500 || response.status === 429;
    if (isTemporary) throw new NotAccepted(`status ${response.status}`);
    throw new Error(`publishing: ${response.status} ${response.text}`);
  }
  expect(response.body.data.emit_ids, "emit ids").to.deep.equal(ids);
}

/** Prints what still waits, what became of the events with these keys, and which runs failed in place of emitting one. */
async function sayWhere({ platform, emitters }: Lab, keys: Set<string>): Promise<void> {
  const sources = [emitters.source, emitters.stateless];
  const failed = await RunRecords(platform.mongo)
    .find({ source_id: { $in: sources }, error: { $exists: true } })
    .limit(MOST_SAID)
    .lean();
  const lines = [
    `open: ${JSON.stringify(await openWork(platform, sources))}`,
    ...(await whereabouts(platform, [...keys])),
    ...failed.map(run => `run failed: ${JSON.stringify(run)}`),
  ];
  for (const line of lines) console.log(`  ${line}`);
}

/** Throws an error that lists what still waits, is in progress, or is left to the sweep. */
async function expectIdle({ platform, emitters }: Lab): Promise<true> {
  const open = await openWork(platform, [emitters.source, emitters.stateless]);
  if (Object.keys(open).length > 0) throw new Error(JSON.stringify(open));
  return true;
}
