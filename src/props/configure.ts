import { Type } from "typebox";
import { type FieldError, invalidField, invalidFields } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { DescribedProp, PropValues } from "../sandbox/protocol.ts";
import { connectionIdOf } from "./check-value.ts";
import { APP_TYPE, HTTP_TYPE, isSecret, kindOf, type SourceFacts, TIMER_TYPE } from "./kinds.ts";
import { effectiveTimer, type Timer } from "./timer.ts";

/** Configured prop values by name, as they are stored (encrypted). Defaults are not included; they stay in the code. */
export type StoredProps = Record<string, unknown>;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const storedValue = (values: StoredProps, name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined;

const isRequired = (prop: DescribedProp): boolean =>
  kindOf(prop).needsValue && !prop.optional && !prop.hidden && isAbsent(prop.static ?? prop.default);

/** What may be wrong with values that are still being filled in. */
export interface ConfigureOptions {
  /** Required props may be absent. */
  mayLack?: boolean;
  /** Values of unknown props are left out, because these props may still be made. */
  mayHaveOthers?: boolean;
}

/**
 * Checks `configured_props` against a component's props (docs/component-api.md#props) and returns the values to
 * store. Values of `previous` are kept for props that `configured` leaves out, because clients never see secrets and
 * could not send them back; null removes a value. Throws `invalid` with every fault, at paths such as
 * `configured_props.timer.cron`.
 */
export function configureProps(
  props: DescribedProp[],
  configured: unknown,
  previous: StoredProps = {},
  { mayLack = false, mayHaveOthers = false }: ConfigureOptions = {},
): StoredProps {
  const given = configured ?? {};
  if (typeof given !== "object" || Array.isArray(given)) {
    throw invalidField("body", "configured_props", "must be an object");
  }
  const names = new Set(props.map(prop => prop.name));
  const fields = Object.keys(given)
    .filter(name => !names.has(name) && !mayHaveOthers)
    .map(name => fieldError(name, "the component has no such prop"));
  const values: [string, unknown][] = [];
  for (const prop of props) {
    const requested = storedValue(given as StoredProps, prop.name);
    const value = requested === undefined ? storedValue(previous, prop.name) : requested;
    if (isAbsent(value)) {
      if (mayLack) continue;
      if (isRequired(prop)) fields.push(fieldError(prop.name, "is required"));
      const faults = kindOf(prop).checkDefault?.(prop) ?? [];
      for (const { message } of faults) {
        fields.push(
          fieldError(prop.name, `is required, because the component's default can't be used: ${message}`),
        );
      }
      continue;
    }
    const checked = kindOf(prop).check(prop, value);
    if ("value" in checked) values.push([prop.name, checked.value]);
    else fields.push(...checked.faults.map(fault => fieldError(prop.name + fault.path, fault.message)));
  }
  if (fields.length > 0) throw invalidFields(fields);
  const stored = Object.fromEntries(values.filter(([, value]) => value !== undefined));
  checkSize(stored);
  return stored;
}

const MAX_BYTES = LIMITS.configuredPropsBytes.value;

/** Every update may add to the values that are kept from before, and the source must fit into one document. */
function checkSize(values: StoredProps): void {
  if (Buffer.byteLength(JSON.stringify(values)) <= MAX_BYTES) return;
  const message = `have more than ${MAX_BYTES / 1024} KB, with the values kept from before`;
  throw invalidField("body", "configured_props", message);
}

const fieldError = (path: string, message: string): FieldError => ({
  in: "body",
  path: `configured_props.${path}`,
  message,
});

/** Returns the source's timer and the name of its prop; null if the component has no timer. */
export function timerOf(props: DescribedProp[], values: StoredProps): ({ name: string } & Timer) | null {
  const prop = props.find(({ type }) => type === TIMER_TYPE);
  return prop === undefined
    ? null
    : { name: prop.name, ...effectiveTimer(prop, storedValue(values, prop.name)) };
}

/** True if the component has an HTTP interface. */
export const hasHttpInterface = (props: DescribedProp[]): boolean =>
  props.some(({ type }) => type === HTTP_TYPE);

/** Returns `configured_props` as API responses show them, without secrets and credentials (docs/rest-api.md#source). */
export function presentProps(
  props: DescribedProp[],
  values: StoredProps,
  source: SourceFacts,
): Record<string, unknown> {
  const shown = props.map(prop => {
    const value = kindOf(prop).present(prop, storedValue(values, prop.name), source);
    return [prop.name, value] as const;
  });
  return Object.fromEntries(shown.filter(([, value]) => !isAbsent(value)));
}

/** Returns the names of the props whose value is stored and never shown. */
export const secretsSet = (props: DescribedProp[], values: StoredProps): string[] =>
  props
    .filter(prop => {
      const value = storedValue(values, prop.name);
      return isSecret(prop) && !isAbsent(value) && connectionIdOf(value) === null;
    })
    .map(({ name }) => name);

/** An `app` prop whose value is a connection. */
export interface ConnectedProp {
  prop: DescribedProp;
  connectionId: string;
}

/** Returns the `app` props whose values name connections. */
export const connectedProps = (props: DescribedProp[], values: StoredProps): ConnectedProp[] =>
  props.flatMap(prop => {
    const connectionId = prop.type === APP_TYPE ? connectionIdOf(storedValue(values, prop.name)) : null;
    return connectionId === null ? [] : [{ prop, connectionId }];
  });

/** Returns what the sandbox puts on `this`, before it adds methods: configured values, else defaults of the code. */
export function propValuesForRun(
  props: DescribedProp[],
  values: StoredProps,
  source: SourceFacts,
): PropValues {
  const bound = props.map(prop => {
    const value = kindOf(prop).bind(prop, storedValue(values, prop.name), source);
    return [prop.name, value] as const;
  });
  return Object.fromEntries(bound.filter(([, value]) => value !== undefined));
}

/** What a source or an action has before an update. */
interface Before {
  values: StoredProps;
  props: DescribedProp[];
  /** True if the update gives it another component, and does not edit the code of its own. */
  isReplaced: boolean;
}

/**
 * Returns the values that stay when what they configure gets other props. A secret or a credential is kept only if the new
 * prop is secret and of the same type and app: otherwise responses would show it, or another app would receive it. None is
 * kept for another component, which could send it anywhere; a connection is, which every member can name again.
 */
export function keptValues({ values, props, isReplaced }: Before, after: DescribedProp[]): StoredProps {
  const kept = props.filter(prop => {
    if (!isSecret(prop)) return true;
    if (isReplaced && connectionIdOf(values[prop.name]) === null) return false;
    const next = after.find(({ name }) => name === prop.name);
    return next && isSecret(next) && next.type === prop.type && next.app === prop.app;
  });
  return Object.fromEntries(kept.map(({ name }) => [name, values[name]]));
}

/** Returns the names of the secrets that an update took away without being asked to. */
export const secretsRemoved = (
  { values, props }: Before,
  after: StoredProps,
  configured: Record<string, unknown>,
): string[] =>
  secretsSet(props, values).filter(name => !Object.hasOwn(after, name) && !Object.hasOwn(configured, name));

/** What the response to an update says of secrets, so that a form or a person gives them again. */
export const SecretsRemoved = Type.Array(Type.String(), {
  description:
    "Names of the secrets that the update removed, because they were for another server or another component, and were not " +
    "given again.",
});
