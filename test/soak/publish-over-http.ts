import type { Actor, SentEvent } from "./model.ts";
import { pause } from "./pause.ts";
import type { Stage } from "./stage.ts";

/** The workflow whose events are published over HTTP. */
export const PUBLISHED = "published";

/** A publisher waits no longer for a response; then it sends the same again. */
const RESPONSE_MS = 12_000;
const AGAIN_MS = 300;
/** One request in so many, the fifth first, has more events than one job holds: these get their ids beforehand. */
const LARGE = { each: 120, first: 5, events: 210 };
const MOST_EVENTS = 3;
/** This share of the requests was accepted before, and is sent once more. */
const REPEATED = 0.1;
const LAST_REQUESTS = 50;

/** Publishes as other programs do: again, under the same ids, until it gets a 202. */
export function publishOverHttp(stage: Stage, { model, random, signal }: Actor): () => Promise<void> {
  const last: SentEvent[][] = [];
  let requests = 0;
  return async () => {
    requests += 1;
    const size =
      requests % LARGE.each === LARGE.first % LARGE.each ? LARGE.events : random.between(1, MOST_EVENTS);
    const isRepeated = random.chance(REPEATED);
    const at = random.between(0, LAST_REQUESTS - 1);
    const known = isRepeated ? last[at % Math.max(1, last.length)] : undefined;
    const events = known ?? Array.from({ length: size }, () => model.sending(PUBLISHED));
    for (let tries = 0; !signal.aborted; tries++) {
      if (await publish(stage, model, events, requests + tries)) {
        for (const event of events) model.accepted(event);
        if (known) return;
        if (tries === 0) model.batches.push(events);
        last.push(events);
        if (last.length > LAST_REQUESTS) last.shift();
        return;
      }
      await pause(AGAIN_MS, signal);
    }
  };
}

/** Sends one request to one of the web processes; returns whether it was accepted, which without a response is unclear. */
async function publish(
  { installation, workflows, clients }: Stage,
  model: Actor["model"],
  events: SentEvent[],
  turn: number,
): Promise<boolean> {
  const { webs } = installation;
  const list = events.map(({ key, n }) => ({ event: { key, n }, id: key }));
  const ids = JSON.stringify(events.map(({ key }) => key));
  try {
    const response = await fetch(`${webs[turn % webs.length]}/v1/workflows/${workflows[PUBLISHED]}/events`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${clients.c.apiKey}` },
      body: JSON.stringify(list.length === 1 ? list[0] : { events: list }),
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    const body = await response.text();
    if (response.status === 202) {
      const { data } = JSON.parse(body) as { data: { emit_ids: string[] } };
      if (JSON.stringify(data.emit_ids) !== ids) {
        model.observed.push({
          what: "wrong responses",
          example: `${body.slice(0, 80)} to ${ids.slice(0, 80)}`,
        });
      }
      return true;
    }
    if (response.status < 500 && response.status !== 429) {
      model.observed.push({
        what: "rejected publications",
        example: `${response.status} ${body.slice(0, 200)}`,
      });
    }
  } catch {
    // Unclear: it may have been accepted.
  }
  return false;
}
