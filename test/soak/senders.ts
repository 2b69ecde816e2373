import { openPublisher } from "../../src/queues/emissions.ts";
import type { Actor, SentEvent } from "./model.ts";
import { pause } from "./pause.ts";
import { PUBLISHED, publishOverHttp } from "./publish-over-http.ts";
import type { HttpSource, Stage } from "./stage.ts";

/** Events a second of each emitter. */
const RATES: Record<string, number> = {
  plain: 3,
  responding: 1,
  counting: 2,
  deduping: 2,
  versioned: 1,
  spoken: 1.5,
  throwing: 0.5,
  watched: 1.5,
  forgotten: 0.7,
  "flow-1": 1,
  "flow-2": 1,
  unlucky: 0.1,
  [PUBLISHED]: 2,
};

/** A sender waits no longer for a response; what came of its request is unclear then. */
const RESPONSE_MS = 12_000;
/** Of the events for the source that drops what it knows, this share has been sent a moment ago. */
const REPEATED = 0.4;
const LAST_KEYS = 20;

/** Starts everything that emits; resolves when it has ended, which it does once the signal is aborted. */
export function startSenders(stage: Stage, actor: Actor): Promise<unknown> {
  const sending = Object.entries(RATES).map(([name, perSecond]) => {
    const own = { ...actor, random: actor.random.stream(name) };
    const source = stage.sources[name];
    const send = source ? sendTo(stage, source, own) : publishTo(stage, name, own);
    return repeat(own, perSecond, send);
  });
  return Promise.all(sending);
}

const publishTo = (stage: Stage, name: string, actor: Actor): (() => Promise<void>) =>
  name === PUBLISHED ? publishOverHttp(stage, actor) : publishAs(stage, name, actor);

/** Calls `work` at a steady rate, one call after another. */
async function repeat(
  { random, signal }: Actor,
  perSecond: number,
  work: () => Promise<void>,
): Promise<void> {
  const everyMs = 1000 / perSecond;
  while (!signal.aborted) {
    const startedAt = Date.now();
    await work();
    const jitter = 0.5 + random.next();
    await pause(everyMs * jitter - (Date.now() - startedAt), signal);
  }
}

function sendTo(stage: Stage, source: HttpSource, actor: Actor): () => Promise<void> {
  if (source.name === "deduping") return sendRepeatedly(stage, source, actor);
  return () => sendEvent(stage, source, actor).then(() => undefined);
}

/** Sends a new event to a source; returns it, accepted or not. */
export async function sendEvent(stage: Stage, source: HttpSource, actor: Actor): Promise<SentEvent> {
  const { model } = actor;
  const event = model.sending(source.name, source.name === "versioned" ? { version: latestVersion } : {});
  await post(stage, source, actor, event);
  return event;
}

/** The version whose PUT was accepted last; an event that is sent later must not be handled by an earlier one. */
let latestVersion = 1;
export function versionAccepted(version: number): void {
  latestVersion = version;
}

async function post(
  stage: Stage,
  source: HttpSource,
  { model, random }: Actor,
  event: SentEvent,
): Promise<boolean> {
  const { key, n } = event;
  const web = random.pick(stage.installation.webs);
  try {
    const response = await fetch(web + source.endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key, n, isEven: n % 2 === 0 }),
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    const body = await response.text();
    if (!response.ok) return false;
    const { key: responded, run_id } = JSON.parse(body) as { key?: string; run_id?: string };
    if (source.name === "responding" && responded !== key) {
      model.observed.push({ what: "wrong responses", example: `${body.slice(0, 80)} to ${key}` });
    }
    model.accepted(event, run_id);
    return true;
  } catch {
    // Unclear: it may have been accepted.
    return false;
  }
}

function sendRepeatedly(stage: Stage, source: HttpSource, actor: Actor): () => Promise<void> {
  const { model, random } = actor;
  const last: SentEvent[] = [];
  return async () => {
    const isRepeated = random.chance(REPEATED);
    const at = random.between(0, LAST_KEYS - 1);
    const known = isRepeated ? last[at % Math.max(1, last.length)] : undefined;
    const event = known ?? model.sending(source.name);
    const isAccepted = await post(stage, source, actor, event);
    // Each key has one run that emits; what all its further runs emit is dropped.
    model.deduping[isAccepted ? "accepted" : "unclear"] += 1;
    if (!known) last.push(event);
    if (last.length > LAST_KEYS) last.shift();
  };
}

/** Publishes as a workflow engine does: again, under the same emit id, until it is accepted. */
function publishAs(
  { installation, workflows }: Stage,
  name: string,
  { model, signal }: Actor,
): () => Promise<void> {
  const publish = openPublisher(installation.platform.queues);
  return async () => {
    const event = model.sending(name);
    const { key, n } = event;
    const emission = { emitter_id: workflows[name] ?? "", emit_id: key, event: { key, n } };
    while (!signal.aborted) {
      const isAccepted = await publish(emission).then(
        () => true,
        () => false,
      );
      if (isAccepted) return model.accepted(event);
      await pause(300, signal);
    }
  };
}
