import { AppError, type FieldError } from "../lib/errors.ts";
import type { DescribedProp, PropValues } from "../sandbox/protocol.ts";
import { checkProp, labelled, type PropFault } from "./check-value.ts";
import { DEFAULT_INTERVAL_SECONDS, isFault, readTimer, type Timer } from "./timer.ts";

/** Prop values as they are stored (sealed): only what was configured, defaults stay with the component. */
export type StoredProps = Record<string, unknown>;

const TIMER = "$.interface.timer";
const HTTP = "$.interface.http";
/** Kinds the platform fills in, or that only show something. */
const WITHOUT_VALUE = new Set([HTTP, "$.interface.apphook", "$.service.db", "alert"]);

/** Kinds whose service Headwater does not have, so nobody has a value for them: they fail when they are used. */
const WITHOUT_SERVICE = new Set(["data_store", "dir", "sql"]);

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const own = (values: StoredProps, name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** What a component fixes or proposes where nothing is configured; null never counts. */
const proposed = (prop: DescribedProp): unknown => prop.static ?? prop.default ?? undefined;

function needsValue(prop: DescribedProp): boolean {
  if (WITHOUT_VALUE.has(prop.type) || WITHOUT_SERVICE.has(prop.type)) return false;
  if (prop.type === TIMER || prop.type === "app") return false;
  return !prop.optional && isAbsent(proposed(prop));
}

/** The response's own shape may be sent back; an endpoint is given by the platform all the same. */
function refuseValue(prop: DescribedProp, given: unknown): PropFault[] {
  const keys = typeof given === "object" && given !== null ? Object.keys(given) : ["?"];
  if (prop.type === HTTP && keys.every(key => key === "endpoint_url")) return [];
  return [{ path: "", message: `takes no value (${prop.type})` }];
}

function checkTimer(prop: DescribedProp, given: unknown): { value: unknown } | { faults: PropFault[] } {
  const timer = readTimer(given);
  if (isFault(timer)) return { faults: [{ path: timer.key && `.${timer.key}`, message: timer.message }] };
  const fixed = isAbsent(prop.static) ? null : effectiveTimer(prop, undefined);
  if (fixed !== null && JSON.stringify(fixed) !== JSON.stringify(timer)) {
    return { faults: [{ path: "", message: "is fixed by the component" }] };
  }
  return { value: timer };
}

function checkOne(prop: DescribedProp, given: unknown): { value: unknown } | { faults: PropFault[] } {
  if (WITHOUT_VALUE.has(prop.type)) {
    const faults = refuseValue(prop, given);
    return faults.length > 0 ? { faults } : { value: undefined };
  }
  return prop.type === TIMER ? checkTimer(prop, given) : checkProp(prop, given);
}

/**
 * Checks `configured_props` against a component's props (design.md, "REST decisions") and gives what is stored.
 * What `previous` holds stays where nothing new is given, since secrets are never shown to be sent back; null takes
 * a value away. Throws AppError invalid with every fault, at paths such as `configured_props.timer.cron`.
 */
export function configureProps(
  props: DescribedProp[],
  configured: unknown,
  previous: StoredProps = {},
): StoredProps {
  const given = configured ?? {};
  if (typeof given !== "object" || Array.isArray(given)) {
    throw faulty([{ in: "body", path: "configured_props", message: "must be an object" }]);
  }
  const names = new Set(props.map(prop => prop.name));
  const fields = Object.keys(given)
    .filter(name => !names.has(name))
    .map(name => fieldError(name, "the component has no such prop"));
  const values: [string, unknown][] = [];
  for (const prop of props) {
    const asked = own(given as StoredProps, prop.name);
    const value = asked === undefined ? own(previous, prop.name) : asked;
    if (isAbsent(value)) {
      if (needsValue(prop)) fields.push(fieldError(prop.name, "is required"));
      continue;
    }
    const checked = checkOne(prop, value);
    if ("value" in checked) values.push([prop.name, checked.value]);
    else fields.push(...checked.faults.map(fault => fieldError(prop.name + fault.path, fault.message)));
  }
  if (fields.length > 0) throw faulty(fields);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

const fieldError = (path: string, message: string): FieldError => ({
  in: "body",
  path: `configured_props.${path}`,
  message,
});

function faulty(fields: FieldError[]): AppError {
  const detail = fields.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new AppError("invalid", detail, { fields });
}

/** The timer that counts: fixed, configured, proposed by the code, or every 15 minutes. */
function effectiveTimer(prop: DescribedProp, configured: unknown): Timer {
  for (const candidate of [prop.static, configured, prop.default]) {
    const timer = isAbsent(candidate) ? null : readTimer(candidate);
    if (timer !== null && !isFault(timer)) return timer;
  }
  return { intervalSeconds: DEFAULT_INTERVAL_SECONDS };
}

/** The source's timer, null where its component has none. */
export function timerOf(props: DescribedProp[], values: StoredProps): ({ name: string } & Timer) | null {
  const prop = props.find(({ type }) => type === TIMER);
  return prop === undefined ? null : { name: prop.name, ...effectiveTimer(prop, own(values, prop.name)) };
}

/**
 * `configured_props` as the API answers it (rest-api.md, section 2, Source): timers and endpoints in their response
 * shape, secrets and credentials left out.
 */
export function presentProps(
  props: DescribedProp[],
  values: StoredProps,
  { endpointUrl }: { endpointUrl: string | null },
): Record<string, unknown> {
  const shown = props.flatMap((prop): [string, unknown][] => {
    const value = own(values, prop.name);
    if (prop.type === HTTP) return [[prop.name, { endpoint_url: endpointUrl }]];
    if (prop.type === TIMER) return [[prop.name, presentTimer(effectiveTimer(prop, value))]];
    if (prop.secret || prop.type === "app" || isAbsent(value)) return [];
    return [[prop.name, value]];
  });
  return Object.fromEntries(shown);
}

function presentTimer(timer: Timer) {
  if ("intervalSeconds" in timer) return { cron: null, interval_seconds: timer.intervalSeconds };
  return { cron: timer.cron, interval_seconds: null, timezone: timer.timezone };
}

/** What the sandbox puts on `this`, before it adds methods: configured values, else what the code proposes. */
export function propValuesForRun(
  props: DescribedProp[],
  values: StoredProps,
  { endpointUrl }: { endpointUrl: string | null },
): PropValues {
  const given = props.flatMap((prop): [string, unknown][] => {
    const value = own(values, prop.name);
    if (prop.type === HTTP) return [[prop.name, { endpoint: endpointUrl, endpointUrl }]];
    if (prop.type === TIMER) return [[prop.name, effectiveTimer(prop, value)]];
    if (prop.type === "app") return [[prop.name, { $auth: {}, ...(value as object | undefined) }]];
    if (WITHOUT_VALUE.has(prop.type)) return [];
    const counted = prop.static ?? value ?? prop.default;
    if (isAbsent(counted)) return [];
    return [[prop.name, prop.withLabel ? labelled(counted) : counted]];
  });
  return Object.fromEntries(given);
}
