/** Writes lines to the standard output. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Writes lines for a person to the standard error, where they are in no program's way. */
export const note = (text: string): void => void process.stderr.write(`${text}\n`);

/** Writes a value as JSON for a program. */
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

/** Writes a value as one line of JSON: one of many that come as they happen. */
export const printJsonLine = (value: unknown): void => print(JSON.stringify(value));

/** Returns a time as it is shown: to the second, UTC. */
export const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
