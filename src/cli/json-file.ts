import { AppError } from "../lib/errors.ts";
import { JsonText } from "../lib/json-text.ts";
import { readTextFile } from "./text-file.ts";

/** Returns the JSON value in a file; `-` is the standard input. Throws AppError `invalid` naming the file. */
export const readJsonFile = async (path: string): Promise<unknown> => (await readJsonText(path)).value;

/** As `readJsonFile`, as it is written. */
export async function readJsonText(path: string): Promise<JsonText> {
  const json = new JsonText(await readTextFile(path));
  try {
    void json.value;
    return json;
  } catch (error) {
    throw new AppError("invalid", `${path} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the object in a JSON file. Throws AppError `invalid` naming the file, and `what` it must contain. */
export async function readObjectFile(path: string, what: string): Promise<Record<string, unknown>> {
  const given = await readJsonFile(path);
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new AppError("invalid", `${path} must contain an object: ${what}`);
  return given as Record<string, unknown>;
}

/** Returns the prop values in a file, by name; none without a file. Throws as `readObjectFile`. */
export const readPropsFile = async (path: string | undefined): Promise<Record<string, unknown>> =>
  path === undefined ? {} : await readObjectFile(path, "prop values by name");
