import type { Change } from "./change.ts";
import { changedProps, compareProps } from "./compare-props.ts";
import {
  type ComponentTools,
  componentField,
  findComponent,
  isSameComponent,
  propFields,
  savedComponent,
  type WantedComponent,
} from "./component.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredSource } from "./schema.ts";
import { fullName, type State } from "./state.ts";

/** Returns what is to be done to the sources of a file. */
export async function planSources(
  { raw, resolved }: Declared,
  state: State,
  tools: ComponentTools,
): Promise<Change[]> {
  const changes: Change[] = [];
  // One after the other: each may read files and ask the server.
  for (const [key, source] of Object.entries(resolved.sources ?? {})) {
    const component = await tools.wantedOf(`sources.${key}`, source);
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

function planCreation(
  { name, source, shown, component }: Wanted,
  key: string,
  tools: ComponentTools,
): Change {
  const { client } = tools;
  const { props = {}, active } = source;
  const fields = [
    componentField(shown),
    ...propFields(shown),
    ...(active === undefined ? [] : [{ field: "active", to: active }]),
  ];
  const apply: Change["apply"] = async ids => {
    const { id } = await savedComponent(component, tools);
    const created = await client.sources.create({ component_id: id, name, configured_props: props });
    ids.sources.set(key, created.id);
    if (active === false) await client.sources.update(created.id, { active });
  };
  return { action: "create", kind: "source", name, fields, apply };
}

async function planUpdate(wanted: Wanted, id: string, tools: ComponentTools): Promise<Change | null> {
  const { name, source, shown, component } = wanted;
  const { client } = tools;
  const current = await client.sources.get(id);
  const before = await findComponent(client, current.component_id);
  const isSame = isSameComponent(component, current.component_id, before);
  const known = before && {
    ...before,
    configurable_props: [...before.configurable_props, ...current.dynamic_props],
  };
  const given = { wanted: source.props ?? {}, raw: shown.props ?? {} };
  const props = compareProps(given, current, known, tools.sendsSecrets);
  const fields = [
    ...(isSame ? [] : [componentField(shown)]),
    ...props.changes,
    ...(source.active === undefined || source.active === current.active
      ? []
      : [{ field: "active", from: current.active, to: source.active }]),
  ];
  if (fields.length === 0) return null;
  const apply = async () => {
    const next = isSame ? known : await savedComponent(component, tools);
    await client.sources.update(id, {
      ...(!isSame && next && { component_id: next.id }),
      configured_props: changedProps(given.wanted, props.left, next),
      // Left out, it would become active.
      active: source.active ?? current.active,
    });
  };
  return { action: "update", kind: "source", name, fields, apply };
}
