import { lineOf, raiseAlert } from "../alerts/raise.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type FailingRuns, type Source, Sources } from "../models/source.ts";
import type { Observed, Stores } from "../platform.ts";
import { transaction } from "../store/connections/mongo.ts";

/** What is known of runs, in order, that ended. */
export interface EndedOutcome {
  error: { code: string } | undefined;
}

/**
 * Notes whether the last runs of a source failed, in `source` as well, and alerts its owner after some that failed one after
 * another, and when one succeeds again. Costs nothing while they succeed, nor once the alert was raised. Never throws: what
 * could not be noted is noted with the next run.
 */
export async function noteSourceHealth(
  platform: Stores & Observed,
  source: Source,
  runs: EndedOutcome[],
): Promise<void> {
  const last = runs.at(-1);
  if (!last) return;
  try {
    if (last.error) await noteFailures(platform, source, runs);
    else if (source.failing) await noteRecovery(platform, source);
  } catch (error) {
    platform.log.warn({ source_id: source._id, err: error }, "the health of a source can't be noted");
  }
}

/** It is the name of an error, which code chooses. */
const CODE_CHARS = 64;

const nameOf = ({ _id, name }: Source) => `source "${name}" (${_id})`;
const timeOf = (ms: number) => new Date(ms).toISOString();

async function noteFailures(
  platform: Stores & Observed,
  source: Source,
  runs: EndedOutcome[],
): Promise<void> {
  const lastOk = runs.findLastIndex(({ error }) => !error);
  if (lastOk >= 0 && source.failing) await noteRecovery(platform, source);
  const failed = runs.length - 1 - lastOk;
  if (source.failing?.alerted) return;
  const before = source.failing ?? { since_ms: platform.clock(), runs: 0, alerted: false };
  const code = lineOf(runs.at(-1)?.error?.code ?? "", CODE_CHARS);
  const failing: FailingRuns = { ...before, runs: before.runs + failed, code };
  const isDue = failing.runs >= LIMITS.failedRunsToAlert.value;
  await transaction(platform.mongo, async session => {
    // A source has one run at a time; one whose lease was lost in between has the same episode, or finds it alerted.
    const { matchedCount } = await Sources(platform.mongo).updateOne(
      { _id: source._id, state: "ready", "failing.alerted": { $ne: true } },
      { $set: { failing: { ...failing, alerted: isDue } } },
      { session },
    );
    if (matchedCount === 0 || !isDue) return;
    await raiseAlert(
      platform,
      {
        ownerId: source.owner_id,
        type: "source.failing",
        subject: { id: source._id, name: source.name },
        sinceMs: failing.since_ms,
        message: `the last ${failing.runs} runs of ${nameOf(source)} failed, since ${timeOf(failing.since_ms)}`,
        details: { failing_since_ms: failing.since_ms, failed_runs: failing.runs },
      },
      session,
    );
  });
  source.failing = { ...failing, alerted: isDue };
}

async function noteRecovery(platform: Stores & Observed, source: Source): Promise<void> {
  await transaction(platform.mongo, async session => {
    const before = await Sources(platform.mongo)
      .findOneAndUpdate(
        { _id: source._id, failing: { $ne: null } },
        { $set: { failing: null } },
        { session, returnDocument: "before" },
      )
      .lean<Source | null>();
    if (!before?.failing?.alerted) return;
    const { since_ms } = before.failing;
    await raiseAlert(
      platform,
      {
        ownerId: source.owner_id,
        type: "source.recovered",
        subject: { id: source._id, name: source.name },
        sinceMs: since_ms,
        message: `a run of ${nameOf(source)} succeeded again; they had failed since ${timeOf(since_ms)}`,
        details: { failing_since_ms: since_ms },
      },
      session,
    );
  });
  source.failing = null;
}
