/** One event of a stream; `id` is null if it has none of its own. */
export interface ServerSentEvent {
  id: string | null;
  name: string;
  data: string;
}

/** A longer event is not one of Headwater's. */
const MAX_EVENT_CHARS = 8 * 1024 * 1024;
const LINE_END = /\r\n|\n|\r(?!$)/;

/** Reads server-sent events. `onBytes` is called whenever something arrives, heartbeats too. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let lines: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      const parts = (rest + decoder.decode(value, { stream: true })).split(LINE_END);
      rest = parts.pop() ?? "";
      for (const line of parts) {
        if (line !== "") {
          lines.push(line);
          continue;
        }
        const event = parse(lines);
        lines = [];
        if (event) yield event;
      }
      const length = lines.reduce((sum, line) => sum + line.length, rest.length);
      if (length > MAX_EVENT_CHARS) throw new Error("an event of the stream is too long");
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Null for lines without data, such as comments. */
function parse(lines: string[]): ServerSentEvent | null {
  const data: string[] = [];
  let id: string | null = null;
  let name = "message";
  for (const line of lines) {
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
    else if (field === "id") id = value;
  }
  return data.length === 0 ? null : { id, name, data: data.join("\n") };
}
