import { scanJson } from "../../lib/scan-json.ts";
import type { ActionRequest } from "../protocol.ts";
import type { Call } from "./call.ts";
import { type Component, withHidden } from "./component.ts";
import { MAX_EXPORT, MAX_EXPORT_DEPTH, MAX_EXPORT_NAME, MAX_EXPORTS } from "./wire.ts";

/** Thrown by `$.flow.exit`. */
const EXIT = Object.freeze({ name: "FlowExit", message: "$.flow.exit ends the action" });

const { stringify } = JSON;

/**
 * Runs an action for one event (docs/component-api.md#actions): `run({steps, $})`. Each export, and what `run` returns, is
 * emitted at once as `ActionExport`, so that an action that fails or is ended later has reported what it did by then.
 * Throws what `run` throws, unless it called `$.flow.exit`.
 */
export async function runAction(
  { run }: Component,
  self: Record<string, unknown>,
  { event, context }: ActionRequest,
  call: Call,
): Promise<void> {
  if (typeof run !== "function") throw new Error("the component has no run function");
  let exports = 0;
  let hasExited = false;
  const $ = {
    context,
    export(name: unknown, value: unknown) {
      if (exports++ < MAX_EXPORTS)
        call.emit({ name: String(name).slice(0, MAX_EXPORT_NAME), value: shortened(value) });
    },
    flow: {
      exit() {
        hasExited = true;
        throw EXIT;
      },
      ...absent("$.flow.", ["delay", "rerun", "suspend"], "an action runs once for each event"),
    },
    ...absent("$.", ["respond"], "no HTTP request waits for an action"),
    send: absent("$.send.", ["email", "emit", "http", "s3", "sse"], "Headwater does not provide it"),
  };
  withHidden(self, absent("", ["$emit"], "an action emits no events"));
  try {
    const returned: unknown = await run.call(self, { steps: { trigger: { event, context } }, $ });
    if (returned !== undefined) call.emit({ value: shortened(returned) });
  } catch (error) {
    // The code may have wrapped what `exit` threw.
    if (!hasExited) throw error;
  }
}

/** Returns the value, or, of one that is too large as JSON, a text: the start of its JSON. */
function shortened(value: unknown): unknown {
  if (value === undefined) return null;
  const json = jsonOf(value);
  if (json === undefined) return `(a ${typeof value}, which has no JSON form)`;
  if (Buffer.byteLength(json) <= MAX_EXPORT && scanJson(json).depth <= MAX_EXPORT_DEPTH) return value;
  return (typeof value === "string" ? value : json).slice(0, MAX_EXPORT);
}

function jsonOf(value: unknown): string | undefined {
  try {
    return stringify(value) as string | undefined;
  } catch {
    return undefined;
  }
}

/** Returns functions that throw an error which says why the action can't use them. */
const absent = (path: string, names: string[], why: string): Record<string, () => never> =>
  Object.fromEntries(
    names.map(name => [
      name,
      () => {
        throw new Error(`${path}${name} can't be used: ${why}`);
      },
    ]),
  );
