import type { Summary } from "../support/api.ts";
import { PLAIN, versioned } from "./components.ts";
import type { Actor, ExpectedWebhook, SentEvent } from "./model.ts";
import { pause } from "./pause.ts";
import { sendEvent, versionAccepted } from "./senders.ts";
import { addTimer, addWebhook, deploySource, type HttpSource, type Stage, subscribe } from "./stage.ts";

const EVERY_S = { least: 2, most: 6 };
const BRIEF_EVENTS = 4;
/** How long the runs of a source that is about to be deleted may take. */
const RUNS_MS = 60_000;
const MOST_LATE_WEBHOOKS = 4;

/** Changes resources while events flow, one change after another; resolves once the signal is aborted. */
export class Changes {
  readonly #stage: Stage;
  readonly #actor: Actor;
  #count = 0;
  #version = 1;
  readonly #lateWebhooks: ExpectedWebhook[] = [];
  #timer: HttpSource | undefined;
  done = 0;

  constructor(stage: Stage, actor: Actor) {
    this.#stage = stage;
    this.#actor = actor;
  }

  async run(): Promise<void> {
    const { random, signal, model } = this.#actor;
    const changes = [
      () => this.#deploySendDelete(),
      () => this.#update(),
      () => this.#addOrDeleteWebhook(),
      () => this.#changeWebhook(),
      () => this.#deleteEvents(),
      () => this.#addOrDeleteTimer(),
    ];
    while (!signal.aborted) {
      await pause(random.between(EVERY_S.least, EVERY_S.most) * 1000, signal);
      const change = random.pick(changes);
      if (signal.aborted) return;
      try {
        await change();
        this.done += 1;
      } catch (error) {
        model.observed.push({ what: "rejected changes", example: String(error) });
      }
    }
  }

  /** A source that lives for a few events: what it accepted and ran is delivered, although it is deleted by then. */
  async #deploySendDelete(): Promise<void> {
    const { c } = this.#stage.clients;
    const name = `brief-${++this.#count}`;
    const source = await deploySource(c, name, PLAIN);
    await subscribe(c, source, await addWebhook(this.#stage, c, `/${name}`));
    // From here on, whatever was routed before.
    await pause(1100);
    const events: SentEvent[] = [];
    for (let i = 0; i < BRIEF_EVENTS; i++) events.push(await sendEvent(this.#stage, source, this.#actor));
    await this.#untilRun(source, events);
    await c.insist("DELETE", `/sources/${source.id}`);
    this.#actor.model.deleted.push({ id: source.id, kind: "source" });
  }

  /** Waits until the accepted events have been run; those that have not in time need not arrive. */
  async #untilRun(source: HttpSource, events: SentEvent[]): Promise<void> {
    const endsAt = Date.now() + RUNS_MS;
    const waiting = () => events.filter(({ runId }) => runId !== undefined);
    while (Date.now() < endsAt) {
      const runs = await source.client.insist<{ id: string }[]>("GET", `/sources/${source.id}/runs`, {
        query: { limit: 100 },
      });
      const ids = new Set(runs.map(({ id }) => id));
      if (waiting().every(({ runId }) => ids.has(runId ?? ""))) return;
      await pause(200);
    }
    this.#actor.model.observed.push({ what: "runs that did not end", example: source.name });
  }

  async #update(): Promise<void> {
    const source = this.#stage.sources.versioned;
    if (!source) return;
    const version = ++this.#version;
    await source.client.insist("PUT", `/sources/${source.id}`, {
      body: { component_code: versioned(version) },
    });
    versionAccepted(version);
  }

  /** Webhooks that come later, and some of which go again. */
  async #addOrDeleteWebhook(): Promise<void> {
    const { a } = this.#stage.clients;
    const { plain } = this.#stage.sources;
    if (!plain) return;
    const leaving = this.#lateWebhooks.length >= MOST_LATE_WEBHOOKS ? this.#lateWebhooks.shift() : undefined;
    if (!leaving) {
      const webhook = await addWebhook(this.#stage, a, `/late-${++this.#count}`);
      await subscribe(a, plain, webhook);
      this.#lateWebhooks.push(webhook);
      return;
    }
    leaving.deletedAtMs = Date.now();
    await a.insist("DELETE", `/webhooks/${leaving.id}`);
    leaving.deletedAtMs = Date.now();
    this.#actor.model.deleted.push({ id: leaving.id, kind: "webhook" });
  }

  async #changeWebhook(): Promise<void> {
    const { random, model } = this.#actor;
    const paths = ["/plain", "/flaky", "/limited"];
    const webhook = model.webhookAt(random.pick(paths));
    const { a } = this.#stage.clients;
    const body = { max_in_flight: random.between(4, 32) };
    await a.insist("PUT", `/webhooks/${webhook?.id}`, { body });
  }

  /** Deletes the older half of what is listed. */
  async #deleteEvents(): Promise<void> {
    const list = this.#actor.model.lists.find(({ emitter }) => emitter === "forgotten");
    const { b } = this.#stage.clients;
    if (!list) return;
    const summaries = await b.insist<Summary[]>("GET", `/sources/${list.sourceId}/event_summaries`);
    const middle = summaries[Math.floor(summaries.length / 2)];
    if (!middle) return;
    await b.insist("DELETE", `/sources/${list.sourceId}/events`, { query: { end_id: middle.id } });
    list.deletedUpTo = middle.id;
  }

  async #addOrDeleteTimer(): Promise<void> {
    if (!this.#timer) {
      this.#timer = await addTimer(this.#stage, `late-timer-${++this.#count}`, 2);
      return;
    }
    const source = this.#timer;
    this.#timer = undefined;
    await deleteTimer(this.#stage, source);
  }
}

/** Deletes a timer; its ticks are expected until now. */
export async function deleteTimer({ model }: Stage, source: HttpSource): Promise<void> {
  const timer = model.timers.find(({ path }) => path === `/${source.name}`);
  if (timer) timer.untilMs = Date.now();
  await source.client.insist("DELETE", `/sources/${source.id}`);
  model.deleted.push({ id: source.id, kind: "source" });
}
