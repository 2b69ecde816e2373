import { LIMITS } from "../limits/catalogue.ts";
import { hmacOf } from "./comparisons.ts";
import type { Key } from "./keys.ts";
import { DOUBLED, partsOf, type RequestValues } from "./request-values.ts";
import type { Challenge, VerifyRule } from "./schema.ts";

/** What is sent back to a provider that checks an endpoint. */
export interface ChallengeResponse {
  status: number;
  /** Of `body`; null without one. */
  type: "text/plain; charset=utf-8" | "application/json; charset=utf-8" | null;
  /** Others; absent if there are none. */
  headers?: Record<string, string>;
  body: string;
}

const MAX_CHARS = LIMITS.challengeChars.value;
/** A challenge is a small request: what else a provider sends is not parsed for this. */
const MAX_BODY_BYTES = 8 * 1024;

/**
 * Returns the response to a challenge of the rule, or null for a request that is none. `key` is what signed it; null before it is
 * verified, when only challenges are responded to that are not signed.
 */
export function challengeResponse(
  rule: VerifyRule,
  values: RequestValues,
  key: Key | null,
): ChallengeResponse | null {
  for (const challenge of rule.challenges ?? []) {
    if (challenge.verified !== (key !== null) || !isMeant(challenge, values)) continue;
    const response = responseOf(challenge, text => fill(text, rule, values, key));
    if (response) return response;
  }
  return null;
}

function isMeant({ when: { method, at, equals } }: Challenge, values: RequestValues): boolean {
  const { request } = values;
  // An OPTIONS request is mostly a browser's, unless a rule speaks of it.
  if (
    request.method === "OPTIONS" ? method !== "OPTIONS" : method !== undefined && request.method !== method
  ) {
    return false;
  }
  if (at === undefined) return true;
  if (at.includes("{{body") && request.body.length > MAX_BODY_BYTES) return false;
  const value = values.first([at]);
  return typeof value === "string" && (equals === undefined || value === equals);
}

function responseOf(
  { when, respond: { headers = {}, ...respond } }: Challenge,
  filled: (text: string) => string | null,
): ChallengeResponse | null {
  const sent = Object.entries(headers).map(([name, text]) => [name, filled(text)] as const);
  // What a header can't have would be an error of the server.
  if (sent.some(([, value]) => value === null || !/^[\x20-\x7e]*$/.test(value))) return null;
  const response = contentOf(respond, filled);
  if (!response || sent.length === 0) return response;
  const allowed = when.method === "OPTIONS" && { allow: "POST" };
  return { ...response, headers: { ...allowed, ...(Object.fromEntries(sent) as Record<string, string>) } };
}

function contentOf(
  { status = 200, text, json }: Omit<Challenge["respond"], "headers">,
  filled: (text: string) => string | null,
): ChallengeResponse | null {
  if (json !== undefined) {
    const entries = Object.entries(json).map(([name, value]) => {
      return [name, typeof value === "string" ? filled(value) : value] as const;
    });
    if (entries.some(([, value]) => value === null)) return null;
    const body = JSON.stringify(Object.fromEntries(entries));
    return { status, type: "application/json; charset=utf-8", body };
  }
  if (text === undefined) return { status, type: null, body: "" };
  const body = filled(text);
  return body === null ? null : { status, type: "text/plain; charset=utf-8", body };
}

/** Returns a text with its templates filled in; null if the request lacks a value, or one is too long to be a challenge. */
function fill(text: string, rule: VerifyRule, values: RequestValues, key: Key | null): string | null {
  let filled = "";
  for (const part of partsOf(text)) {
    if (typeof part === "string") {
      filled += part;
      continue;
    }
    const [root = "", ...rest] = part.path ?? [];
    const value = values.read(root === "hmac" ? rest : [root, ...rest]);
    if (value === undefined || value === DOUBLED || value.length > MAX_CHARS) return null;
    filled += root === "hmac" ? macOf(value, rule, key) : value;
  }
  return filled;
}

/** Only of a verified request (`faults.ts`): it would sign what anybody sends. */
function macOf(value: string, { digest = "sha256" }: VerifyRule, key: Key | null): string {
  return key && "secret" in key ? hmacOf(key.secret, [value], digest).toString("hex") : "";
}
