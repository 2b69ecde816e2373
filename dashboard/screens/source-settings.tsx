import { useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { headwater } from "../api/client";
import { readComponent } from "../api/code";
import { askSource } from "../api/configure";
import { asRead, saveEdits, useEdits } from "../api/edits";
import { lossesOfSource } from "../api/losses";
import { useResource } from "../api/resource";
import { type SourceResource, updateSource } from "../api/source";
import { to } from "../lib/address";
import { endpointOf } from "../lib/interfaces";
import { Button, Card } from "../ui/basics";
import { Clashes } from "../ui/clashes";
import { Confirm } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { Loaded } from "../ui/states";
import { toast } from "../ui/toasts";
import { useUnsaved } from "../ui/unsaved";
import { DeleteQuestion } from "./delete-question";
import { GalleryUpdate } from "./gallery-update";
import { known, MadeState, useMadeProps } from "./made-props";
import { hasField, PropForm, propFaults, propLabel } from "./prop-form";
import { SourceVerify } from "./source-verify";

type Detail = NonNullable<SourceResource["data"]>;

const nameOf = ({ name }: Detail) => ({ name });
const propsOf = ({ configured_props }: Detail) => configured_props;

/** The configuration of a source as a form made from the props of its component. */
export const SourceSettings = ({ resource }: { resource: SourceResource }) =>
  resource.data && <Settings source={resource.data} resource={resource} />;

function Settings({ source, resource }: { source: Detail; resource: SourceResource }) {
  const component = useResource(call => readComponent(source.component_id, call), [source.component_id]);
  const own = useEdits(source, nameOf);
  const props = useEdits(source, propsOf);
  const { fault, faultOf, send } = useSending();
  const asker = useMemo(() => askSource(source.id), [source.id]);
  const made = useMadeProps(
    component.data?.configurable_props ?? [],
    props.values,
    component.data?.additional_props ? asker : null,
    { id: source.dynamic_props_id, props: source.dynamic_props ?? [] },
  );
  useUnsaved(own.isChanged || props.isChanged);
  const changed = known(props.changes, made.props);
  const save = () =>
    send(async () => {
      const isSaved = await saveEdits({
        resource,
        parts: [own, props],
        read: () => headwater.sources.get(source.id),
        write: now =>
          updateSource(
            now,
            {
              ...own.changes,
              ...(Object.keys(changed).length > 0 && { configured_props: changed }),
              ...(made.id && made.id !== source.dynamic_props_id && { dynamic_props_id: made.id }),
            },
            asRead(now),
          ),
      });
      if (isSaved) toast("Saved.", "good");
    });
  const faults = propFaults(fault);
  const labelOf = (name: string) => propLabel(made.props, name);
  return (
    <div class="stack">
      {component.data && <GalleryUpdate component={component.data} resource={resource} />}
      <Card title="Configuration">
        <Form onSend={save}>
          <FormFault fault={fault} isShown={path => path === "name" || hasField(made.props, path)} />
          <Clashes edits={own} stored={source} labelOf={() => "Name"} />
          <Clashes edits={props} stored={source} labelOf={labelOf} />
          <TextField
            label="Name"
            value={String(own.values.name)}
            onInput={name => own.set("name", name)}
            fault={faultOf("name")}
            isRequired
          />
          <Loaded resource={component}>
            {found =>
              found === null ? (
                <p class="muted">Its component belongs to another member of the organization.</p>
              ) : (
                <PropForm
                  props={made.props}
                  values={props.values}
                  remote={{ asker, soFar: { values: changed, dynamicPropsId: made.id } }}
                  faults={faults}
                  stored={{
                    secrets: source.secrets_set,
                    values: source.configured_props,
                    nextTickMs: source.next_tick_at_ms,
                  }}
                  onChange={props.set}
                />
              )
            }
          </Loaded>
          {component.data?.additional_props && <MadeState made={made} />}
          <div>
            <Button changes type="submit" kind="primary">
              Save
            </Button>
          </div>
        </Form>
      </Card>
      {(source.verify !== null || endpointOf(source.configured_props)) && (
        <SourceVerify source={source} resource={resource} props={component.data?.configurable_props ?? []} />
      )}
      {endpointOf(source.configured_props) && (
        <Card title="Endpoint">
          <div class="spread">
            <span class="muted">
              Replace the address if it is known to somebody who should not send to it.
            </span>
            <RotateEndpoint
              source={source}
              onChange={async () => resource.put(await headwater.sources.get(source.id))}
            />
          </div>
        </Card>
      )}
      <Card title="Delete">
        <div class="spread">
          <span class="muted">A deleted source can't be brought back.</span>
          <DeleteSource source={source} />
        </div>
      </Card>
    </div>
  );
}

/** Asks, and gives the source another endpoint. */
function RotateEndpoint({ source, onChange }: { source: Detail; onChange: () => Promise<void> }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button changes onClick={() => setAsking(true)}>
        Replace endpoint
      </Button>
      {isAsking && (
        <Confirm
          title={`Replace the endpoint of ${source.name}?`}
          action="Replace"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await headwater.sources.rotateEndpoint(source.id);
            await onChange();
          }}
        >
          <p>
            The old address ends at once. Give the new one to the sender, unless the component registers it by
            itself.
          </p>
        </Confirm>
      )}
    </>
  );
}

/** Asks, deletes the source, and goes back to the list. */
function DeleteSource({ source }: { source: Detail }) {
  const { route } = useLocation();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button changes kind="danger" icon="trash" onClick={() => setAsking(true)}>
        Delete source
      </Button>
      {isAsking && (
        <DeleteQuestion
          title={`Delete ${source.name}?`}
          losses={call => lossesOfSource(source.id, call)}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await headwater.sources.delete(source.id);
            toast(`${source.name} is deleted.`, "good");
            route(to("/sources"));
          }}
        >
          Its address, its memory (<code>db</code>) and its secrets can't be brought back; its component
          stays. To stop it for a while, switch it off.
        </DeleteQuestion>
      )}
    </>
  );
}
