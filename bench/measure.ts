import { type Backlog, backlogOf } from "./backlog.ts";
import type { Child } from "./child.ts";
import type { Ends } from "./ends.ts";
import { type Group, type Reading, startMeter, type Usage } from "./meter.ts";
import type { Received, ReceiverRequest } from "./processes/receiver.ts";
import type { SendRequest, Sent } from "./processes/sender.ts";
import { countPerSecond, countRoundTrips, divided, type RoundTrips } from "./round-trips.ts";
import type { Side } from "./side.ts";
import { quantile } from "./times.ts";

/** How many events are sent, and how. */
export interface Load {
  events: number;
  /** Of each emitter. */
  webhooks: number;
  senders: number;
  /** Workflows that are published to in turn; one by default. */
  emitters?: number;
  /** Events a second by the clock, instead of as fast as they are accepted. */
  perSecond?: number;
  /** Of each event; 1 KiB by default. */
  bytes?: number;
  /** Counts round trips although events share them. */
  isCounted?: boolean;
}

export interface Figures {
  acceptedPerSecond: number;
  deliveredPerSecond: number;
  delivered: number;
  rejected: Record<string, number>;
  lost: number;
  doubled: number;
  strays: number;
  /** Milliseconds from the moment an event is sent (so its acceptance counts too) until it is received. */
  latencyMs: { p50: number; p95: number; p99: number; max: number };
  /** CPU seconds per 1,000 deliveries; `all` is the sum of `ours`, `redis` and `mongodb`. */
  cpu: Record<Group | "all", number>;
  processes: Usage[];
  /** Of events that are sent as fast as they are accepted. */
  backlog?: Backlog;
  /** Of an event that is sent by the clock, or of a load that is counted; otherwise the rate says more. */
  roundTrips?: RoundTrips;
  /** Share of the machine's CPU time that other processes used: if it is high, the figures are doubtful. */
  elsewhere: number;
}

/** Most deliveries before each measurement, so that V8 has compiled the code and connections are open. */
export const WARM_UP_DELIVERIES = 2000;
export const POLL_MS = 50;
/** After this long without a new delivery, missing deliveries count as lost. */
const STALL_MS = 30_000;
const IDLE_SECONDS = 5;

/** Warms up, sends the load, waits until all of it is received and recorded, and returns the figures. */
export async function measure(side: Side, load: Load, ends: Ends): Promise<Figures> {
  const { perSecond: _, ...atOnce } = load;
  const warmUpEvents = Math.min(load.events, WARM_UP_DELIVERIES / load.webhooks);
  await sendAndWait(side, { ...atOnce, events: warmUpEvents }, ends);
  const isByClock = load.perSecond !== undefined;
  const isCounted = isByClock || load.isCounted === true;
  const idle = isCounted ? await countPerSecond(side.stores, IDLE_SECONDS) : {};
  const sendMetered = async () => {
    const stopMeter = startMeterOf(side, ends);
    const sent = await sendAndWait(side, load, ends);
    return { sent, reading: stopMeter() };
  };
  const { result, counts } = isCounted
    ? await countRoundTrips(side.stores, sendMetered, idle)
    : { result: await sendMetered(), counts: undefined };
  const { sent, reading } = result;
  const roundTrips = counts && divided(counts, Math.max(1, sent.accepted));
  const received = await requestFrom<Received>(ends.receiver, { do: "figures" });
  return {
    ...figuresOf(load, sent, received, reading),
    ...(roundTrips && { roundTrips }),
    ...(!isByClock && { backlog: backlogOf(sent, received, load.webhooks) }),
  };
}

/** Watches what is measured, and both ends. */
export const startMeterOf = ({ watched }: Side, { sender, receiver }: Ends): (() => Reading) =>
  startMeter([
    ...watched,
    { name: "sender", group: "sender", pid: sender.pid },
    { name: "receiver", group: "receiver", pid: receiver.pid },
  ]);

let loads = 0;

export async function sendAndWait(side: Side, load: Load, ends: Ends): Promise<Sent> {
  const sent = await sendAll(side, load, ends);
  await whenReceived(ends.receiver, sent.accepted * load.webhooks);
  await side.whenIdle();
  return sent;
}

/** Sends the load, and returns once the last event was accepted. */
export async function sendAll(side: Side, load: Load, { sender, receiver }: Ends): Promise<Sent> {
  const { events, webhooks, senders, perSecond, bytes } = load;
  loads += 1;
  await requestFrom(receiver, { do: "expect", load: loads, events, webhooks });
  return await sender.request<Sent>({
    target: side.target,
    load: loads,
    events,
    senders,
    ...(perSecond && { perSecond }),
    ...(bytes && { bytes }),
  } satisfies SendRequest);
}

export async function whenReceived(receiver: Child, deliveries: number): Promise<void> {
  let last = -1;
  let changedAt = performance.now();
  while (performance.now() - changedAt < STALL_MS) {
    const received = await requestFrom<number>(receiver, { do: "progress" });
    if (received >= deliveries) return;
    if (received !== last) changedAt = performance.now();
    last = received;
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
}

export function requestFrom<Response>(receiver: Child, request: ReceiverRequest): Promise<Response> {
  return receiver.request<Response>(request);
}

export function figuresOf(
  load: Load,
  sent: Sent,
  received: Received,
  { processes, elsewhere }: Reading,
): Figures {
  const latency = (q: number) => quantile(received.latencies, q);
  const cpu = (groups: Group[]) =>
    (processes.filter(one => groups.includes(one.group)).reduce((sum, one) => sum + one.cpuSeconds, 0) *
      1000) /
    Math.max(1, received.received);
  const seconds = (fromMs: number, toMs: number) => Math.max(0.001, (toMs - fromMs) / 1000);
  return {
    acceptedPerSecond: sent.accepted / seconds(sent.startedAtMs, sent.endedAtMs),
    deliveredPerSecond: received.received / seconds(sent.startedAtMs, received.lastAtMs),
    delivered: received.received,
    rejected: sent.rejected,
    lost: sent.accepted * load.webhooks - received.received,
    doubled: received.doubled,
    strays: received.strays,
    latencyMs: { p50: latency(0.5), p95: latency(0.95), p99: latency(0.99), max: latency(1) },
    cpu: {
      ours: cpu(["ours"]),
      redis: cpu(["redis"]),
      mongodb: cpu(["mongodb"]),
      all: cpu(["ours", "redis", "mongodb"]),
      sender: cpu(["sender"]),
      receiver: cpu(["receiver"]),
    },
    processes,
    elsewhere,
  };
}
