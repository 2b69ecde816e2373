import { AppError } from "../../lib/errors.ts";

/** A key or a link is shorter. */
const MAX_CHARS = 4096;

/**
 * Reads one line of the standard input: asked for with `question` and not shown at a terminal; otherwise what is piped in.
 * Throws AppError `invalid` if there is none, and if it is too long.
 */
export async function askSecret(question: string): Promise<string> {
  const { stdin } = process;
  const isTerminal = stdin.isTTY === true;
  if (isTerminal) {
    process.stderr.write(question);
    stdin.setRawMode(true);
  }
  try {
    return await readLine(stdin, isTerminal);
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

async function readLine(stdin: NodeJS.ReadStream, isTerminal: boolean): Promise<string> {
  let line = "";
  stdin.setEncoding("utf8");
  for await (const chunk of stdin) {
    for (const char of String(chunk)) {
      if (char === "\n" || char === "\r" || (isTerminal && char === END)) return checked(line);
      if (isTerminal && char === INTERRUPT) throw new AppError("invalid", "stopped: nothing was changed");
      line = isTerminal && BACKSPACES.includes(char) ? line.slice(0, -1) : line + char;
      if (line.length > MAX_CHARS)
        throw new AppError("invalid", "the input is too long for an API key or a link");
    }
  }
  return checked(line);
}

function checked(line: string): string {
  const text = line.trim();
  if (text !== "") return text;
  throw new AppError("invalid", "nothing was given: an API key (hw_…) or a sign-in link is needed");
}
