import type { DescribedProp } from "../sandbox/protocol.ts";

/** What is wrong inside a value: the path below the prop (`""`, `[2]`, `.cron`) and the message. */
export interface PropFault {
  path: string;
  message: string;
}

const MAX_VALUE_BYTES = 64 * 1024;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSecretFree = (value: Record<string, unknown>) => Object.keys(value).every(key => key === "$auth");

function checkInteger(prop: DescribedProp, value: unknown): string | null {
  if (!Number.isSafeInteger(value)) return "must be an integer";
  if (prop.min !== undefined && Number(value) < prop.min) return `must be ${prop.min} at least`;
  if (prop.max !== undefined && Number(value) > prop.max) return `must be ${prop.max} at most`;
  return null;
}

function checkApp(value: unknown): string | null {
  if (!isObject(value) || !isSecretFree(value)) return "must be {$auth: {…}}";
  return value.$auth === undefined || isObject(value.$auth) ? null : "$auth must be an object";
}

/** One value of a type without `[]`; types beyond these (`any`, `$.…`, `dir`, …) take any JSON. */
function checkType(prop: DescribedProp, type: string, value: unknown): string | null {
  switch (type) {
    case "string":
    case "data_store":
      return typeof value === "string" ? null : "must be a string";
    case "boolean":
      return typeof value === "boolean" ? null : "must be a boolean";
    case "integer":
      return checkInteger(prop, value);
    case "object":
    case "http_request":
      return isObject(value) ? null : "must be an object";
    case "app":
      return checkApp(value);
    default:
      return null;
  }
}

/** A value as option lists and clients of this kind of API may write it; null for one without a label. */
function labelledPair(value: unknown): { label: unknown; value: unknown } | null {
  const pair = isObject(value) && isObject(value.__lv) ? value.__lv : value;
  const isPair = isObject(pair) && Object.keys(pair).sort().join() === "label,value";
  return isPair ? { label: pair.label, value: pair.value } : null;
}

/** `{label, value}` stands for its value. */
function unlabelled(value: unknown): unknown {
  const pair = labelledPair(value);
  return pair === null ? value : pair.value;
}

/** The value as code with `withLabel` reads it; its label is itself where none was given. */
export function labelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(labelled);
  return labelledPair(value) ?? { label: String(value), value };
}

function checkOptions(prop: DescribedProp, value: unknown): string | null {
  if (!prop.options || prop.options.length === 0) return null;
  const choices = prop.options.map(unlabelled);
  if (choices.includes(value)) return null;
  const shown = choices.slice(0, 10).map(choice => JSON.stringify(choice));
  return `must be one of ${shown.join(", ")}${choices.length > 10 ? ", …" : ""}`;
}

/**
 * Checks a configured value against its prop (runtime.md, "Props") and gives it in the shape it is stored in.
 * Timers and the kinds that take no value are not asked here.
 */
export function checkProp(prop: DescribedProp, given: unknown): { value: unknown } | { faults: PropFault[] } {
  const bytes = Buffer.byteLength(JSON.stringify(given) ?? "");
  if (bytes > MAX_VALUE_BYTES) return { faults: [{ path: "", message: "must be 64 KB at most" }] };
  const isList = prop.type.endsWith("[]");
  const type = isList ? prop.type.slice(0, -2) : prop.type;
  if (isList && !Array.isArray(given))
    return { faults: [{ path: "", message: `must be a list (${prop.type})` }] };
  const isScalar = ["string", "integer", "boolean"].includes(type);
  const values = (isList ? (given as unknown[]) : [given]).map(one => (isScalar ? unlabelled(one) : one));
  const faults = values.flatMap((value, index) => {
    const message = checkType(prop, type, value) ?? (isScalar ? checkOptions(prop, value) : null);
    return message === null ? [] : [{ path: isList ? `[${index}]` : "", message }];
  });
  if (faults.length > 0) return { faults };
  const stored = prop.withLabel && isScalar ? (isList ? (given as unknown[]) : [given]) : values;
  return { value: isList ? stored : stored[0] };
}
