import type { Challenge, VerifyRule } from "./schema.ts";

/** What several providers do alike. */

/** The template of a header. */
export const header = (name: string): string => `{{headers.${name}}}`;
const FIVE_MINUTES = 300;

type Digest = NonNullable<VerifyRule["digest"]>;
type Rest = Pick<VerifyRule, "id" | "challenges">;

interface OfBody extends Rest {
  prefix?: string;
  encoding?: "hex" | "base64";
  digest?: Digest;
}

/** An HMAC of the body alone, in one or several headers. */
export function bodyHmac(
  names: string | string[],
  { prefix, encoding = "hex", digest, ...rest }: OfBody = {},
): VerifyRule {
  return {
    scheme: "hmac",
    ...(digest && { digest }),
    signature: { at: [names].flat().map(header), ...(prefix !== undefined && { prefix }), encoding },
    signs: ["{{body}}"],
    ...rest,
  };
}

interface Listed extends Rest {
  /** Name of the item with the time, such as `t`. */
  time: string;
  /** Name of the items with signatures, such as `v1`. */
  key: string;
  items?: "," | ";";
  signs: string[];
  tolerance?: number;
}

/** `t=…,v1=…` in one header. */
export const listed = (
  name: string,
  { time, key, items = ",", signs, tolerance, ...rest }: Listed,
): VerifyRule => ({
  scheme: "hmac",
  signature: { at: [header(name)], items, key, encoding: "hex" },
  signs,
  timestamp: {
    at: [`{{signature.${time}}}`],
    unit: "s",
    ...(tolerance !== undefined && { tolerance }),
  },
  ...rest,
});

interface Timed extends Rest {
  /** The header with the time. */
  time: string;
  signs: string[];
  unit?: "s" | "ms" | "iso";
  prefix?: string;
  encoding?: "hex" | "base64";
  tolerance?: number | null;
}

/** An HMAC in one header, or several, of a body and of the time in another. */
export function timedHmac(
  names: string | string[],
  { time, signs, unit = "s", prefix, encoding = "hex", tolerance = FIVE_MINUTES, ...rest }: Timed,
): VerifyRule {
  return {
    scheme: "hmac",
    signature: { at: [names].flat().map(header), ...(prefix !== undefined && { prefix }), encoding },
    signs,
    timestamp: { at: [header(time)], unit, ...(tolerance !== null && { tolerance }) },
    ...rest,
  };
}

/** Standard Webhooks, under one or several names of its headers (https://www.standardwebhooks.com). */
export const standardWebhooks = (...prefixes: string[]): VerifyRule => ({
  scheme: "hmac",
  signature: {
    at: prefixes.map(prefix => header(`${prefix}-signature`)),
    items: " ",
    key: "v1",
    separator: ",",
    encoding: "base64",
  },
  signs: ["{{id}}.{{timestamp}}.{{body}}"],
  key: { encoding: "base64", strip: "whsec_" },
  timestamp: {
    at: prefixes.map(prefix => header(`${prefix}-timestamp`)),
    unit: "s",
    tolerance: FIVE_MINUTES,
  },
  id: prefixes.map(prefix => header(`${prefix}-id`)),
});

/** The secret itself, in a header. */
export const tokenIn = (
  name: string,
  rest: Rest & { prefix?: string; encoding?: "text" | "base64" } = {},
): VerifyRule => {
  const { prefix, encoding = "text", ...more } = rest;
  return {
    scheme: "token",
    signature: { at: [header(name)], ...(prefix !== undefined && { prefix }), encoding },
    ...more,
  };
};

/** A `GET` that asks for the value of one of its parameters. */
export const echoesQuery = (name: string): Challenge => ({
  when: { method: "GET", at: `{{query["${name}"]}}` },
  verified: false,
  respond: { text: `{{query["${name}"]}}` },
});
