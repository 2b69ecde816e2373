import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import { AppError } from "../lib/errors.ts";

/** Returns the text of a file; `-` is the standard input. Throws AppError `invalid` naming the file. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await (path === "-" ? textOf(process.stdin) : readFile(path, "utf8"));
  } catch (error) {
    throw new AppError("invalid", `${path} can't be read: ${(error as Error).message}`, { cause: error });
  }
}
