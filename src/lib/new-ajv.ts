import { Ajv, type Options } from "ajv";

/**
 * Returns an Ajv for schemas that are written in this project. It does not check them against the schema of JSON Schema itself, which
 * each Ajv would compile first: 25 ms of processor time, some seven times in every start of a process
 * (docs/decisions/0051-time-of-the-tests.md).
 */
export const newAjv = (options: Options): Ajv => new Ajv({ ...options, meta: false, validateSchema: false });
