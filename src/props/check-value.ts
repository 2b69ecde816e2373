import { isId } from "../lib/ids.ts";
import { isObject } from "../lib/json.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";

/** What is wrong inside a value: the path below the prop (`""`, `[2]`, `.cron`) and the message. */
export interface PropFault {
  path: string;
  message: string;
}

/** A value in the shape in which it is stored, or everything that is wrong with it. */
export type CheckedValue = { value: unknown } | { faults: PropFault[] };

/** Returns what is wrong with a value, of a list with one element; null if it is right. */
export type FaultOf = (prop: DescribedProp, value: unknown) => string | null;

const MAX_VALUE_BYTES = LIMITS.propValueBytes.value;

export const noFault: FaultOf = () => null;

export const stringFault: FaultOf = (_, value) => (typeof value === "string" ? null : "must be a string");

export const booleanFault: FaultOf = (_, value) => (typeof value === "boolean" ? null : "must be a boolean");

export const integerFault: FaultOf = ({ min, max }, value) => {
  if (!Number.isSafeInteger(value)) return "must be an integer";
  if (min !== undefined && Number(value) < min) return `must be at least ${min}`;
  if (max !== undefined && Number(value) > max) return `must be at most ${max}`;
  return null;
};

export const objectFault: FaultOf = (_, value) => (isObject(value) ? null : "must be an object");

/** Credentials of its own, or a connection that has them; whose that is, src/connections/check.ts checks. */
export const appFault: FaultOf = (_, value) => {
  const isKnown = (key: string) => key === "$auth" || key === "authProvisionId";
  if (!isObject(value) || !Object.keys(value).every(isKnown)) {
    return 'must be {authProvisionId: "apn_…"} or {$auth: {…}}';
  }
  if (value.authProvisionId === undefined) {
    return value.$auth === undefined || isObject(value.$auth) ? null : "$auth must be an object";
  }
  if (value.$auth !== undefined) return "must have authProvisionId or $auth, not both";
  return connectionIdOf(value) === null ? "authProvisionId must be the id of a connection (apn_…)" : null;
};

/** Returns the connection that a stored value of an `app` prop names; null if it has credentials of its own. */
export function connectionIdOf(stored: unknown): string | null {
  const id = isObject(stored) ? stored.authProvisionId : undefined;
  return typeof id === "string" && isId("apn", id) ? id : null;
}

/** Returns the pair of `{label, value}` or `{__lv: {label, value}}`, the two forms of an option; null for others. */
function labelledPair(value: unknown): { label: unknown; value: unknown } | null {
  const pair = isObject(value) && isObject(value.__lv) ? value.__lv : value;
  const isPair = isObject(pair) && Object.keys(pair).sort().join() === "label,value";
  return isPair ? { label: pair.label, value: pair.value } : null;
}

function withoutLabel(value: unknown): unknown {
  const pair = labelledPair(value);
  return pair === null ? value : pair.value;
}

/** Returns `{label, value}`, which code with `withLabel` expects; a value without a label becomes its own label. */
export function withLabel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLabel);
  return labelledPair(value) ?? { label: String(value), value };
}

const optionFault: FaultOf = ({ options }, value) => {
  if (!options || options.length === 0) return null;
  const choices = options.map(withoutLabel);
  if (choices.includes(value)) return null;
  const shown = choices.slice(0, 10).map(choice => JSON.stringify(choice));
  return `must be one of ${shown.join(", ")}${choices.length > 10 ? ", …" : ""}`;
};

/** Checks a configured value, or each element of it if the prop is a list (`type[]`). */
export function checkValue(prop: DescribedProp, given: unknown, faultOf: FaultOf): CheckedValue {
  const bytes = Buffer.byteLength(JSON.stringify(given) ?? "");
  if (bytes > MAX_VALUE_BYTES) return { faults: [{ path: "", message: "must be at most 64 KB" }] };
  if (!prop.type.endsWith("[]")) {
    const message = faultOf(prop, given);
    return message === null ? { value: given } : { faults: [{ path: "", message }] };
  }
  if (!Array.isArray(given)) return { faults: [{ path: "", message: `must be a list (${prop.type})` }] };
  const faults = given.flatMap((value, index) => {
    const message = faultOf(prop, value);
    return message === null ? [] : [{ path: `[${index}]`, message }];
  });
  return faults.length > 0 ? { faults } : { value: given };
}

/**
 * As `checkValue`, for kinds with `options`. Of `{label, value}` only the value is checked, and only the value is
 * stored unless the code asks for the label too (`withLabel`).
 */
export function checkScalar(prop: DescribedProp, given: unknown, faultOf: FaultOf): CheckedValue {
  const checked = checkValue(prop, given, (_, one) => {
    const value = withoutLabel(one);
    return faultOf(prop, value) ?? optionFault(prop, value);
  });
  if ("faults" in checked || prop.withLabel) return checked;
  return { value: Array.isArray(given) ? given.map(withoutLabel) : withoutLabel(given) };
}
