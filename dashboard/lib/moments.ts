const MINUTE_MS = 60_000;

/** The value of a date field, in the reader's zone, of a moment in an address; empty for none. */
export function toLocal(moment: string | undefined): string {
  const at = new Date(moment ?? "");
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19);
}

/** The moment of a date field's value, as an address has it: the same for readers of every zone. */
export function fromLocal(value: string): string | undefined {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString().replace(".000Z", "Z");
}

/** Unix seconds of a moment in an address; a text that is none is returned as it is. */
export function unixOf(moment: string | undefined): number | string | undefined {
  if (!moment) return undefined;
  const ms = Date.parse(moment);
  return Number.isNaN(ms) ? moment : Math.floor(ms / 1000);
}
