import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { APPHOOK_TYPE, HTTP_TYPE, TIMER_TYPE } from "../../props/kinds.ts";
import { isTimerFault, parseTimer } from "../../props/timer.ts";
import { presentTimer } from "../../props/timer-prop.ts";
import { type Comparison, type FieldChange, fieldChanges } from "./change.ts";

type Props = Record<string, unknown>;

/** The props of a file: with the values of the environment, and as they are written. */
interface WantedProps {
  wanted: Props;
  raw: Props;
}

/** The props of a source or an action, as the server shows them. */
export interface CurrentProps {
  configured_props: Props;
  secrets_set: string[];
  /** Those that the code made for it. */
  dynamic_props: Schemas["Component"]["configurable_props"];
}

/** What is known of the component that has the props; null for nothing. */
type KnownComponent = Pick<Schemas["Component"], "configurable_props"> | null;

/** Returns a component with the props that its code made for a source or an action. */
export const withMadeProps = <Known extends KnownComponent>(
  component: Known,
  { dynamic_props }: Pick<CurrentProps, "dynamic_props">,
): Known =>
  component && { ...component, configurable_props: [...component.configurable_props, ...dynamic_props] };

/** Returns the secrets of a file that the server has values for, too. */
export const givenSecrets = (wanted: Props, { secrets_set }: Pick<CurrentProps, "secrets_set">): Props =>
  Object.fromEntries(
    Object.entries(wanted).filter(([prop, value]) => secrets_set.includes(prop) && value !== null),
  );

/**
 * Compares props; `left` are those that the server has and the file does not. `differing` are secrets that the server has
 * other values for.
 */
export function compareProps(
  { wanted, raw }: WantedProps,
  current: CurrentProps,
  component: KnownComponent,
  differing: readonly string[],
): { changes: FieldChange[]; left: string[] } {
  const secrets = new Set(current.secrets_set);
  const types = typesOf(component);
  const compared: Comparison[] = Object.entries(wanted)
    .filter(([prop, value]) => !secrets.has(prop) || value === null)
    .map(([prop, value]) => ({
      field: `props.${prop}`,
      current: secrets.has(prop) ? "a secret" : current.configured_props[prop],
      wanted: types.get(prop) === TIMER_TYPE ? timerOf(value) : value,
      raw: raw[prop],
    }));
  const left = leftProps(wanted, current, types);
  return {
    changes: [
      ...fieldChanges(compared),
      ...differing.map(prop => ({ field: `props.${prop}`, to: raw[prop] })),
      ...left.map(prop => ({ field: `props.${prop}`, to: null })),
    ],
    left,
  };
}

/**
 * Returns the props of a request that makes them so: what the file does not have is removed, unless it is gone with the
 * present component.
 */
export function changedProps(wanted: Props, left: string[], next: KnownComponent): Props {
  const removed = left.filter(prop => next?.configurable_props.some(({ name }) => name === prop));
  return { ...Object.fromEntries(removed.map(prop => [prop, null])), ...wanted };
}

/** Have a value without being configured. */
const INTERFACES = new Set([HTTP_TYPE, APPHOOK_TYPE, TIMER_TYPE]);

/** Props that have a value on the server and none in the file. */
function leftProps(
  wanted: Props,
  { configured_props, secrets_set }: CurrentProps,
  types: Map<string, string>,
): string[] {
  const hasOwnValue = (prop: string) => {
    const type = types.get(prop);
    return type !== undefined && !INTERFACES.has(type);
  };
  return [...Object.keys(configured_props), ...secrets_set].filter(
    prop => !Object.hasOwn(wanted, prop) && hasOwnValue(prop),
  );
}

const typesOf = (component: KnownComponent): Map<string, string> =>
  new Map(component?.configurable_props.map(({ name, type }) => [name, type]));

/** A timer as the server shows it: `{intervalSeconds: 60}` as `{cron: null, interval_seconds: 60}`. */
function timerOf(value: unknown): unknown {
  const timer = value === null || value === undefined ? undefined : parseTimer(value);
  return timer === undefined || isTimerFault(timer) ? value : presentTimer(timer);
}
