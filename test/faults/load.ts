import { expect } from "chai";
import { AppError } from "../../src/lib/errors.ts";
import { eventScore } from "../../src/lib/event-id.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { openPublisher } from "../../src/queues/publish-emissions.ts";
import { until } from "../support/until.ts";
import { EVENTS, isFullSize, KINDS, type Kind, type Lab, WEBHOOKS } from "./lab.ts";

/** Of all events: most are published, as a run in a sandbox costs many times what a delivery does. */
const SHARES: Record<Kind, number> = { numbered: 0.4, plain: 0.4, source: 0.2 };
/** Emitted at the same time; what is accepted ends before the next begin. */
const BATCH: Record<Kind, number> = { numbered: 20, plain: 20, source: 10 };
/** Events on their way, so that the load lasts as long as what is done to it. */
const MOST_ON_THEIR_WAY = isFullSize ? 3000 : 150;
/** Sent before the first stroke, as a share of all. */
const FIRST = 0.2;
/** After the last stroke: a stalled job, a sweep, a place that a killed process held. */
const SETTLE_MS = isFullSize ? 240_000 : 60_000;
const AGAIN_MS = 100;

/** What came of all at the receiver. */
export interface Count {
  lost: string[];
  /** Requests beyond the first of each event at each webhook. */
  repeats: number;
}

export interface Load {
  /** True once all is accepted. */
  isSent(): boolean;
  /** Lets more events go: the share of the strokes that are done. */
  struck(share: number): void;
  /** Deliveries that have arrived. */
  arrived(): number;
  /** Waits until all is accepted, delivered and nothing is left to do; counts. */
  settled(): Promise<Count>;
}

const accepted = async (send: () => Promise<unknown>): Promise<void> => {
  for (;;) {
    try {
      await send();
      return;
    } catch (error) {
      const isAway = error instanceof AppError ? error.code === "unavailable" : error instanceof TypeError;
      if (!isAway && !(error instanceof NotAccepted)) throw error;
      await new Promise(resolve => setTimeout(resolve, AGAIN_MS));
    }
  }
};

class NotAccepted extends Error {}

/** Emits `EVENTS` events under this name, as fast as they are delivered; what is refused is sent again. */
export function startLoad(lab: Lab, name: string): Load {
  const { platform, receiver, emitters } = lab;
  const publish = openPublisher(platform.queues);
  const before = receiver.events();
  const arrived = () => receiver.events() - before;
  const totals = Object.fromEntries(KINDS.map(kind => [kind, Math.round(EVENTS * SHARES[kind])]));
  const sent: Record<Kind, number> = { numbered: 0, plain: 0, source: 0 };
  let allowed = FIRST;
  let isSent = false;

  const keyOf = (kind: Kind, n: number) => `${name}:${kind}:${n}`;
  const onTheirWay = () =>
    KINDS.reduce((sum, kind) => sum + sent[kind] * WEBHOOKS[kind].length, 0) - arrived();
  const mayGo = (kind: Kind) =>
    sent[kind] < (totals[kind] ?? 0) * allowed && onTheirWay() < MOST_ON_THEIR_WAY;

  const emissionOf = (kind: "numbered" | "plain", n: number) => ({
    emitter_id: emitters[kind],
    emit_id: keyOf(kind, n),
    event: { key: keyOf(kind, n) },
  });
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
    source: numbers =>
      Promise.all(numbers.map(n => accepted(() => post(emitters.endpointUrl, { key: keyOf("source", n) })))),
  };
  const lane = async (kind: Kind) => {
    const total = totals[kind] ?? 0;
    while (sent[kind] < total) {
      await until(() => mayGo(kind), { timeoutMs: SETTLE_MS, what: `${kind} events to be taken` });
      const size = Math.min(BATCH[kind], total - sent[kind]);
      const numbers = Array.from({ length: size }, (_, i) => sent[kind] + i);
      sent[kind] += size;
      await sendOne[kind](numbers);
    }
  };
  const all = Promise.all(KINDS.map(lane)).then(() => {
    isSent = true;
  });
  // Heard of in `settled`.
  all.catch(() => undefined);

  return {
    isSent: () => isSent,
    arrived,
    struck(share) {
      allowed = Math.max(allowed, FIRST + (1 - FIRST) * share);
    },
    async settled() {
      allowed = 1;
      await all;
      const missing = () =>
        KINDS.flatMap(kind =>
          WEBHOOKS[kind].flatMap(path => {
            const there = receiver.at(path);
            return Array.from({ length: totals[kind] ?? 0 }, (_, n) => keyOf(kind, n))
              .filter(key => !there.has(key))
              .map(key => `${key} at ${path}`);
          }),
        );
      const expected = KINDS.reduce((sum, kind) => sum + (totals[kind] ?? 0) * WEBHOOKS[kind].length, 0);
      await until(() => arrived() >= expected, { timeoutMs: SETTLE_MS, what: "all events" }).catch(
        () => undefined,
      );
      const lost = missing();
      if (lost.length > 0) return { lost, repeats: 0 };
      await until(() => expectIdle(lab), { timeoutMs: SETTLE_MS, what: "all to be done" });
      return { lost, repeats: checked() };
    },
  };

  /** Checks the ids of all that came; answers how many requests were repeats. */
  function checked(): number {
    let repeats = 0;
    for (const kind of KINDS) {
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
        if (kind !== "plain") expectInOrder(ids, kind === "source" ? BATCH.source : 1, `${kind} at ${path}`);
      }
    }
    return repeats;
  }
}

/** Strictly increasing from each batch to the next; within one, nobody knows which request came first. */
function expectInOrder(ids: string[], batch: number, what: string): void {
  let highest = 0;
  for (let at = 0; at < ids.length; at += batch) {
    const scores = ids.slice(at, at + batch).map(id => eventScore(id) ?? 0);
    expect(Math.min(...scores), `event ids of ${what}, number ${at}`).to.be.above(highest);
    highest = Math.max(...scores);
  }
}

async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new NotAccepted(`answered ${answer.status}`);
}

/** Throws with what still waits, is under way, or is left for the sweep to look at. */
async function expectIdle({ platform, emitters }: Lab): Promise<true> {
  const left: Record<string, unknown> = {};
  for (const name of ["runs", "emissions", "deliveries"]) {
    const counts = await platform.queues.get(name)?.getJobCounts("waiting", "active", "delayed");
    if (Object.values(counts ?? {}).some(count => count > 0)) left[name] = counts;
  }
  const inLine = await platform.runQueue.length(emitters.source);
  if (inLine > 0) left.line = inLine;
  const unsettled = await StoredEvents(platform.mongo)
    .findOne({ pending_dispatch: { $exists: true } })
    .lean();
  if (unsettled) left.unsettled = unsettled;
  if (Object.keys(left).length > 0) throw new Error(JSON.stringify(left));
  return true;
}
