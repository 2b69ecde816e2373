import { useMemo, useState } from "preact/hooks";
import { ApiError, headwater, messageOf } from "../api/client";
import { askSource, type Values } from "../api/configure";
import { useResource } from "../api/resource";
import { readComponent } from "../api/source";
import { Button, Card, Notice } from "../ui/basics";
import { TextField } from "../ui/form";
import { Loaded } from "../ui/states";
import { toast } from "../ui/toasts";
import { differing } from "./component-form";
import { known, MadeState, useMadeProps } from "./made-props";
import { PropForm } from "./prop-form";
import { DeleteSource, type SourceResource } from "./source";

/** Faults of a response by the name of the prop; of an action, its fields are below `action`. */
export function propFaults(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.errors.map(({ path, message }) => [
      path.replace(/^(action\.)?(configured_props\.)?/, "").split(".")[0] ?? "",
      message,
    ]),
  );
}

/** The configuration of a source as a form made from the props of its component. */
export function SourceSettings({ resource }: { resource: SourceResource }) {
  const source = resource.data;
  const component = useResource(
    call => readComponent(source?.component_id ?? "", call),
    [source?.component_id],
  );
  const [name, setName] = useState(source?.name ?? "");
  const [changed, setChanged] = useState<Values>({});
  const [fault, setFault] = useState<unknown>();
  const asker = useMemo(() => askSource(source?.id ?? ""), [source?.id]);
  const values = { ...source?.configured_props, ...changed };
  const made = useMadeProps(
    component.data?.configurable_props ?? [],
    values,
    component.data?.additional_props ? asker : null,
    { id: source?.dynamic_props_id ?? null, props: source?.dynamic_props ?? [] },
  );
  if (!source) return null;
  const save = async () => {
    setFault(undefined);
    try {
      const body = {
        ...(name !== source.name && { name }),
        ...(Object.keys(changed).length > 0 && { configured_props: known(changed, made.props) }),
        ...(made.id && made.id !== source.dynamic_props_id && { dynamic_props_id: made.id }),
        active: source.active,
      };
      await headwater.sources.update(source.id, body);
      resource.put(await headwater.sources.get(source.id));
      // What was typed while it was saved is still to be saved.
      setChanged(latest => differing(latest, changed));
      toast("Saved; the source was activated again.", "good");
    } catch (error) {
      setFault(error);
    }
  };
  const faults = propFaults(fault);
  return (
    <div class="stack">
      <Card title="Configuration">
        <form
          class="form"
          onSubmit={event => {
            event.preventDefault();
            void save();
          }}
        >
          {fault !== undefined && <Notice tone="bad">{messageOf(fault)}</Notice>}
          <TextField label="Name" value={name} onInput={setName} fault={faults.name} isRequired />
          <Loaded resource={component}>
            {found =>
              found === null ? (
                <p class="muted">Its component belongs to another member of the organization.</p>
              ) : (
                <PropForm
                  props={made.props}
                  values={values}
                  remote={{
                    asker,
                    soFar: { values: known(changed, made.props), dynamicPropsId: made.id },
                  }}
                  faults={faults}
                  stored={{
                    secrets: source.secrets_set,
                    values: source.configured_props,
                    nextTickMs: source.next_tick_at_ms,
                  }}
                  onChange={values => setChanged(differing(values, source.configured_props))}
                />
              )
            }
          </Loaded>
          {component.data?.additional_props && <MadeState made={made} />}
          <div>
            <Button type="submit" kind="primary">
              Save
            </Button>
          </div>
        </form>
      </Card>
      <Card title="Delete">
        <div class="spread">
          <span class="muted">A deleted source can't be brought back.</span>
          <DeleteSource source={source} />
        </div>
      </Card>
    </div>
  );
}
