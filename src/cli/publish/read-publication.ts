import { AppError } from "../../lib/errors.ts";
import { readJsonFile } from "../json-file.ts";

/** What `headwater publish` was given. */
export interface Given {
  event?: { value: unknown };
  file?: string;
  name?: string;
  id?: string;
}

/**
 * Returns the body of the request: what a file has, or one event with its fields. Throws `invalid` unless exactly one of
 * the two is given.
 */
export async function readPublication({ event, file, name, id }: Given): Promise<unknown> {
  if ((event === undefined) === (file === undefined)) {
    throw new AppError("invalid", "give either --event or --file");
  }
  if (event)
    return { event: event.value, ...(name !== undefined && { name }), ...(id !== undefined && { id }) };
  if (name !== undefined || id !== undefined) {
    throw new AppError("invalid", "--name and --id are for --event; a file has its own");
  }
  return await readJsonFile(file ?? "");
}
