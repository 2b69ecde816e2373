/** What a request says of an existing subscription; what is undefined stays. */
interface Changes {
  /** A checked filter; null for none. */
  filter: unknown;
  /** Code of a function; null for none. */
  code: string | null | undefined;
  /** Of the code, if there is some. */
  functionHash: string | undefined;
}

/** Returns the update of a stored subscription. A function that is set counts its errors from then on. */
export function changesOf({ filter, code, functionHash }: Changes) {
  const set = {
    ...(filter !== undefined && { filter: filter === null ? null : JSON.stringify(filter) }),
    ...(functionHash !== undefined && { function_hash: functionHash }),
  };
  const unset = {
    ...(code === null && { function_hash: 1 as const }),
    ...(code !== undefined && { function_errors: 1 as const, last_function_error: 1 as const }),
  };
  return {
    ...(Object.keys(set).length > 0 && { $set: set }),
    ...(Object.keys(unset).length > 0 && { $unset: unset }),
  };
}
