import { dirname, resolve } from "node:path";
import { type Headwater, NotFoundError, type Schemas } from "../../../clients/typescript/src/index.ts";
import { fromUrl } from "../../components/fetch-modules.ts";
import { fromFile } from "../../components/load-modules.ts";
import { readModuleGraph } from "../../components/module-graph.ts";
import type { Egress } from "../../egress/agent.ts";
import type { SavedComponent } from "../deploy/deploy.ts";
import {
  type Comparison,
  changedDelivery,
  compareActive,
  compareDelivery,
  type FieldChange,
  fieldChanges,
  newDelivery,
} from "./compare.ts";
import {
  type CurrentProps,
  changedProps,
  compareProps,
  givenSecrets,
  madeConnectionIds,
  propProblems,
  withConnectionIds,
  withMadeProps,
} from "./props.ts";
import type { DeclaredAction, DeclaredComponent, DeclaredSource } from "./schema.ts";
import type { Kind, Kinds, Naming, Tools, WantedComponent } from "./state.ts";

/** What a source or an action that is there has of a component. */
type Present = CurrentProps & { component_id: string };
/** The fields of a request that name a component, and give its props. */
type ComponentBody<Name> = Name & { configured_props: Record<string, unknown> };

/** In what sources and actions differ. `Whole` is everything that the server shows of one. */
interface Ways<Wanted, Row, Whole> extends Omit<Kind<Wanted, Row>, "plan"> {
  whole: (client: Headwater, row: Row) => Promise<Whole>;
  present: (current: Whole) => Present;
  /** What is compared besides its component and props. */
  compare: (wanted: Wanted, shown: Wanted, current?: Whole) => Comparison[];
  create: (
    client: Headwater,
    name: string,
    wanted: Wanted,
    component: ComponentBody<Naming>,
  ) => Promise<{ id: string }>;
  update: (
    client: Headwater,
    current: Whole,
    wanted: Wanted,
    component: ComponentBody<Partial<Naming>>,
  ) => Promise<{ id: string }>;
}

/** Sources of a file. */
export const sources: Kinds["sources"] = componentKind<
  DeclaredSource,
  Schemas["Source"],
  Schemas["SourceDetail"]
>({
  word: "source",
  whole: (client, { id }) => client.sources.get(id),
  present: source => source,
  compare: ({ active }, _, current) => compareActive(active, current),
  create: (client, name, _, component) => client.sources.create({ ...component, name }),
  update: (client, { id, active }, wanted, component) =>
    // Left out, it would become active.
    client.sources.update(id, { ...component, active: wanted.active ?? active }),
  disable: (client, id) => client.sources.update(id, { active: false }),
  remove: (client, id) => client.sources.delete(id),
});

/** Actions of a file. */
export const actions: Kinds["actions"] = componentKind<
  DeclaredAction,
  Schemas["Destination"],
  Schemas["Destination"]
>({
  word: "action",
  whole: async (_, row) => row,
  present: ({ action }) => action as Present,
  compare: compareDelivery,
  create: (client, name, wanted, action) =>
    client.destinations.create({ name, ...newDelivery(wanted), action }),
  update: (client, { id }, wanted, action) =>
    client.destinations.update(id, { ...changedDelivery(wanted), action }),
  disable: (client, id) => client.destinations.update(id, { active: false }),
  remove: (client, id) => client.destinations.delete(id),
});

/** Returns the kind of what has a component. */
function componentKind<Wanted extends DeclaredComponent, Row, Whole>({
  whole,
  present,
  compare,
  create,
  update,
  ...kind
}: Ways<Wanted, Row, Whole>): Kind<Wanted, Row> {
  return {
    ...kind,
    async plan({ at, name, wanted, shown, current: row }, tools) {
      const { client, ids } = tools;
      const component = await tools.wantedOf(at, wanted);
      const props = withConnectionIds(wanted.props ?? {}, ids.connections);
      const problems = () => propProblems(client, at, wanted.props ?? {}, component);
      if (!row) {
        const fields = [...componentFields(shown), ...fieldChanges(compare(wanted, shown))];
        const apply = async () => {
          const configured_props = madeConnectionIds(props, ids.connections);
          const { naming } = await savedComponent(component, tools);
          return create(client, name, wanted, { ...naming, configured_props });
        };
        return { fields, apply, problems };
      }
      const current = await whole(client, row);
      const { component_id, ...has } = present(current);
      const before = await findComponent(client, component_id);
      const isSame = isSameComponent(component, component_id, before);
      const known = withMadeProps(before, has);
      const given = { wanted: props, raw: shown.props ?? {} };
      const differing = await tools.differing((current as { id: string }).id, givenSecrets(props, has));
      const { changes, left } = compareProps(given, has, known, differing);
      const apply = async () => {
        const made = madeConnectionIds(props, ids.connections);
        const next = isSame ? null : await savedComponent(component, tools);
        const configured_props = changedProps(made, left, next?.saved ?? known);
        return update(client, current, wanted, { ...next?.naming, configured_props });
      };
      const fields = [
        ...(isSame ? [] : [componentField(shown)]),
        ...changes,
        ...fieldChanges(compare(wanted, shown, current)),
      ];
      return { fields, apply, problems };
    },
  };
}

/** Returns the fields of a plan that show a component and its props as the file has them. */
const componentFields = (shown: DeclaredComponent): FieldChange[] => [
  componentField(shown),
  ...Object.entries(shown.props ?? {}).map(([prop, to]) => ({ field: `props.${prop}`, to })),
];

const componentField = ({ file, url, component }: DeclaredComponent): FieldChange => ({
  field: "component",
  to: file ?? url ?? component,
});

/**
 * Returns the component that a source or an action is to have: a saved one, or the hash of its files, which a saved one has
 * too. Nothing is saved yet. Throws AppError `invalid` for what can't be read, and the client's `not-found` for an id or key.
 */
export async function wantedComponent(
  { file, url, component }: DeclaredComponent,
  { client, egress, path }: { client: Headwater; egress: Egress; path: string },
): Promise<WantedComponent> {
  if (component !== undefined) {
    const saved = await client.components.get(component);
    return { saved, naming: component === saved.id ? { component_id: saved.id } : { key: component } };
  }
  const location = url ?? resolve(dirname(path), file ?? "");
  const loader = url === undefined ? fromFile(location) : fromUrl(url, egress);
  const { hash, entry, modules } = await readModuleGraph(loader);
  return { hash, location, code: modules.size === 1 ? entry.source.text : null };
}

/** Returns the component, which is saved now unless it was, and what names it in a request. */
async function savedComponent(
  component: WantedComponent,
  { save }: Pick<Tools, "save">,
): Promise<{ saved: SavedComponent; naming: Naming }> {
  if ("saved" in component) return component;
  const saved = await save(component.location);
  return { saved, naming: { component_id: saved.id } };
}

/** Whether the component with this id is the wanted one; `known` is null if the server does not show it. */
const isSameComponent = (
  component: WantedComponent,
  id: string,
  known: Schemas["Component"] | null,
): boolean => ("saved" in component ? component.saved.id === id : component.hash === known?.code_hash);

/** Returns a component that is in use. Null for one that another account has, or that is gone. */
async function findComponent(client: Headwater, id: string): Promise<Schemas["Component"] | null> {
  try {
    return await client.components.get(id);
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}
