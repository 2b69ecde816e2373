import { AppError } from "../../lib/errors.ts";
import { type JsonText, stringifyJson } from "../../lib/json-text.ts";
import { readJsonText } from "../json-file.ts";

/** What `headwater publish` was given. */
export interface Given {
  event?: JsonText;
  file?: string;
  name?: string;
  id?: string;
}

/**
 * Returns the text of the body of the request: what a file has, or one event with its fields. Throws `invalid` unless exactly one of
 * the two is given.
 */
export async function readPublication({ event, file, name, id }: Given): Promise<string> {
  if ((event === undefined) === (file === undefined)) {
    throw new AppError("invalid", "give either --event or --file");
  }
  if (event) return stringifyJson({ event, name, id });
  if (name !== undefined || id !== undefined) {
    throw new AppError("invalid", "--name and --id are for --event; a file has its own");
  }
  return (await readJsonText(file ?? "")).text;
}
