import { type JsonText, stringifyJson } from "../../lib/json-text.ts";
import { readJsonText } from "../json-file.ts";
import { UsageError } from "../usage-error.ts";

/** What `headwater publish` was given. */
export interface Given {
  event?: JsonText;
  file?: string;
  name?: string;
  id?: string;
}

/**
 * Returns the text of the body of the request: what a file has, or one event with its fields. Throws UsageError unless exactly one of
 * the two is given.
 */
export async function readPublication({ event, file, name, id }: Given): Promise<string> {
  if ((event === undefined) === (file === undefined)) {
    throw new UsageError("--event, --file: exactly one of them is needed");
  }
  if (event) return stringifyJson({ event, name, id });
  if (name !== undefined || id !== undefined) {
    throw new UsageError(`--${name === undefined ? "id" : "name"}: goes with --event; a file has its own`);
  }
  return (await readJsonText(file ?? "")).text;
}
