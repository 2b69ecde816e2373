import type { SignedRequest } from "./request-values.ts";
import type { VerifyRule } from "./schema.ts";
import { chosenRule, openVerification, type RuleChoice } from "./settings.ts";
import { verifyRequest } from "./verify-request.ts";

const isByPublicKey = ({ scheme }: VerifyRule): boolean =>
  scheme === "signature" || scheme === "jwks" || scheme === "sns";

/** Another way to read a secret or a rule, which people often mean. */
interface Variant {
  hint: string;
  rule?: (rule: VerifyRule) => VerifyRule;
  secret?: (secret: string) => string;
}

const withKey = (rule: VerifyRule, encoding: "utf8" | "base64" | "hex"): VerifyRule => {
  const { key: _, ...others } = rule;
  return { ...others, key: { encoding } };
};

const VARIANTS: Variant[] = [
  { hint: "it matches with the secret without the blanks around it", secret: secret => secret.trim() },
  {
    hint: "it matches with the secret without its beginning whsec_",
    secret: secret => secret.replace(/^whsec_/, ""),
    rule: rule => withKey(rule, "utf8"),
  },
  { hint: "it matches with the secret as a text, not as base64", rule: rule => withKey(rule, "utf8") },
  {
    hint: "it matches with the secret as base64",
    secret: secret => secret.replace(/^whsec_/, ""),
    rule: rule => withKey(rule, "base64"),
  },
  { hint: "it matches with the secret as hex", rule: rule => withKey(rule, "hex") },
];

/**
 * Returns what would have made the signature of a rejected request fit; null if nothing does that people often get wrong. It says
 * nothing of the expected signature. Each try costs as much as the verification itself: ask rarely.
 */
export function hintFor(
  choice: RuleChoice,
  secrets: readonly string[],
  request: SignedRequest,
  nowMs: number,
): string | null {
  const rule = chosenRule(choice);
  if (!rule || isByPublicKey(rule)) return null;
  for (const { hint, rule: changeRule = same, secret: changeSecret = same } of VARIANTS) {
    if (rule.scheme === "token" && changeRule !== same) continue;
    const changed = openVerification({ rule: changeRule(rule) }, secrets.map(changeSecret));
    const { outcome } = verifyRequest(changed, request, nowMs);
    if (outcome === "verified" || outcome === "challenge") return hint;
  }
  return null;
}

const same = <T>(value: T): T => value;
