import { invalidField } from "../lib/errors.ts";
import { type RuleFault, unusableKeys } from "./faults.ts";
import type { VerifySettings } from "./schema.ts";
import { chosenRule, type RuleChoice } from "./settings.ts";

/** What somebody has said, with the texts of all secrets. */
export type GivenVerify = Omit<VerifySettings, "secrets"> & { secrets?: string[] };

/** How requests are verified, with all that settings may leave open. */
export interface EffectiveVerify
  extends Required<Pick<VerifySettings, "reject_with" | "drop_repeats" | "mode">> {
  choice: RuleChoice;
  /** Any of them may match. */
  secrets: string[];
}

/** Returns what settings mean that have a preset or a rule. */
export const effectiveOf = ({ preset, rule, tolerance, ...given }: GivenVerify): EffectiveVerify => ({
  choice: { preset, rule, tolerance },
  secrets: given.secrets ?? [],
  reject_with: given.reject_with ?? 401,
  drop_repeats: given.drop_repeats ?? false,
  mode: given.mode ?? "enforce",
});

const mostOf = (choice: RuleChoice): number | undefined => chosenRule(choice)?.timestamp?.tolerance;

/** Returns what one has chosen together with what another one adds to it, who can only verify more. */
export function stricter(chosen: EffectiveVerify, given: GivenVerify): EffectiveVerify {
  const { choice, secrets, reject_with, drop_repeats, mode } = chosen;
  const most = mostOf(choice);
  const isLess = given.tolerance !== undefined && most !== undefined && given.tolerance < most;
  return {
    choice: isLess ? { ...choice, tolerance: given.tolerance } : choice,
    secrets: [...secrets, ...(given.secrets ?? [])],
    reject_with: given.reject_with ?? reject_with,
    drop_repeats: drop_repeats || given.drop_repeats === true,
    mode: mode === "enforce" ? mode : (given.mode ?? mode),
  };
}

/** Returns where settings would verify less than what somebody else has chosen: `who` is that one, in words. */
export function looserFaults(
  given: Omit<VerifySettings, "secrets">,
  { choice, drop_repeats, mode }: Pick<EffectiveVerify, "choice" | "drop_repeats" | "mode">,
  who: string,
): RuleFault[] {
  const most = mostOf(choice);
  const { tolerance } = given;
  const isLonger = tolerance !== undefined && (most === undefined || tolerance > most);
  return [
    ...(["preset", "rule"] as const)
      .filter(name => given[name] !== undefined)
      .map(path => ({ path, message: `is what ${who} says` })),
    ...(isLonger
      ? [
          {
            path: "tolerance",
            message: `must be at most that of ${who}${most === undefined ? "" : `, ${most} s`}`,
          },
        ]
      : []),
    ...(given.mode === "report" && mode === "enforce"
      ? [{ path: "mode", message: `must be enforce, as ${who} says` }]
      : []),
    ...(given.drop_repeats === false && drop_repeats
      ? [{ path: "drop_repeats", message: `must be true, as ${who} says` }]
      : []),
  ];
}

/** Returns which secrets are not keys of the rule: they would reject everything, and their owner would learn it from the provider. */
export function secretFaults(choice: RuleChoice, secrets: readonly string[]): RuleFault[] {
  const rule = chosenRule(choice);
  return (rule ? unusableKeys(rule, secrets) : []).map(i => ({
    path: `secrets[${i}]`,
    message: "is not a key of this kind, or not a whole one",
  }));
}

/**
 * Secrets that a request leaves out, or names by their place, stay: clients never see them and could not send them back. Throws
 * `invalid` for a place that has none.
 */
export function withKeptSecrets(
  asked: VerifySettings | null | undefined,
  before: GivenVerify | null,
): GivenVerify | null {
  if (asked === undefined) return before;
  if (asked === null) return null;
  const { secrets: given, ...others } = asked;
  const known = before?.secrets;
  const secrets = given === undefined ? known : given.map((one, i) => secretAt(one, i, known ?? []));
  return { ...others, ...(secrets && { secrets }) };
}

function secretAt(one: string | { keep: number }, i: number, known: readonly string[]): string {
  const secret = typeof one === "string" ? one : known[one.keep];
  if (secret !== undefined) return secret;
  throw invalidField("body", `verify.secrets[${i}]`, "is not the place of a secret that was given before");
}

/** Returns what the API shows: everything but the secrets, of which it says how many there are. */
export const presentEffective = ({ choice, secrets, reject_with, drop_repeats, mode }: EffectiveVerify) => ({
  preset: choice.preset ?? null,
  rule: choice.rule ?? null,
  // Of a connection that only adds to what its operator says, it is said without a rule.
  tolerance: mostOf(choice) ?? choice.tolerance ?? null,
  reject_with,
  drop_repeats,
  mode,
  secrets: secrets.length,
});
