import { splitList } from "../lib/lists.ts";
import type { Claims } from "./provider.ts";

/** Who becomes a member of which organization. */
export interface OrganizationRule {
  /** A claim that has the value, or a list with it; null: the domain of the email address is the value. */
  claim: string | null;
  value: string;
  orgId: string;
}

/** Whom the operator lets in. */
export interface SignInRules {
  /** In lower case; `*` is any. */
  domains: readonly string[];
  /** In lower case. */
  emails: readonly string[];
  organizations: readonly OrganizationRule[];
}

/**
 * Reads `@example.com=o_…` (a domain) and `groups:ops=o_…` (a value of a claim). Throws an error that names the entry.
 */
export function parseOrganizationRule(entry: string): OrganizationRule {
  const [, domain, claim, value, orgId] =
    /^(?:@([^\s@:=]+)|([^\s@:=]+):([^=]+))=(o_[0-9A-Za-z]+)$/.exec(entry) ?? [];
  if (orgId === undefined)
    throw new Error(`${entry} is none of *, @domain, an email address, @domain=o_… and claim:value=o_…`);
  return domain === undefined
    ? { claim: claim ?? "", value: value ?? "", orgId }
    : { claim: null, value: domain.toLowerCase(), orgId };
}

const DOMAIN = /^(\*|@[^\s@*:=]+)$/;
const EMAIL = /^[^\s@=]+@[^\s@*=]+$/;

/**
 * Reads a list of rules: `*` (anybody with a verified address), `@example.com`, `anna@example.com`, and those that make members
 * (`parseOrganizationRule`), which let in as well. Throws an error that names the entry that is none.
 */
export function parseSignInRules(text: string): {
  domains: string[];
  emails: string[];
  organizations: OrganizationRule[];
} {
  const words = splitList(text);
  const isPlain = (word: string) => DOMAIN.test(word) || EMAIL.test(word);
  return {
    domains: words.filter(word => DOMAIN.test(word)).map(word => word.toLowerCase().replace("@", "")),
    emails: words.filter(word => EMAIL.test(word)).map(word => word.toLowerCase()),
    organizations: words.filter(word => !isPlain(word)).map(parseOrganizationRule),
  };
}

/** The longest address that SMTP can deliver to. */
const MAX_EMAIL_CHARS = 254;

/** Returns the email address of a person in lower case if the provider has verified it; otherwise null. */
export function verifiedEmail({ email, email_verified }: Claims): string | null {
  // Some providers send claims as texts.
  const isVerified = email_verified === true || email_verified === "true";
  const isAddress =
    typeof email === "string" && email.length <= MAX_EMAIL_CHARS && /^[^\s@]+@[^\s@]+$/.test(email);
  return isVerified && isAddress ? email.toLowerCase() : null;
}

const domainOf = (email: string): string => email.slice(email.lastIndexOf("@") + 1);

/** Returns the organizations whose rules a person meets. */
export function organizationsFor({ organizations }: SignInRules, claims: Claims, email: string): string[] {
  const met = organizations.filter(({ claim, value }) => {
    if (claim === null) return domainOf(email) === value;
    const said = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    return said === value || (Array.isArray(said) && said.includes(value));
  });
  return [...new Set(met.map(({ orgId }) => orgId))];
}

/** Returns true if a rule lets a person in: for the address, its domain, or an organization. */
export function mayEnter(rules: SignInRules, claims: Claims, email: string): boolean {
  const { domains, emails } = rules;
  return (
    domains.includes("*") ||
    domains.includes(domainOf(email)) ||
    emails.includes(email) ||
    organizationsFor(rules, claims, email).length > 0
  );
}
