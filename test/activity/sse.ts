import type { Api } from "../support/api.ts";
import { until } from "../support/until.ts";

export interface Frame {
  kind: string;
  id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it waits for
  data: any;
}

/** Reads a stream of server-sent events. */
export interface Sse {
  /** The first frame of this kind that was not returned yet. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  next(kind: string, isMeant?: (data: any) => unknown): Promise<Frame>;
  /** Whether a frame of this kind has arrived. */
  has(kind: string): boolean;
  close(): void;
}

function parse(text: string): Frame | null {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1];
  const [kind, data] = [field("event"), field("data")];
  return kind === undefined || data === undefined
    ? null
    : { kind, id: field("id") ?? null, data: JSON.parse(data) };
}

/** Opens a stream of the API with these headers besides the API key. Throws unless the response is 200. */
export async function openSse(api: Api, path: string, headers: Record<string, string> = {}): Promise<Sse> {
  const abort = new AbortController();
  const response = await fetch(`${api.baseUrl}${path}`, {
    headers: { ...(api.apiKey && { authorization: `Bearer ${api.apiKey}` }), ...headers },
    signal: abort.signal,
  });
  if (response.status !== 200)
    throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  const frames: Frame[] = [];
  const seen = new Set<string>();
  void (async () => {
    let rest = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const parts = (rest + chunk).split("\n\n");
      rest = parts.pop() ?? "";
      for (const frame of parts.map(parse)) {
        if (!frame) continue;
        frames.push(frame);
        seen.add(frame.kind);
      }
    }
  })().catch(() => undefined);
  return {
    async next(kind, isMeant = () => true) {
      return await until(
        () => {
          const at = frames.findIndex(frame => frame.kind === kind && isMeant(frame.data));
          return at >= 0 && (frames.splice(at, 1)[0] as Frame);
        },
        { what: `an event ${kind}` },
      );
    },
    has: kind => seen.has(kind),
    close: () => abort.abort(),
  };
}
