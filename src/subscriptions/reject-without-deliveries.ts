import { FUNCTION_FIELD } from "../functions/load-function.ts";
import { invalidField } from "../lib/errors.ts";

/**
 * Throws `invalid` for a listener that can have no function: sources and workflows are handed the event itself, in the hop
 * before deliveries (docs/functions.md).
 */
export function rejectWithoutDeliveries(listenerId: string): void {
  if (!listenerId.startsWith("dc_") && !listenerId.startsWith("p_")) return;
  const message = "a source or a workflow receives events as they are: only deliveries go through a function";
  throw invalidField(FUNCTION_FIELD.in, FUNCTION_FIELD.path, message);
}
