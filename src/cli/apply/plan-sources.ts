import { type Headwater, NotFoundError, type Schemas } from "../../../clients/typescript/src/index.ts";
import { HTTP_TYPE, TIMER_TYPE } from "../../props/kinds.ts";
import { isTimerFault, parseTimer } from "../../props/timer.ts";
import { presentTimer } from "../../props/timer-prop.ts";
import type { SavedComponent } from "../deploy/save.ts";
import { type Change, type Comparison, type FieldChange, fieldChanges } from "./change.ts";
import type { SaveComponent, WantedComponent } from "./component.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredSource } from "./schema.ts";
import { fullName, type State } from "./state.ts";

interface Tools {
  client: Headwater;
  /** Returns the component that a source is to have. */
  wantedOf: (name: string, source: DeclaredSource) => Promise<WantedComponent>;
  save: SaveComponent;
  /** Whether secrets, which the server does not show, are sent again. */
  sendsSecrets: boolean;
}

/** Returns what is to be done to the sources of a file. */
export async function planSources(declared: Declared, state: State, tools: Tools): Promise<Change[]> {
  const { raw, resolved } = declared;
  const changes: Change[] = [];
  // One after the other: each may read files and ask the server.
  for (const [key, source] of Object.entries(resolved.sources ?? {})) {
    const component = await tools.wantedOf(key, source);
    const shown = raw.sources?.[key] ?? source;
    const name = fullName(resolved.project, key);
    const current = state.sources.get(key);
    const change = current
      ? await planUpdate({ name, source, shown, component }, current.id, tools)
      : planCreation({ name, source, shown, component }, key, tools);
    if (change) changes.push(change);
  }
  return changes;
}

interface Wanted {
  name: string;
  source: DeclaredSource;
  /** As the file has it. */
  shown: DeclaredSource;
  component: WantedComponent;
}

const saved = async (component: WantedComponent, save: SaveComponent): Promise<SavedComponent> =>
  "saved" in component ? component.saved : await save(component.location);

const shownComponent = ({ file, url, component }: DeclaredSource) => file ?? url ?? component;

function planCreation(
  { name, source, shown, component }: Wanted,
  key: string,
  { client, save }: Tools,
): Change {
  const { props = {}, active } = source;
  const fields: FieldChange[] = [
    { field: "component", to: shownComponent(shown) },
    ...Object.entries(shown.props ?? {}).map(([prop, to]) => ({ field: `props.${prop}`, to })),
    ...(active === undefined ? [] : [{ field: "active", to: active }]),
  ];
  const apply: Change["apply"] = async ids => {
    const { id } = await saved(component, save);
    const created = await client.sources.create({ component_id: id, name, configured_props: props });
    ids.sources.set(key, created.id);
    if (active === false) await client.sources.update(created.id, { active });
  };
  return { action: "create", kind: "source", name, fields, apply };
}

async function planUpdate(wanted: Wanted, id: string, tools: Tools): Promise<Change | null> {
  const { name, source, shown, component } = wanted;
  const { client, save } = tools;
  const current = await client.sources.get(id);
  const before = await findComponent(client, current.component_id);
  const isSameComponent =
    "saved" in component ? component.saved.id === current.component_id : component.hash === before?.code_hash;
  const known = before && {
    ...before,
    configurable_props: [...before.configurable_props, ...current.dynamic_props],
  };
  const props = compareProps(wanted, current, known, tools.sendsSecrets);
  const fields = [
    ...(isSameComponent ? [] : [{ field: "component", to: shownComponent(shown) }]),
    ...props.changes,
    ...(source.active === undefined || source.active === current.active
      ? []
      : [{ field: "active", from: current.active, to: source.active }]),
  ];
  if (fields.length === 0) return null;
  const apply = async () => {
    const next = isSameComponent ? known : await saved(component, save);
    // A prop that the next component does not have is gone with the present one.
    const removed = props.left.filter(prop => next?.configurable_props.some(({ name }) => name === prop));
    await client.sources.update(id, {
      ...(!isSameComponent && next && { component_id: next.id }),
      configured_props: { ...Object.fromEntries(removed.map(prop => [prop, null])), ...source.props },
      // Left out, it would become active.
      active: source.active ?? current.active,
    });
  };
  return { action: "update", kind: "source", name, fields, apply };
}

/** Null for one that another account has, or that is gone. */
async function findComponent(client: Headwater, id: string): Promise<Schemas["Component"] | null> {
  try {
    return await client.components.get(id);
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

/** Compares the props; `left` are those that the server has and the file does not. */
function compareProps(
  { source, shown }: Wanted,
  current: Schemas["SourceDetail"],
  component: Schemas["Component"] | null,
  sendsSecrets: boolean,
): { changes: FieldChange[]; left: string[] } {
  const wanted = source.props ?? {};
  const secrets = new Set(current.secrets_set);
  const types = typesOf(component);
  const compared: Comparison[] = Object.entries(wanted)
    .filter(([prop, value]) => !secrets.has(prop) || value === null)
    .map(([prop, value]) => ({
      field: `props.${prop}`,
      current: secrets.has(prop) ? "a secret" : current.configured_props[prop],
      wanted: types.get(prop) === TIMER_TYPE ? timerOf(value) : value,
      raw: shown.props?.[prop],
    }));
  const again = Object.keys(wanted).filter(
    prop => sendsSecrets && secrets.has(prop) && wanted[prop] !== null,
  );
  const left = leftProps(wanted, current, component);
  return {
    changes: [
      ...fieldChanges(compared),
      ...again.map(prop => ({ field: `props.${prop}`, to: shown.props?.[prop] })),
      ...left.map(prop => ({ field: `props.${prop}`, to: null })),
    ],
    left,
  };
}

/** Props that have a value on the server and none in the file. Interfaces have one without being configured. */
function leftProps(
  wanted: Record<string, unknown>,
  { configured_props, secrets_set }: Schemas["SourceDetail"],
  component: Schemas["Component"] | null,
): string[] {
  const types = typesOf(component);
  const hasOwnValue = (prop: string) => {
    const type = types.get(prop);
    return type !== undefined && type !== HTTP_TYPE && type !== TIMER_TYPE;
  };
  return [...Object.keys(configured_props), ...secrets_set].filter(
    prop => !Object.hasOwn(wanted, prop) && hasOwnValue(prop),
  );
}

const typesOf = (component: Schemas["Component"] | null): Map<string, string> =>
  new Map(component?.configurable_props.map(({ name, type }) => [name, type]));

/** A timer as the server shows it: `{intervalSeconds: 60}` as `{cron: null, interval_seconds: 60}`. */
function timerOf(value: unknown): unknown {
  const timer = value === null || value === undefined ? undefined : parseTimer(value);
  return timer === undefined || isTimerFault(timer) ? value : presentTimer(timer);
}
