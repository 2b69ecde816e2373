import { expect } from "chai";
import type { ClusterFault } from "./fault.ts";
import { type ClusterLab, SWEEP_MS } from "./lab.ts";
import { addEmitters, startLoad } from "./load.ts";
import type { Outcome } from "./outcome.ts";
import { type Row, rowOf } from "./table.ts";

/** How much is sent, and when the fault comes. */
export interface Survived {
  /** Accepted events, at least. */
  events: number;
  /** Requests a second; ten of them have 28 events. */
  perSecond: number;
  /** Names the emitters of this load. */
  name: string;
  row: Row;
  /** Print the row at once. */
  isSaid?: boolean;
}

/**
 * Injects a fault under load, counts at the receiver what became of the events, and expects that nothing was lost but what the
 * fault may lose, nothing was doubled, nothing is out of order, nothing stays open, and no process ended by itself.
 */
export async function survive(
  lab: ClusterLab,
  fault: ClusterFault,
  { events, perSecond, name, row, isSaid }: Survived,
): Promise<void> {
  const times: string[] = [];
  let at = Date.now();
  const lap = (what: string) => {
    times.push(`${what} ${((Date.now() - at) / 1000).toFixed(1)} s`);
    at = Date.now();
  };
  await lab.use(fault.settings ?? {});
  lap("settings");
  const ended = () => lab.processes.flatMap(({ unexpected }) => unexpected);
  const before = ended().length;
  const rate = perSecond * (fault.pace ?? 1);
  const load = startLoad(lab, await addEmitters(lab, name), { perSecond: rate, mostOpen: events / 2 });
  try {
    await load.arrivedAtLeast(events / 10);
    lap("first events");
    await fault.inject(lab);
    lap("fault");
    const outcome = await load.finish(events);
    lap("the rest");
    row.outcome = outcome;
    for (const line of outcome.whereabouts) console.log(`  ${line}`);
    if (Object.keys(outcome.stuck).length > 0) console.log(`  open: ${JSON.stringify(outcome.stuck)}`);
  } finally {
    load.stop();
    if (isSaid) console.log(`${rowOf(row)}\n  ${times.join(", ")}`);
    await lab.heal();
  }
  expectAll(row.outcome, fault);
  expect(ended().slice(before), "processes that ended by themselves").to.deep.equal([]);
}

function expectAll(outcome: Outcome, { mayLose = 0, mayReorder }: ClusterFault): void {
  expect(outcome.doubled, "doubled").to.deep.equal([]);
  expect(outcome.stuck, "open in the end").to.deep.equal({});
  // What was lost counts as lost after the time between two sweeps (src/accepted/keep.ts); the next one may have begun just before.
  expect(outcome.idleMs, "stuck").to.be.below(3 * SWEEP_MS);
  expect(outcome.unexpected, "responses that are neither accepted nor 5xx").to.deep.equal([]);
  expect(outcome.lost, "accepted and lost").to.have.length.at.most(mayLose * outcome.accepted);
  // What was lost may be the lock of a source.
  if (outcome.lost.length === 0 && !mayReorder) expect(outcome.disordered, "out of order").to.deep.equal([]);
}
