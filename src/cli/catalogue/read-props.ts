import { AppError } from "../../lib/errors.ts";
import { readJsonFile } from "../input.ts";

/** The values of a component's props, and the event that it is run with; undefined for the usual one. */
interface Given {
  values: Record<string, unknown>;
  event: unknown;
}

/** The values that a file has for components. */
export interface GivenProps {
  /** All of the file. */
  values: object;
  /** Returns those of a component, by the first of its names that the file has. */
  of(names: readonly (string | null)[]): Given;
}

/** A prop of this name could not be configured. */
const EVENT = "$event";

/**
 * Reads prop values by the key, path or address of their component; none without a file. Throws AppError `invalid` that names
 * the file and what is wrong in it.
 */
export async function readGivenProps(path: string | undefined): Promise<GivenProps> {
  const read = path === undefined ? {} : await readJsonFile(path);
  if (!isObject(read))
    throw new AppError("invalid", `--props: ${path} must contain an object: prop values by component`);
  const wrong = Object.keys(read).find(name => !isObject(read[name]));
  if (wrong !== undefined) {
    throw new AppError("invalid", `--props: ${path}: ${wrong} must be an object: prop values by name`);
  }
  return {
    values: read,
    of(names) {
      const name = names.find(one => one !== null && Object.hasOwn(read, one)) ?? null;
      const { [EVENT]: event, ...values } = name === null ? {} : (read[name] as Record<string, unknown>);
      return { values, event };
    },
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
