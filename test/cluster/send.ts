import { request } from "undici";

/** A request of a load, and what became of it. */
export interface Sent {
  /** To a source's endpoint, one event that is published, or many at once. */
  kind: "source" | "event" | "batch";
  /** Of its events. */
  keys: string[];
  /** Unix milliseconds, like `endedAt`. */
  sentAt: number;
  endedAt: number;
  /** `silent`: no response in time, or the connection broke, so that only the receiver shows whether it was accepted. */
  result: "accepted" | "5xx" | "silent" | `status ${number}`;
}

/** A client gives up then. */
const PATIENCE_MS = 10_000;

/** Sends a request to the first of these addresses at which a process listens. */
export async function send(
  urls: string[],
  apiKey: string,
  body: unknown,
): Promise<Pick<Sent, "endedAt" | "result">> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  for (const url of urls) {
    try {
      // Of the processor, which the installation needs, it takes a third of what `fetch` does.
      const { statusCode, body: response } = await request(url, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
        body: JSON.stringify(body),
        signal,
      });
      await response.dump();
      return { endedAt: Date.now(), result: resultOf(statusCode) };
    } catch (error) {
      if ((error as { code?: string }).code !== "ECONNREFUSED") break;
    }
  }
  return { endedAt: Date.now(), result: "silent" };
}

function resultOf(status: number): Sent["result"] {
  if (status < 300) return "accepted";
  return status >= 500 ? "5xx" : `status ${status}`;
}
