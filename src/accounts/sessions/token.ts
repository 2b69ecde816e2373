import { createHash, randomBytes } from "node:crypto";

/** 256 random bits with a prefix that says what they are, which secret scanners find. */
const newSecret = (prefix: string): string => `${prefix}_${randomBytes(32).toString("base64url")}`;
const isSecret = (prefix: string, text: string): boolean =>
  text.startsWith(`${prefix}_`) && /^[\w-]{43}$/.test(text.slice(prefix.length + 1));

export const newSessionToken = (): string => newSecret("hws");
/** Returns true if a text has the form of a session's token; any other is unknown without a look-up. */
export const isSessionToken = (text: string): boolean => isSecret("hws", text);

export const newLinkToken = (): string => newSecret("hwl");
export const isLinkToken = (text: string): boolean => isSecret("hwl", text);

/** Returns the hash of a token, as it is stored. */
export const hashOfToken = (token: string): string => createHash("sha256").update(token).digest("hex");
