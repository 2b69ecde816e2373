import type { Actor, StreamRead } from "./model.ts";
import { pause } from "./pause.ts";
import type { Stage } from "./stage.ts";

const AGAIN_MS = 300;
/** A stream without a heartbeat for this long is dead: its process hangs. */
const SILENT_MS = 25_000;

/** Reads a source's events as server-sent events, and resumes by `Last-Event-ID` whenever the stream ends. */
export async function readStream(
  stage: Stage,
  name: string,
  { model, random, signal }: Actor,
): Promise<void> {
  const { installation, sources } = stage;
  const source = sources[name];
  const read: StreamRead = {
    emitter: name,
    path: `/${name}`,
    sinceMs: Number.POSITIVE_INFINITY,
    eventIds: new Map(),
    reconnects: 0,
  };
  model.streams.push(read);
  let lastId: string | undefined;
  while (!signal.aborted) {
    const silence = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    try {
      const response = await fetch(`${random.pick(installation.webs)}/v1/sources/${source?.id}/sse`, {
        headers: {
          authorization: `Bearer ${source?.client.apiKey}`,
          ...(lastId !== undefined && { "last-event-id": lastId }),
        },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (response.ok && response.body) {
        for await (const id of idsIn(response.body, () => {
          read.sinceMs = Math.min(read.sinceMs, Date.now());
          clearTimeout(timer);
          timer = setTimeout(() => silence.abort(), SILENT_MS);
        })) {
          lastId = id;
          read.eventIds.set(id, (read.eventIds.get(id) ?? 0) + 1);
        }
      }
    } catch {
      // It resumes.
    }
    clearTimeout(timer);
    read.reconnects += 1;
    await pause(AGAIN_MS, signal);
  }
}

/** The ids of events in a stream; `onData` is called for whatever arrives. */
async function* idsIn(body: ReadableStream<Uint8Array>, onData: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    onData();
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const id = /^id: (.+)$/m.exec(frame)?.[1];
      if (id && /^event: emit$/m.test(frame)) yield id;
    }
  }
}
