import { createHmac, timingSafeEqual } from "node:crypto";

/** Returns the bytes of a request's body, which a sender has signed. */
export const bytesOf = ({ bodyRaw, bodyBase64 }) =>
  Buffer.from(bodyBase64 ?? bodyRaw, bodyBase64 ? "base64" : "utf8");

/** Whether two texts are equal, in a time that says nothing of where they differ. */
export function isSame(given, expected) {
  const [one, other] = [Buffer.from(given ?? ""), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Returns the HMAC of what is signed, by SHA-256 and in hex. */
export function hmac(secret, ...parts) {
  const signing = createHmac("sha256", secret);
  for (const part of parts) signing.update(part);
  return signing.digest("hex");
}
