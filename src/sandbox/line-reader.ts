export interface LineReaderOptions {
  /** Only lines that start with it are messages; other lines are noise and dropped. */
  prefix: string;
  /** Longest permitted line, including its prefix. */
  maxLineBytes: number;
  /** How many bytes of noise are permitted in total. */
  maxNoiseBytes: number;
  /** Receives a line without its prefix. */
  onLine: (line: string) => void;
  onViolation: (reason: string) => void;
}

/** Returns a function that splits the chunks of a byte stream into lines. After a violation it ignores all input. */
export function createLineReader(options: LineReaderOptions): (chunk: Buffer) => void {
  const prefix = Buffer.from(options.prefix);
  let parts: Buffer[] = [];
  let pending = 0;
  let noise = 0;
  let isStopped = false;

  function stop(reason: string): void {
    isStopped = true;
    parts = [];
    options.onViolation(reason);
  }

  function handleLine(line: Buffer): void {
    if (line.length > options.maxLineBytes) stop("a line is too long");
    else if (line.subarray(0, prefix.length).equals(prefix)) {
      options.onLine(line.toString("utf8", prefix.length));
    } else {
      noise += line.length;
      if (noise > options.maxNoiseBytes) stop("too much output");
    }
  }

  return chunk => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0 && !isStopped; end = chunk.indexOf(10, from)) {
      const tail = chunk.subarray(from, end);
      const line = parts.length > 0 ? Buffer.concat([...parts, tail]) : tail;
      parts = [];
      pending = 0;
      from = end + 1;
      if (line.length > 0) handleLine(line);
    }
    if (isStopped || from >= chunk.length) return;
    parts.push(chunk.subarray(from));
    pending += chunk.length - from;
    if (pending > options.maxLineBytes) stop("a line is too long");
  };
}
