import type { ValidateFunction } from "ajv";
import { newAjv } from "../lib/schemas.ts";
import { type RuleFault, ruleFaults } from "./faults.ts";
import { readKey } from "./keys.ts";
import { PRESETS } from "./presets.ts";
import { AuthorVerify, type VerifyRule } from "./schema.ts";
import type { Verification } from "./verify-request.ts";

/** Which rule is meant: a preset by its name, or one of their own. */
export interface RuleChoice {
  preset?: string | undefined;
  rule?: VerifyRule | undefined;
  /** In seconds, in place of the rule's. */
  tolerance?: number | undefined;
}

/** Returns the rule that is meant, with another tolerance if one is given; undefined for a preset that this release does not have. */
export function chosenRule({ preset, rule: own, tolerance }: RuleChoice): VerifyRule | undefined {
  const rule = preset === undefined ? own : presetRule(preset);
  if (!rule?.timestamp || tolerance === undefined) return rule;
  return { ...rule, timestamp: { ...rule.timestamp, tolerance } };
}

const presetRule = (name: string): VerifyRule | undefined =>
  Object.hasOwn(PRESETS, name) ? PRESETS[name]?.rule : undefined;

/** Returns what is wrong with the choice of a rule that has its schema. */
export function choiceFaults(choice: RuleChoice): RuleFault[] {
  const { preset, rule, tolerance } = choice;
  if ((preset === undefined) === (rule === undefined))
    return [{ path: "", message: "must have preset or rule, and not both" }];
  const chosen = chosenRule(choice);
  if (!chosen) return [{ path: "preset", message: `is not one of ${Object.keys(PRESETS).join(", ")}` }];
  const lacksTime = tolerance !== undefined && chosen.timestamp === undefined;
  return [
    ...(rule ? ruleFaults(rule).map(({ path, message }) => ({ path: `rule.${path}`, message })) : []),
    ...(lacksTime ? [{ path: "tolerance", message: "is for rules with a timestamp" }] : []),
  ];
}

/** Compiled at first use: most processes save no component. */
let validate: ValidateFunction<AuthorVerify> | undefined;

/** Returns what is wrong with what the author of a component says of its HTTP interface. */
export function authorFaults(given: unknown): RuleFault[] {
  validate ??= newAjv({ strict: false }).compile<AuthorVerify>(AuthorVerify);
  if (validate(given)) return choiceFaults(given);
  const [error] = validate.errors ?? [];
  const path = (error?.instancePath ?? "").slice(1).replaceAll("/", ".");
  if (/^secret(?:\.|$)/.test(path)) {
    return [{ path: "secret", message: 'must be the name of a secret prop, or { from: "hook" }' }];
  }
  const { additionalProperty } = (error?.params ?? {}) as { additionalProperty?: string };
  const message = additionalProperty === undefined ? error?.message : `has no ${additionalProperty}`;
  return [{ path, message: message ?? "is invalid" }];
}

/**
 * Returns a rule ready for requests, with those of the secrets that are keys of it. A choice of a preset that only a newer release has
 * rejects every request: what is to be verified is never let through.
 */
export function openVerification(choice: RuleChoice, secrets: readonly string[]): Verification {
  const rule = chosenRule(choice);
  if (!rule) return { rule: UNKNOWN, keys: [] };
  return { rule, keys: secrets.map(secret => readKey(rule, secret)).filter(key => key !== null) };
}

const UNKNOWN: VerifyRule = { scheme: "token", signature: { at: [], encoding: "text" } };
