/** Returns a field of `INFO` or `CLUSTER INFO`; undefined if it has none of this name. */
export const fieldOf = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\\s*$`, "m").exec(info)?.[1];
