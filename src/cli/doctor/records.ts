import { Replays } from "../../models/replay.ts";
import { Webhooks } from "../../models/webhook.ts";
import type { Stores } from "../../platform.ts";
import { listSetAside } from "../../store/sweeps/set-aside.ts";
import { countSealed, type SealedCount } from "../secrets/reseal.ts";
import { type Finding, listed, note, ok, problem } from "./finding.ts";

/** Replays shown, one line each. */
const MOST = 20;

/** Lists replays that failed because their job was given up again and again. */
export async function checkReplays({ mongo }: Stores): Promise<Finding[]> {
  const failed = await Replays(mongo)
    .find({ state: "failed" }, { error: 1 })
    .sort({ _id: -1 })
    .hint("failed_by_id")
    .limit(MOST)
    .lean();
  if (failed.length === 0) return [ok("replays", "none has failed")];
  return failed.map(({ _id, error }) =>
    problem(
      "replays",
      `${_id} failed: ${error?.replace(/\s+/g, " ") ?? "its worker ended in the middle of a batch"}`,
      "look for its id in the log of the deliveries worker; its owner can start it again",
    ),
  );
}

/** Lists what the reconciler has set aside, because it failed again and again. */
export async function checkSetAside(platform: Stores): Promise<Finding[]> {
  const items = await listSetAside(platform);
  if (items.length === 0) return [ok("reconciler", "nothing is set aside")];
  return items
    .slice(0, MOST)
    .map(({ step, item, error, count }) =>
      problem(
        "reconciler",
        `${item} of step ${step} failed ${count} times: ${error.replace(/\s+/g, " ")}`,
        "look for its id in the log of the runs worker; the reconciler tries it again",
      ),
    );
}

/** Ids read of each kind. */
const MOST_IDS = 1000;

/** Lists webhooks whose endpoints fail, and those that were disabled for it: only their owners can change that. */
export async function checkWebhooks({ mongo }: Stores): Promise<Finding[]> {
  const [failing, disabled] = await Promise.all([
    Webhooks(mongo)
      .find({ active: true, failing_since_ms: { $gt: 0 } }, { _id: 1 })
      .hint("failing")
      .limit(MOST_IDS)
      .lean(),
    Webhooks(mongo)
      .find({ disabled_reason: { $gt: "" } }, { _id: 1 })
      .hint("disabled")
      .limit(MOST_IDS)
      .lean(),
  ]);
  const found: Finding[] = [];
  const idsOf = (webhooks: { _id: string }[]) => listed(webhooks.map(({ _id }) => _id));
  if (failing.length > 0) {
    const message = `${failing.length} are failing: ${idsOf(failing)}`;
    found.push(
      note("webhooks", message, "their owners see each attempt (docs/troubleshooting.md, question 6)"),
    );
  }
  if (disabled.length > 0) {
    const message = `${disabled.length} were disabled: ${idsOf(disabled)}`;
    found.push(
      note("webhooks", message, "their owners enable and recover them (docs/troubleshooting.md, question 7)"),
    );
  }
  return found.length > 0 ? found : [ok("webhooks", "none is failing or disabled")];
}

/** Checks whether what is stored encrypted can be read, and with which keys of `SECRETS_KEY`. */
export async function checkSecrets(deps: Stores): Promise<Finding> {
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
