import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import { AppError } from "../lib/errors.ts";

/** Returns the JSON value in a file; `-` is the standard input. Throws AppError `invalid` naming the file. */
export async function readJsonFile(path: string): Promise<unknown> {
  const read = path === "-" ? textOf(process.stdin) : readFile(path, "utf8");
  const text = await read.catch((error: NodeJS.ErrnoException) => {
    throw new AppError("invalid", `${path} can't be read: ${error.message}`, { cause: error });
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError("invalid", `${path} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the prop values in a file, by name; none without a file. Throws AppError `invalid` naming the file. */
export async function readPropsFile(path: string | undefined): Promise<Record<string, unknown>> {
  const given = path === undefined ? {} : await readJsonFile(path);
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new AppError("invalid", `${path} must contain an object: prop values by name`);
  }
  return given as Record<string, unknown>;
}
