import type { Change } from "./change.ts";
import { changedProps, compareProps, givenSecrets, withMadeProps } from "./compare-props.ts";
import {
  type ComponentTools,
  componentField,
  findComponent,
  isSameComponent,
  propFields,
  savedComponent,
} from "./component.ts";
import { madeConnectionIds } from "./connection-ids.ts";
import { planComponents, type Wanted } from "./plan-components.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredSource } from "./schema.ts";
import type { State } from "./state.ts";

/** Returns what is to be done to the sources of a file. */
export const planSources = (declared: Declared, state: State, tools: ComponentTools): Promise<Change[]> =>
  planComponents(declared, "sources", state.sources, { create: planCreation, update: planUpdate }, tools);

function planCreation(
  { key, name, declared, shown, component }: Wanted<DeclaredSource>,
  tools: ComponentTools,
): Change {
  const { client } = tools;
  const { active } = declared;
  const fields = [
    componentField(shown),
    ...propFields(shown),
    ...(active === undefined ? [] : [{ field: "active", to: active }]),
  ];
  const apply: Change["apply"] = async ids => {
    const { naming } = await savedComponent(component, tools);
    const created = await client.sources.create({
      ...{ ...naming, name },
      configured_props: madeConnectionIds(declared.props ?? {}, ids.connections),
    });
    ids.sources.set(key, created.id);
    if (active === false) await client.sources.update(created.id, { active });
  };
  return { action: "create", kind: "source", name, fields, apply };
}

async function planUpdate(
  { name, declared, shown, component }: Wanted<DeclaredSource>,
  { id }: { id: string },
  tools: ComponentTools,
): Promise<Change | null> {
  const { client } = tools;
  const current = await client.sources.get(id);
  const before = await findComponent(client, current.component_id);
  const isSame = isSameComponent(component, current.component_id, before);
  const known = withMadeProps(before, current);
  const given = { wanted: declared.props ?? {}, raw: shown.props ?? {} };
  const differing = await tools.differing(id, givenSecrets(given.wanted, current));
  const props = compareProps(given, current, known, differing);
  const fields = [
    ...(isSame ? [] : [componentField(shown)]),
    ...props.changes,
    ...(declared.active === undefined || declared.active === current.active
      ? []
      : [{ field: "active", from: current.active, to: declared.active }]),
  ];
  if (fields.length === 0) return null;
  const apply: Change["apply"] = async ids => {
    const wanted = madeConnectionIds(given.wanted, ids.connections);
    const next = isSame ? null : await savedComponent(component, tools);
    await client.sources.update(id, {
      ...next?.naming,
      configured_props: changedProps(wanted, props.left, next?.saved ?? known),
      // Left out, it would become active.
      active: declared.active ?? current.active,
    });
  };
  return { action: "update", kind: "source", name, fields, apply };
}
