import { newToken } from "../../lib/ids.ts";
import { actionPropsFor } from "../../props/action-props.ts";
import { propValuesForRun, type StoredProps } from "../../props/configure.ts";
import type { ActionExport, CallRequest, CallResult, DescribedProp, Emit } from "../../sandbox/protocol.ts";

/** One call of a component, beside its memory. */
type OneCall = Pick<CallRequest, "call" | "event" | "props">;

/** Returns the call of an action for an event, from which its templates are filled in (docs/actions.md). */
export function actionCall(
  nowMs: number,
  props: DescribedProp[],
  stored: StoredProps,
  event: unknown,
): OneCall {
  const context = { id: `trial-${newToken()}`, ts: new Date(nowMs).toISOString(), test: true };
  const values = actionPropsFor(props, stored, { event, context });
  const bound = propValuesForRun(props, values, { endpointUrl: null });
  return { call: "action", event: { event, context }, props: bound };
}

/** Shows what an action exports as events of that name, and what it returns as one without. */
export function withExports(result: CallResult): CallResult {
  const emits = result.emits.map(({ event }): Emit => {
    const { name, value } = event as ActionExport;
    return { event: value, metadata: name === undefined ? {} : { name } };
  });
  return { ...result, emits };
}
