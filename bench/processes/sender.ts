import { newEvent, preciseNow } from "../event.ts";
import { serveParent } from "../serve-parent.ts";
import { type OpenTarget, openTarget, type Target } from "../targets.ts";

// Sends the load, in a process of its own: `senders` at once, each of which waits until its event is accepted, or, with
// `perSecond`, by the clock, whether or not earlier events were accepted.

export interface SendRequest {
  target: Target;
  /** The load's number, which goes into each event. */
  load: number;
  events: number;
  senders: number;
  perSecond?: number;
  /** Of each event; 1 KiB by default. */
  bytes?: number;
}

export interface Sent {
  startedAtMs: number;
  endedAtMs: number;
  accepted: number;
  /** Rejected events by reason. */
  rejected: Record<string, number>;
  /** Milliseconds until each event was accepted or rejected, in the order in which they were sent. */
  responseMs: Float64Array;
}

let opened: { key: string; target: OpenTarget } | undefined;

/** Opens a target, or returns the open one, so that warm-up and measurement use the same connections. */
async function targetOf(target: Target): Promise<OpenTarget> {
  const key = JSON.stringify(target);
  if (opened?.key !== key) {
    await opened?.target.close();
    opened = { key, target: await openTarget(target) };
  }
  return opened.target;
}

serveParent<SendRequest>(async ({ target, load, events, senders, perSecond, bytes }) => {
  const { send } = await targetOf(target);
  const rejected: Record<string, number> = {};
  const responseMs = new Float64Array(events);
  let accepted = 0;
  const sendOne = async (n: number) => {
    const sentAt = performance.now();
    try {
      await send(newEvent(load, n, bytes));
      accepted += 1;
    } catch (error) {
      const reason = (error as Error).message;
      rejected[reason] = (rejected[reason] ?? 0) + 1;
    } finally {
      responseMs[n] = performance.now() - sentAt;
    }
  };
  const startedAtMs = preciseNow();
  await (perSecond ? sendByClock(sendOne, events, perSecond) : sendAtOnce(sendOne, events, senders));
  return { startedAtMs, endedAtMs: preciseNow(), accepted, rejected, responseMs } satisfies Sent;
});

async function sendAtOnce(sendOne: (n: number) => Promise<void>, events: number, senders: number) {
  let next = 0;
  await Promise.all(
    Array.from({ length: senders }, async () => {
      while (next < events) await sendOne(next++);
    }),
  );
}

async function sendByClock(sendOne: (n: number) => Promise<void>, events: number, perSecond: number) {
  const startedAt = performance.now();
  const sent: Promise<void>[] = [];
  for (let n = 0; n < events; n++) {
    const waitMs = startedAt + (n * 1000) / perSecond - performance.now();
    if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs));
    sent.push(sendOne(n));
  }
  await Promise.all(sent);
}
