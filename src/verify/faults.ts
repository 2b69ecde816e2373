import { type AppError, invalidFields } from "../lib/errors.ts";
import { encodingsOf, readKey } from "./keys.ts";
import { partsOf, type Root } from "./request-values.ts";
import type { Challenge, VerifyRule } from "./schema.ts";
import { isKeySetUrl, isOfToken } from "./tokens.ts";

/** What is wrong with a rule that has its schema: the path below it, and a message. */
export interface RuleFault {
  path: string;
  message: string;
}

/** Returns an `invalid` error (400) that names what is wrong with the `verify` of a request. */
export const invalidVerify = (faults: RuleFault[]): AppError =>
  invalidFields(
    faults.map(({ path, message }) => ({
      in: "body",
      path: path === "" ? "verify" : `verify.${path}`,
      message,
    })),
  );

const OF_REQUEST: Root[] = ["headers", "query", "body"];
const SIGNED: Root[] = [...OF_REQUEST, "url", "method", "form", "timestamp", "id"];
/** These are values themselves, and have no parts. */
const WHOLE = new Set<string>(["url", "method", "form", "timestamp", "id"]);

/** Returns what is wrong with a rule beside its shape: what would make it reject everything, or verify nothing. */
export function ruleFaults(rule: VerifyRule): RuleFault[] {
  const { signature, signs = [], timestamp, body_hash, id = [], challenges = [] } = rule;
  const fromSignature: Root[] = signature.items === undefined ? OF_REQUEST : [...OF_REQUEST, "signature"];
  const ofToken: Root[] = isOfToken(rule) ? ["claims"] : OF_REQUEST;
  return [
    ...faultsOfScheme(rule),
    ...placeFaults("signature.at", signature.at, OF_REQUEST),
    ...placeFaults("timestamp.at", timestamp?.at, fromSignature),
    ...placeFaults("body_hash.at", body_hash?.at, ofToken),
    ...placeFaults("id", id, OF_REQUEST),
    ...signs.flatMap((text, i) => textFaults(`signs[${i}]`, text, SIGNED, true)),
    ...needed("timestamp", timestamp === undefined, signs),
    ...needed("id", id.length === 0, signs),
    ...challenges.flatMap((challenge, i) => challengeFaults(`challenges[${i}]`, challenge, rule)),
  ];
}

function faultsOfScheme(rule: VerifyRule): RuleFault[] {
  const { scheme, algorithm, signs, signature, key, jwks } = rule;
  const signsContent = scheme === "hmac" || scheme === "signature";
  const hasTime = signsContent || scheme === "sns";
  const isText = signature.encoding === "text";
  const encodings = encodingsOf(rule);
  const isRaw = key?.encoding.startsWith("raw-") ?? false;
  return [
    ...fault("signs", signsContent && signs === undefined, `is required for ${scheme}`),
    ...fault("signs", !signsContent && signs !== undefined, `is not for ${scheme}`),
    ...fault("algorithm", scheme === "signature" && algorithm === undefined, "is required for signature"),
    ...fault("signature.encoding", signsContent && isText, "must be hex or base64"),
    ...fault("signature.encoding", isOfToken(rule) && !isText, `must be text for ${scheme}`),
    ...fault(
      "signature.encoding",
      scheme === "sns" && signature.encoding !== "base64",
      "must be base64 for sns",
    ),
    ...fault("timestamp", !hasTime && rule.timestamp !== undefined, `is not for ${scheme}`),
    ...fault("jwks", scheme === "jwks" && jwks === undefined, "is required for jwks"),
    ...fault("jwks", scheme !== "jwks" && jwks !== undefined, `is not for ${scheme}`),
    ...fault("jwks.url", jwks !== undefined && !isKeySetUrl(jwks.url), "must be an address with https"),
    ...fault(
      "key.encoding",
      key !== undefined && !encodings.includes(key.encoding),
      `must be one of ${encodings.join(", ")} for ${scheme}`,
    ),
    ...fault(
      "key.encoding",
      isRaw && algorithm === "ecdsa-p256",
      "must be pem or spki-base64 for ecdsa-p256",
    ),
  ];
}

const fault = (path: string, isWrong: boolean, message: string): RuleFault[] =>
  isWrong ? [{ path, message }] : [];

const placeFaults = (path: string, places: readonly string[] = [], roots: Root[]): RuleFault[] =>
  places.flatMap((place, i) => placeFault(`${path}[${i}]`, place, roots));

function placeFault(path: string, place: string, roots: Root[]): RuleFault[] {
  const parts = partsOf(place);
  if (parts.length === 1 && typeof parts[0] === "object") return textFaults(path, place, roots);
  return [{ path, message: "must be one template, such as {{headers.x-signature}}" }];
}

/** `body` alone is the raw body, which only what is signed may name. */
function textFaults(path: string, text: string, roots: Root[], isSigned = false): RuleFault[] {
  return partsOf(text).flatMap(part => {
    if (typeof part === "string") return [];
    const [root = "", ...steps] = part.path ?? [];
    const isPlace = roots.includes(root as Root) && isComplete(root, steps, isSigned);
    return fault(path, !isPlace, `${part.text} must be the path of a value, of ${roots.join(", ")}`);
  });
}

function isComplete(root: string, steps: string[], isSigned: boolean): boolean {
  if (WHOLE.has(root)) return steps.length === 0;
  if (root === "body" && isSigned) return true;
  if (root === "hmac") return OF_REQUEST.includes(steps[0] as Root) && steps.length > 1;
  if (root === "headers") return steps.length === 1 && steps[0] === steps[0]?.toLowerCase();
  return root === "body" || root === "claims" ? steps.length > 0 : steps.length === 1;
}

const needed = (name: "timestamp" | "id", isAbsent: boolean, signs: readonly string[]): RuleFault[] =>
  fault(name, isAbsent && signs.some(text => text.includes(`{{${name}}}`)), "is required by signs");

function challengeFaults(
  path: string,
  { when, verified, respond }: Challenge,
  { scheme }: VerifyRule,
): RuleFault[] {
  // Without a signature it would sign whatever a stranger sends.
  const roots: Root[] = verified && scheme === "hmac" ? [...OF_REQUEST, "hmac"] : OF_REQUEST;
  const { text = "", json = {}, headers = {} } = respond;
  const texts = [text, ...Object.values(json), ...Object.values(headers)];
  return [
    ...placeFaults(`${path}.when.at`, when.at === undefined ? [] : [when.at], OF_REQUEST),
    ...fault(`${path}.when`, when.equals !== undefined && when.at === undefined, "needs at beside equals"),
    ...fault(
      `${path}.when`,
      when.at === undefined && when.method !== "HEAD",
      "needs at, unless its method is HEAD",
    ),
    ...texts.flatMap(text => (typeof text === "string" ? textFaults(`${path}.respond`, text, roots) : [])),
  ];
}

/** Returns the numbers of the secrets that are not a key of the rule. */
export const unusableKeys = (rule: VerifyRule, secrets: readonly string[]): number[] =>
  secrets.flatMap((secret, i) => (readKey(rule, secret) === null ? [i] : []));
