/** What a shard's consumer has: its slots, and how many jobs it holds. */
export interface SlotUse {
  slots: number;
  held: number;
}

/** What a shard that has little to do keeps for what comes next: this part of an even share, and at least one slot. */
const RESERVE = 4;

/**
 * Divides the slots of a worker process over the shards that it consumes: one that uses all it has gets what others do not
 * use, and has to give it back as its jobs end. Returns the slots of each, at least one. All together hold no more jobs
 * than `total`, unless there are more shards.
 */
export function shareOutSlots(total: number, uses: readonly SlotUse[]): number[] {
  const fair = Math.floor(total / Math.max(1, uses.length));
  const reserve = Math.max(1, Math.floor(fair / RESERVE));
  const isScarce = uses.some(({ slots, held }) => held >= slots);
  // While nothing is scarce, an even share is best: any shard may get jobs next.
  const wanted = uses.map(({ slots, held }) => (!isScarce || held >= slots ? total : held + reserve));
  const ideal = leveled(total, wanted).map(target => Math.max(1, target));
  // What another shard still holds is not free yet.
  let free = total - sum(uses.map(({ slots, held }, i) => Math.max(held, Math.min(slots, ideal[i] ?? 1))));
  return uses.map(({ slots, held }, i) => {
    const target = ideal[i] ?? 1;
    if (target <= slots) return target;
    const more = Math.max(0, Math.min(target - Math.max(slots, held), free));
    free -= more;
    return Math.max(1, slots + more);
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Gives each what it wants as far as it goes, and those that want more an equal part of the rest. */
function leveled(total: number, wanted: readonly number[]): number[] {
  const order = wanted.map((_, i) => i).sort((one, other) => (wanted[one] ?? 0) - (wanted[other] ?? 0));
  const given = wanted.map(() => 0);
  let left = total;
  for (const [rank, i] of order.entries()) {
    given[i] = Math.min(wanted[i] ?? 0, Math.floor(left / (order.length - rank)));
    left -= given[i] ?? 0;
  }
  return given;
}
