import { AppError } from "../../lib/errors.ts";

/** Every secret is shorter. */
const MAX_CHARS = 4096;

/**
 * Reads one line of the standard input: asked for with `question` and not shown at a terminal; otherwise what is piped in.
 * Throws AppError `invalid` that begins with `what` if there is none, and if it is too long.
 */
export async function askSecret(question: string, what: string): Promise<string> {
  const { stdin } = process;
  const isTerminal = stdin.isTTY === true;
  if (isTerminal) {
    // First: what is typed before it would be shown.
    stdin.setRawMode(true);
    process.stderr.write(question);
  }
  try {
    return await readLine(stdin, isTerminal, what);
  } finally {
    if (isTerminal) {
      stdin.setRawMode(false);
      process.stderr.write("\n");
    }
    stdin.pause();
  }
}

const INTERRUPT = "\u0003";
const END = "\u0004";
const BACKSPACES = ["\u007f", "\b"];

function readLine(stdin: NodeJS.ReadStream, isTerminal: boolean, what: string): Promise<string> {
  // Not by `for await`: it destroys the stream at its end, which then can't leave the raw mode.
  return new Promise((resolve, reject) => {
    let line = "";
    const end = (outcome: () => string) => {
      stdin.off("data", onData).off("end", onEnd);
      try {
        resolve(outcome());
      } catch (error) {
        reject(error);
      }
    };
    const onEnd = () => end(() => checked(line, what));
    const onData = (chunk: string) => {
      for (const char of chunk) {
        if (char === "\n" || char === "\r" || (isTerminal && char === END)) return onEnd();
        if (isTerminal && char === INTERRUPT) return end(stopped);
        line = isTerminal && BACKSPACES.includes(char) ? line.slice(0, -1) : line + char;
        if (line.length > MAX_CHARS) return end(() => tooLong(what));
      }
    };
    stdin.setEncoding("utf8").on("data", onData).once("end", onEnd);
  });
}

function stopped(): never {
  throw new AppError("invalid", "stopped: nothing was changed");
}

function tooLong(what: string): never {
  throw new AppError("invalid", `${what}: is too long, it may have ${MAX_CHARS} characters`);
}

function checked(line: string, what: string): string {
  const text = line.trim();
  if (text !== "") return text;
  throw new AppError("invalid", `${what}: nothing was given on the standard input`);
}
