import { checkLength, checkUnread, keptBody, readBytes } from "./raw-body.ts";

/** What is needed of a request of `node:http`, with what parsers may have added to it. */
export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  readableEnded?: boolean;
  readableDidRead?: boolean;
  destroyed?: boolean;
  iterator?(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array | string>;
}

/** Reads the body of a request as it came, or as `kept` has it (what parsers leave behind). */
export async function readNodeRequest(
  request: NodeRequest,
  kept: { body?: unknown; rawBody?: unknown },
  maxBytes?: number,
): Promise<{ body: string | Uint8Array; headers: NodeRequest["headers"] }> {
  const { headers } = request;
  checkLength(headers["content-length"] as string | undefined, maxBytes);
  const raw = keptBody(kept.rawBody, kept.body);
  if (raw !== undefined) return { body: raw, headers };
  const isRead =
    request.readableDidRead === true || request.readableEnded === true || request.destroyed === true;
  checkUnread(isRead, kept.body);
  // Otherwise leaving the loop early would close the connection before the response.
  const chunks = request.iterator?.({ destroyOnReturn: false }) ?? request;
  return { body: await readBytes(chunks, maxBytes), headers };
}
