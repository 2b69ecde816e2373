/** No more of what a server says is kept as an attempt's error. */
const MOST = 300;

/** Returns what a server said, without a secret that it may repeat. */
export function withoutSecret(text: string, secret: string | null): string {
  return (secret ? text.replaceAll(secret, "***") : text).slice(0, MOST);
}
