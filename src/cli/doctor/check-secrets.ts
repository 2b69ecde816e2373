import { countSealed, type SealedCount, type SealedDeps } from "../secrets/count-sealed.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

/** Checks whether what is stored encrypted can be read, and with which keys of `SECRETS_KEY`. */
export async function checkSecrets(deps: SealedDeps): Promise<Finding> {
  return judgeSecrets(await countSealed(deps), deps.secrets.beginnings.length);
}

/** Judges what is under another key than the first of `keys`. Pure. */
export function judgeSecrets(counts: SealedCount[], keys: number): Finding {
  const check = "secrets";
  const unreadable = namesOf(counts, "unreadable");
  if (unreadable) {
    const message = `some values are encrypted with a key that SECRETS_KEY lacks: ${unreadable}`;
    // Responses for an Idempotency-Key, which are kept for half a day.
    const isPassing = counts.every(count => count.place === "Redis" || count.unreadable === 0);
    if (isPassing) return note(check, message, "the values in Redis expire within 12 hours");
    const advice = "add that key at the end of SECRETS_KEY, or have their owners save them again";
    return problem(check, message, advice);
  }
  const due = namesOf(counts, "due");
  if (due) {
    const advice = "run headwater secrets reseal once every process has this SECRETS_KEY";
    return note(check, `some values still need a key other than the first of SECRETS_KEY: ${due}`, advice);
  }
  if (keys === 1) return ok(check, "all values can be read");
  return note(check, "no value needs a key other than the first of SECRETS_KEY", "remove the other keys");
}

const namesOf = (counts: SealedCount[], what: "due" | "unreadable"): string =>
  counts
    .filter(count => count[what] > 0)
    .map(count => `${count[what]} in ${count.place}`)
    .join(", ");
