import { setTimeout as delay } from "node:timers/promises";
import { SEALED_FIELDS } from "../../models/sealed-fields.ts";
import type { SealedDeps } from "./count-sealed.ts";
import { resealKeys } from "./reseal-keys.ts";
import { resealRows } from "./reseal-rows.ts";
import type { Tally } from "./tally.ts";

/** What `reseal` did. */
export interface Resealed {
  /** One for each collection, and one for Redis. */
  places: Tally[];
  /** What the last round still found: somebody stored it since, or is changing it. */
  left: number;
}

/** Rounds over everything: each one finds what others changed during the one before. */
const MAX_ROUNDS = 5;
/** Before another round, so that requests in progress may end. */
const PAUSE_MS = 1000;

/**
 * Encrypts with the first key of `SECRETS_KEY` everything stored under another one, while the platform runs. What another
 * process changes at the same moment stays as that has it, and is looked at again. Throws as the drivers do.
 */
export async function reseal(deps: SealedDeps, progress: (tally: Tally) => void): Promise<Resealed> {
  const rounds: Tally[][] = [];
  let left: number;
  do {
    const round: Tally[] = [];
    for (const sealed of SEALED_FIELDS) round.push(await resealRows(deps, sealed, progress));
    round.push(await resealKeys(deps, progress));
    rounds.push(round);
    const busy = sum(round, "busy");
    left = busy + sum(round, "resealed");
    if (busy > 0) await delay(PAUSE_MS);
  } while (left > 0 && rounds.length < MAX_ROUNDS);
  return { places: joined(rounds), left };
}

const sum = (tallies: Tally[], what: "busy" | "resealed") =>
  tallies.reduce((total, tally) => total + tally[what], 0);

/** Adds up what the rounds did; what is busy or unreadable is as the last one found it. */
function joined(rounds: Tally[][]): Tally[] {
  const last = rounds.at(-1) ?? [];
  return last.map((tally, i) => ({
    ...tally,
    resealed: sum(
      rounds.map(round => round[i] as Tally),
      "resealed",
    ),
  }));
}
