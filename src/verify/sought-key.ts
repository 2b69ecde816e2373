import type { KeyObject } from "node:crypto";
import type { RequestValues } from "./request-values.ts";
import { readSignatures } from "./signatures.ts";
import { certificateUrlOf, readCertificate } from "./sns.ts";
import { keyNameOf, readKeySet, readToken } from "./tokens.ts";
import type { Verification } from "./verify-request.ts";

/** A public key of a sender, and where it is published. */
export interface SoughtKey {
  url: string;
  /** Its name among those at the address. */
  name: string;
  /** Reads what is at the address. Throws for another text. */
  read: (text: string) => ReadonlyMap<string, KeyObject>;
}

const CERTIFICATE = "certificate";
const readAsSet = (pem: string) => new Map([[CERTIFICATE, readCertificate(pem)]]);

/**
 * Returns the published key that a request says it is signed with; null if its rule needs none, or if the request is rejected whatever
 * the key says: nothing is fetched for it.
 */
export function soughtKey({ rule, keys }: Verification, values: RequestValues): SoughtKey | null {
  if (keys.length === 0) return null;
  if (rule.scheme === "sns") {
    const url = certificateUrlOf(keys, values);
    return url === null ? null : { url, name: CERTIFICATE, read: readAsSet };
  }
  if (!rule.jwks) return null;
  const signatures = readSignatures(rule, values);
  const token = "given" in signatures ? readToken(signatures.given[0] ?? "") : null;
  const name = token && keyNameOf(token);
  return name ? { url: rule.jwks.url, name, read: readKeySet } : null;
}
