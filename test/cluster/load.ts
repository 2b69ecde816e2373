import { LOOK_EVERY_MS, openWork, QUEUES } from "../faults/open-work.ts";
import { whereabouts } from "../faults/whereabouts.ts";
import type { Api } from "../support/api.ts";
import { until } from "../support/until.ts";
import { type ClusterLab, SWEEP_MS } from "./lab.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { type Sent, send } from "./send.ts";

const SOURCE = `export default { name: "Counted", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body, { id: body.key }); } };`;

const MOST_IN_FLIGHT = 64;
/** What is accepted must arrive, and all work be done, in this time after the last fault. */
const FINISH_MS = 120_000;
/** The longest that nothing may be sent, because too much is open. */
const PAUSE_MS = 600_000;
/** What does not arrive although nothing has been open for so long is lost. */
const LOST_MS = 2 * SWEEP_MS;
/** What is open for longer than this is reported. */
const SLOW_MS = 10_000;
/** Of ten requests, two are to a source and two publish so many events at once; the others publish one. */
const BATCH = 10;

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

export interface Load {
  /** Resolves when so many events have arrived. */
  arrivedAtLeast(events: number): Promise<unknown>;
  /** Sends on until at least `events` are accepted, waits for all of them, and counts. */
  finish(events: number): Promise<Outcome & { whereabouts: string[] }>;
  /** Sends no more. */
  stop(): void;
}

/**
 * Sends requests at this rate to all web processes in turn; one that is not accepted is not sent again. Pauses while
 * `mostOpen` accepted events have not arrived: on a busy machine the work would grow for as long as a fault lasts.
 */
export function startLoad(
  lab: ClusterLab,
  emitters: Emitters,
  { perSecond, mostOpen }: { perSecond: number; mostOpen: number },
): Load {
  const { webs, receiver, platform } = lab;
  const { path, api, endpoint, workflowId, sourceId } = emitters;
  const requests: Sent[] = [];
  /** When it paused: no gap of the installation's. */
  const pauses: number[] = [];
  let [accepted, inFlight, isStopped] = [0, 0, false];
  const startedAt = Date.now();
  const arrivals = () => receiver.at(path);

  /** The request of this number. */
  function requestOf(n: number): Pick<Sent, "kind" | "keys"> & { to: string; body: unknown } {
    const key = `${path.slice(1)}.${n}`;
    if (n % 5 === 0) return { kind: "source", keys: [key], to: endpoint, body: { key } };
    const to = `/v1/workflows/${workflowId}/events`;
    if (n % 5 !== 1) return { kind: "event", keys: [key], to, body: { id: key, event: { key } } };
    const keys = Array.from({ length: BATCH }, (_, i) => `${key}.${i}`);
    return { kind: "batch", keys, to, body: { events: keys.map(one => ({ id: one, event: { key: one } })) } };
  }

  async function sendOne(n: number): Promise<void> {
    const { kind, keys, to, body } = requestOf(n);
    inFlight += 1;
    // A load balancer goes on with another process if one does not listen.
    const order = webs.map((_, i) => `${webs[(n + i) % webs.length]}${to}`);
    const sent: Sent = { kind, keys, sentAt: Date.now(), ...(await send(order, api.apiKey, body)) };
    inFlight -= 1;
    requests.push(sent);
    if (sent.result === "accepted") accepted += keys.length;
  }

  /** Whether the request of this number is due and may be sent. */
  function maySend(n: number): boolean {
    const due = ((Date.now() - startedAt) / 1000) * perSecond;
    const isFull = accepted - arrivals().size >= mostOpen;
    if (isFull) pauses.push(Date.now());
    return n <= due && inFlight < MOST_IN_FLIGHT && !isFull;
  }

  const sending = (async () => {
    for (let n = 0; !isStopped; n++) {
      await until(() => isStopped || maySend(n), { timeoutMs: PAUSE_MS, what: `request ${n} to be due` });
      if (!isStopped) void sendOne(n);
    }
  })();
  // `finish` reports the error.
  sending.catch(() => undefined);

  const stop = () => {
    isStopped = true;
  };
  const isMissing = () =>
    requests.some(({ result, keys }) => result === "accepted" && keys.some(key => !arrivals().has(key)));

  /** Waits until all has arrived and nothing is open; or, if something was lost, until nothing happens any more. */
  async function settle() {
    let [stuck, doneAt, seen]: [Record<string, unknown>, number, number] = [{}, Date.now(), -1];
    let [idleMs, idleSince]: [number, number | undefined] = [0, undefined];
    const [beganAt, slow]: [number, string[]] = [Date.now(), []];
    const isOver = async () => {
      stuck = await openWork(platform, [sourceId, workflowId]).catch(error => ({ unknown: String(error) }));
      const isIdle = Object.keys(stuck).length === 0;
      idleSince = isIdle || QUEUES.some(name => name in stuck) ? undefined : (idleSince ?? Date.now());
      idleMs = Math.max(idleMs, Date.now() - (idleSince ?? Date.now()));
      if (!isIdle && slow.length === 0 && Date.now() - beganAt > SLOW_MS) {
        const missing = isMissing()
          ? "an accepted event has not arrived"
          : "all that was accepted has arrived";
        slow.push(`open after ${SLOW_MS / 1000} s: ${JSON.stringify(stuck)}; ${missing}`);
      }
      if (!isIdle || seen !== arrivals().size) doneAt = Date.now();
      seen = arrivals().size;
      return isIdle && (!isMissing() || Date.now() - doneAt > LOST_MS);
    };
    const waiting = { timeoutMs: FINISH_MS, everyMs: LOOK_EVERY_MS, what: "no open work" };
    await until(isOver, waiting).catch(() => undefined);
    return { stuck, doneAt, slow, idleMs };
  }

  /** How long before or after a server was killed an event was accepted. */
  function whenAccepted(key: string): string {
    const { kind, endedAt = 0 } = requests.find(({ keys }) => keys.includes(key)) ?? {};
    const [nearest = 0] = lab.kills.map(at => endedAt - at).sort((a, b) => Math.abs(a) - Math.abs(b));
    return `${key} (${kind}) was accepted ${nearest} ms after a kill`;
  }

  return {
    stop,
    arrivedAtLeast: events => until(() => arrivals().size >= events, { what: `${events} arrivals` }),
    async finish(events) {
      await until(() => accepted >= events, { timeoutMs: FINISH_MS, what: `${events} accepted events` });
      stop();
      await sending;
      const stoppedAt = Date.now();
      await until(() => inFlight === 0, { what: "the last responses" });
      const { stuck, doneAt, slow, idleMs } = await settle();
      const given = {
        requests,
        pauses,
        arrivals: arrivals(),
        startedAt,
        stoppedAt,
        doneAt,
        stuck,
        idleMs,
      };
      const outcome = outcomeOf(given);
      const places = await whereabouts(platform, outcome.lost);
      return { ...outcome, whereabouts: [...slow, ...outcome.lost.map(whenAccepted), ...places] };
    },
  };
}
