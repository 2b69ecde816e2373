import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { configureProps } from "../../props/configure.ts";
import { APPHOOK_TYPE, HTTP_TYPE, TIMER_TYPE } from "../../props/kinds.ts";
import { isTimerFault, parseTimer, presentTimer } from "../../props/timer.ts";
import type { DescribedProp } from "../../sandbox/protocol.ts";
import { placeOf } from "../output.ts";
import { type Comparison, type FieldChange, fieldChanges } from "./compare.ts";
import type { Declared } from "./read-file.ts";
import type { WantedComponent } from "./state.ts";

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

/** An id instead of a name of the file. */
const ID = /^apn_/;

/** Returns the connection of the file that a prop's value names: `{authProvisionId: weather}`; undefined for other values. */
function nameIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { authProvisionId: name, ...others } = value as Props;
  return typeof name === "string" && !ID.test(name) && Object.keys(others).length === 0 ? name : undefined;
}

/** Returns props with the ids of the connections that they name, as far as these are there. */
export const withConnectionIds = (props: Props, ids: ReadonlyMap<string, string>): Props =>
  Object.fromEntries(
    Object.entries(props).map(([prop, value]) => {
      const name = nameIn(value);
      const id = name === undefined ? undefined : ids.get(name);
      return [prop, id === undefined ? value : { authProvisionId: id }];
    }),
  );

/** As `withConnectionIds`, once all that could be made is. Throws AppError `conflict` for a connection that still is not there. */
export function madeConnectionIds(props: Props, ids: ReadonlyMap<string, string>): Props {
  const made = withConnectionIds(props, ids);
  for (const value of Object.values(made)) {
    const name = nameIn(value);
    if (name !== undefined) throw new AppError("conflict", `the connection ${name} is not there yet`);
  }
  return made;
}

/** Returns a problem for each prop of a file that names a connection which the file does not have. */
export function connectionProblems({
  connections = {},
  sources = {},
  actions = {},
}: Declared["raw"]): string[] {
  return Object.entries({ sources, actions }).flatMap(([part, things]) =>
    Object.entries(things).flatMap(([thing, { props = {} }]) =>
      Object.entries(props).flatMap(([prop, value]) => {
        const name = nameIn(value);
        const isThere = name === undefined || name.includes("${") || Object.hasOwn(connections, name);
        return isThere
          ? []
          : [`${part}.${thing}.props.${prop}.authProvisionId: there is no connection ${name}`];
      }),
    ),
  );
}

type Described = Pick<Schemas["Component"], "configurable_props" | "additional_props">;

/**
 * Returns what is wrong with a source or an action of a file before anything is saved: code that can't be, and props that its
 * component does not know or lacks. Other values are for the server to check. Throws the client's errors.
 */
export async function propProblems(
  client: Headwater,
  at: string,
  props: Record<string, unknown>,
  component: WantedComponent,
): Promise<string[]> {
  if ("saved" in component) return problemsOf(at, props, component.saved);
  if (component.code === null) return [];
  const body = { component_code: component.code };
  const { errors, component: described } = await client.request("post", "/components/describe", { body });
  if (described !== null) return problemsOf(at, props, described);
  return errors.map(error => `${at}: ${error.path}: ${error.message}${placeOf(error)}`);
}

/** As `configureProps` says it. */
const OF_NAMES = new Set(["is required", "the component has no such prop"]);

function problemsOf(at: string, props: Record<string, unknown>, described: Described): string[] {
  try {
    configureProps(
      described.configurable_props as DescribedProp[],
      props,
      {},
      { mayHaveOthers: described.additional_props },
    );
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.fields
      .filter(({ message }) => OF_NAMES.has(message))
      .map(({ path, message }) => `${at}.${path.replace(/^configured_props/, "props")}: ${message}`);
  }
}
