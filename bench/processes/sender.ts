import { answerParent } from "../answer-parent.ts";
import { newEvent, preciseNow } from "../event.ts";
import { type OpenTarget, openTarget, type Target } from "../targets.ts";

// The load, from a process of its own: so many senders at once that each wait until their event is accepted, or, with
// `perSecond`, an event at each tick of the clock, whether those before it were accepted or not.

export interface SendRequest {
  target: Target;
  /** Number to be put into each event. */
  load: number;
  events: number;
  senders: number;
  perSecond?: number;
}

export interface Sent {
  startedAtMs: number;
  endedAtMs: number;
  accepted: number;
  /** Why others were not, with how often. */
  refused: Record<string, number>;
}

let opened: { key: string; target: OpenTarget } | undefined;

/** Connections are kept from one request to the next of the same target: warm-up and measurement. */
async function targetOf(target: Target): Promise<OpenTarget> {
  const key = JSON.stringify(target);
  if (opened?.key !== key) {
    await opened?.target.close();
    opened = { key, target: await openTarget(target) };
  }
  return opened.target;
}

answerParent<SendRequest>(async ({ target, load, events, senders, perSecond }) => {
  const { send } = await targetOf(target);
  const refused: Record<string, number> = {};
  let accepted = 0;
  const sendOne = async (n: number) => {
    try {
      await send(newEvent(load, n));
      accepted += 1;
    } catch (error) {
      const reason = (error as Error).message;
      refused[reason] = (refused[reason] ?? 0) + 1;
    }
  };
  const startedAtMs = preciseNow();
  await (perSecond ? sendByClock(sendOne, events, perSecond) : sendAtOnce(sendOne, events, senders));
  return { startedAtMs, endedAtMs: preciseNow(), accepted, refused } satisfies Sent;
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
