/** Returns a new key. Not `crypto.randomUUID`, which pages that came over http do not have. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `auto_${[...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("")}`;
}
