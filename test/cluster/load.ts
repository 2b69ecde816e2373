import { setTimeout as delay } from "node:timers/promises";
import { openWork } from "../faults/open-work.ts";
import type { Api } from "../support/api.ts";
import { until } from "../support/until.ts";
import type { ClusterLab } from "./lab.ts";

const SOURCE = `export default { name: "Counted", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body, { id: body.key }); } };`;

/** Of five events, so many are HTTP requests to a source; the others are published. */
const TO_SOURCE = 1;
const MOST_IN_FLIGHT = 64;
/** A client gives up then. */
const PATIENCE_MS = 10_000;
/** What is accepted must arrive, and all work be done, in this time after the last fault. */
const FINISH_MS = 120_000;

/** What events are sent to. */
export interface Emitters {
  path: string;
  api: Api;
  sourceId: string;
  endpoint: string;
  workflowId: string;
}

/** Creates a source and a workflow whose events go to a webhook at this path. */
export async function addEmitters(lab: ClusterLab, name: string): Promise<Emitters> {
  const path = `/${name}`;
  const { apis } = await lab.user(name);
  const [api] = apis as [Api];
  const source = await api.createSource({ component_code: SOURCE });
  const workflow = await api.expect(201, "POST", "/workflows", { body: { name } });
  const webhook = await api.createWebhook(lab.receiver.urlOf(path));
  for (const id of [source.id, workflow.id]) await api.subscribe(id, webhook.id);
  const endpoint = new URL(source.configured_props.http?.endpoint_url ?? "").pathname;
  return { path, api, sourceId: source.id, endpoint, workflowId: workflow.id };
}

/** What became of the events of one load. */
export interface Outcome {
  accepted: number;
  /** Requests that were not accepted, as far as their sender knows. */
  rejected: number;
  /** Accepted, and never at the receiver. */
  lost: string[];
  /** Events that arrived under more than one id. */
  doubled: string[];
  /** Requests to the receiver beyond the first of each event, under the same id. */
  repeats: number;
  /** The longest time without an arrival while events were sent. */
  longestGapMs: number;
  /** What is still open in the end. */
  stuck: Record<string, unknown>;
}

export interface Load {
  /** Resolves when so many events have arrived. */
  arrivedAtLeast(events: number): Promise<unknown>;
  /** Sends on until at least `events` are accepted, waits for all of them, and counts. */
  finish(events: number): Promise<Outcome>;
  /** Sends no more. */
  stop(): void;
}

/**
 * Sends events at this rate to all web processes in turn; one that is not accepted is not sent again. Pauses while
 * `mostOpen` accepted events have not arrived: on a busy machine the work would grow for as long as a fault lasts.
 */
export function startLoad(
  lab: ClusterLab,
  emitters: Emitters,
  { perSecond, mostOpen }: { perSecond: number; mostOpen: number },
): Load {
  const { webs, receiver, platform } = lab;
  const { path, api, endpoint, workflowId, sourceId } = emitters;
  const accepted = new Set<string>();
  let [sent, rejected, inFlight, isStopped] = [0, 0, 0, false];
  const startedAt = Date.now();
  const arrivals = () => receiver.at(path);

  async function send(n: number): Promise<void> {
    const key = `${path} ${n}`;
    const isRequest = n % 5 < TO_SOURCE;
    const to = isRequest ? endpoint : `/v1/workflows/${workflowId}/events`;
    inFlight += 1;
    try {
      const response = await fetch(`${webs[n % webs.length]}${to}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${api.apiKey}` },
        body: JSON.stringify(isRequest ? { key } : { id: `n-${n}`, event: { key } }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await response.arrayBuffer();
      if (response.ok) accepted.add(key);
      else rejected += 1;
    } catch {
      rejected += 1;
    } finally {
      inFlight -= 1;
    }
  }

  const sending = (async () => {
    while (!isStopped) {
      const due = ((Date.now() - startedAt) / 1000) * perSecond;
      const open = accepted.size - arrivals().size;
      if (sent > due || inFlight >= MOST_IN_FLIGHT || open >= mostOpen) await delay(5);
      else void send(sent++);
    }
  })();

  const stop = () => {
    isStopped = true;
  };
  const missing = () => [...accepted].filter(key => !arrivals().has(key));

  return {
    stop,
    arrivedAtLeast: events => until(() => arrivals().size >= events, { what: `${events} arrivals` }),
    async finish(events) {
      await until(() => accepted.size >= events, { timeoutMs: FINISH_MS, what: `${events} accepted events` });
      stop();
      await sending;
      const stoppedAt = Date.now();
      await until(() => inFlight === 0, { what: "the last responses" });
      const wait = { timeoutMs: FINISH_MS, what: "all accepted events" };
      await until(() => missing().length === 0, wait).catch(() => undefined);
      let stuck: Record<string, unknown> = {};
      const isIdle = async () => {
        stuck = await openWork(platform, [sourceId]).catch(error => ({ unknown: String(error) }));
        return Object.keys(stuck).length === 0;
      };
      await until(isIdle, { timeoutMs: FINISH_MS, what: "no open work" }).catch(() => undefined);
      const all = [...arrivals()];
      const times = [startedAt, ...all.map(([, { atMs }]) => atMs).filter(at => at < stoppedAt), stoppedAt];
      times.sort((a, b) => a - b);
      return {
        ...{ accepted: accepted.size, rejected, lost: missing(), stuck },
        doubled: all
          .filter(([, { webhookIds, eventIds }]) => webhookIds.size > 1 || eventIds.size > 1)
          .map(([key]) => key),
        repeats: all.reduce((sum, [, { requests }]) => sum + requests - 1, 0),
        longestGapMs: Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? at))),
      };
    },
  };
}
