import { countRuns } from "../accounts/usage.ts";
import { inTrial } from "../components/trial/build.ts";
import {
  type FunctionError,
  type FunctionInput,
  type FunctionOutcome,
  openCallFunction,
} from "../functions/call-function.ts";
import { buildFunction } from "../functions/save-function.ts";
import { eventMs, newToken } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Calling } from "../platform.ts";
import type { LogLine } from "../sandbox/protocol.ts";
import { streamOf } from "../store/events/event-summary.ts";
import { eventOf, expandSummary, readSummaries } from "./read.ts";

export interface TestedFunction {
  /** Null for an event that the request gave. */
  event_id: string | null;
  /** What it was called with. */
  event: unknown;
  /** What would be sent; null if nothing would. */
  result: unknown;
  dropped: boolean;
  error: FunctionError | null;
  logs: LogLine[];
  ms: number;
}

export interface FunctionTest {
  ownerId: string;
  code: string;
  emitterId: string;
  channel: string;
  /** The events that it is tried with; by default the last ones of the emitter's channel. */
  events?: unknown[] | undefined;
}

/**
 * Calls a function with some events and returns what it makes of each; nothing is stored or sent. It counts as a run of the
 * account. Throws as `buildFunction`.
 */
export async function testFunction(platform: Calling, test: FunctionTest): Promise<TestedFunction[]> {
  const { ownerId } = test;
  const bundle = await buildFunction(platform, ownerId, test.code);
  const inputs = test.events ? givenInputs(platform, test, test.events) : await lastInputs(platform, test);
  // A process of its own, which ends with the test.
  const key = `function-test-${newToken()}`;
  const sandboxes = await platform.sandboxes();
  try {
    const outcomes = await inTrial(ownerId, () =>
      openCallFunction(platform)({ key, bundle, ownerId, inputs }),
    );
    await countRuns(platform, ownerId, 1, 0).catch(() => undefined);
    return inputs.map(({ event, meta }, i) =>
      shown(outcomes[i] ?? { kind: "not-run" }, { event, event_id: test.events ? null : meta.event_id }),
    );
  } finally {
    sandboxes.drop(key);
  }
}

function shown(outcome: FunctionOutcome, given: Pick<TestedFunction, "event_id" | "event">): TestedFunction {
  const { logs, ms } = outcome.kind === "not-run" ? { logs: [], ms: 0 } : outcome;
  return {
    ...given,
    result: outcome.kind === "event" ? outcome.event : null,
    dropped: outcome.kind === "dropped",
    error: outcome.kind === "failed" ? outcome.error : outcome.kind === "not-run" ? NOT_RUN : null,
    logs,
    ms,
  };
}

const NOT_RUN: FunctionError = {
  message: "it was not called: the time of the test was over, or no sandbox was free",
  line: null,
  column: null,
};

function givenInputs({ clock }: Calling, { emitterId, channel }: FunctionTest, events: unknown[]) {
  return events.map((event): FunctionInput => ({ event, meta: metaOf(emitterId, channel, `${clock()}-0`) }));
}

async function lastInputs(platform: Calling, { emitterId, channel }: FunctionTest): Promise<FunctionInput[]> {
  // The stream holds the events of all channels.
  const { rows } = await readSummaries(platform, emitterId, streamOf(channel), { limit: 100, expand: false });
  const last = rows
    .filter(({ metadata }) => metadata.name === channel)
    .slice(0, LIMITS.functionTestEvents.value);
  const whole = await Promise.all(last.map(row => expandSummary(platform, emitterId, row)));
  return whole.map(row => ({ event: eventOf(row).value, meta: metaOf(emitterId, channel, row.id) }));
}

const metaOf = (emitterId: string, channel: string, eventId: string) => ({
  event_id: eventId,
  emitter_id: emitterId,
  event_name: channel,
  subscription_id: null,
  listener_id: null,
  ts: eventMs(eventId),
});
