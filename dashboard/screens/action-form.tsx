import { useMemo, useState } from "preact/hooks";
import { messageOf, type Schemas } from "../api/client";
import { readComponent } from "../api/code";
import { askAction, askComponent } from "../api/configure";
import { useEdits } from "../api/edits";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { orgId } from "../lib/shown-account";
import { Button, Notice } from "../ui/basics";
import { type Choice, Select, TextField } from "../ui/form";
import { faultsOf } from "../ui/form-fault";
import { Loaded } from "../ui/states";
import { ComponentFields, type Deployed, NOT_DEPLOYED, useComponentForm } from "./component-form";
import { propFaults } from "./prop-form";

/** As a response shows the settings of an action. */
export type StoredAction = { component_id: string } & Partial<{
  configured_props: Record<string, unknown>;
  secrets_set: string[];
  dynamic_props_id: string | null;
  dynamic_props: Schemas["ConfigurableProp"][];
}>;

/** A destination that runs an action, as it is stored. */
interface StoredActionOf {
  id: string;
  action: StoredAction;
}

const propsOf = (stored: StoredActionOf | null) => stored?.action.configured_props ?? {};
const componentOf = (stored: StoredActionOf | null) => ({ component_id: stored?.action.component_id ?? "" });

/** The form of an action: which component it runs, and with which props. `stored` is the action that is changed. */
export function useActionForm(stored: StoredActionOf | null) {
  const before = stored?.action;
  const own = useEdits(stored, componentOf);
  const props = useEdits(stored, propsOf);
  const componentId = String(own.values.component_id);
  const resource = useResource(
    call => (componentId === "" ? Promise.resolve(undefined) : readComponent(componentId, call)),
    [componentId],
  );
  // While another one is loaded, the last is kept.
  const component = resource.data?.id === componentId ? resource.data : undefined;
  const isSame = before?.component_id === componentId;
  const asker = useMemo(
    () => (stored && isSame ? askAction(stored.id) : askComponent(componentId)),
    [stored?.id, isSame, componentId],
  );
  const deployed: Deployed = {
    values: before?.configured_props ?? {},
    // Another component gets none of them.
    secrets: (isSame && before?.secrets_set) || [],
    dynamicPropsId: (isSame && before?.dynamic_props_id) || null,
    dynamicProps: (isSame && before?.dynamic_props) || [],
  };
  const form = useComponentForm(component, asker, props, before ? deployed : NOT_DEPLOYED);
  return {
    componentId,
    resource,
    choose: (id: string) => own.set("component_id", id),
    component,
    form,
    deployed: before && deployed,
    /** The secrets that stay with the component before. */
    left: isSame ? [] : (before?.secrets_set ?? []),
    /** What is changed of a stored action. */
    edits: [own, props],
    labelOf: (name: string) => (name === "component_id" ? "Component" : form.labelOf(name)),
    /** Whether a field shows what is wrong with this path of a request. */
    isShown: (path: string) => path === "action.component_id" || form.isShown(path),
    /** The settings of a request: all of a new action, or what is changed of one. */
    settings: (): Record<string, unknown> =>
      before ? { ...own.changes, ...form.changes() } : { component_id: componentId, ...form.whole() },
  };
}

interface ActionFieldsProps {
  action: ReturnType<typeof useActionForm>;
  /** What the last request found wrong. */
  fault: unknown;
}

export function ActionFields({ action, fault }: ActionFieldsProps) {
  const { componentId, choose, component, resource, form, deployed, left } = action;
  const faults = propFaults(fault);
  return (
    <>
      <ComponentField
        value={componentId}
        name={component?.name}
        fault={faultsOf(fault)("action.component_id")}
        onChange={choose}
      />
      {left.length > 0 && (
        <p class="hint">
          Another component gets no secret of the one before. Enter again what it needs: {left.join(", ")}.
        </p>
      )}
      {componentId !== "" && (
        <Loaded resource={resource}>
          {found =>
            found === null ? (
              <p class="muted">This component belongs to another member of the organization.</p>
            ) : (
              component && (
                <ComponentFields
                  component={component}
                  form={form}
                  faults={faults}
                  {...(deployed && { deployed })}
                />
              )
            )
          }
        </Loaded>
      )}
    </>
  );
}

/** The newest; others are named by their id. */
const LISTED = { type: "action" as const, limit: 100, exclude: "code" };
const CODE = "code";
const OTHER = "other";

interface ComponentFieldProps {
  value: string;
  /** Of the chosen component, if it is known. */
  name: string | undefined;
  fault: string | undefined;
  onChange: (id: string) => void;
}

/** A component of type action: one of those that are saved, another by its id or key, or new code. */
function ComponentField({ value, name, fault, onChange }: ComponentFieldProps) {
  const found = useResource(call => inAccount().components.list(LISTED, call), [orgId.value]);
  const [typing, setTyping] = useState<typeof CODE | typeof OTHER | null>(null);
  const rows = found.data?.data ?? [];
  const isListed = rows.some(({ id }) => id === value);
  const choices: Choice[] = [
    { value: "", label: "Choose …" },
    ...rows.map(row => ({ value: row.id, label: `${row.name} ${row.version} (${row.id})` })),
    ...(value !== "" && !isListed ? [{ value, label: name ? `${name} (${value})` : value }] : []),
    { value: OTHER, label: "Another, by its id or key …" },
    { value: CODE, label: "New code …" },
  ];
  const use = (id: string) => {
    setTyping(null);
    onChange(id);
  };
  return (
    <>
      <Select
        label="Component"
        value={typing ?? value}
        choices={choices}
        onChange={id => (id === CODE || id === OTHER ? setTyping(id) : use(id))}
        fault={fault}
        hint={
          found.error === undefined
            ? "What each event runs: code of type action."
            : `The components can't be listed: ${messageOf(found.error)}`
        }
      />
      {typing === CODE && (
        <TypedComponent
          key={CODE}
          label="Code"
          action="Save the code"
          placeholder={'export default { name: "Note", version: "0.0.1", type: "action", … };'}
          isLong
          read={component_code => inAccount().components.create({ component_code })}
          onRead={({ id }) => {
            use(id);
            found.reload();
          }}
        />
      )}
      {typing === OTHER && (
        <TypedComponent
          key={OTHER}
          label="Id or key"
          action="Use it"
          placeholder="sc_…"
          read={idOrKey => inAccount().components.get(idOrKey)}
          onRead={({ id }) => use(id)}
        />
      )}
    </>
  );
}

interface TypedProps {
  label: string;
  action: string;
  placeholder: string;
  isLong?: boolean;
  read: (text: string) => Promise<Schemas["Component"]>;
  onRead: (component: Schemas["Component"]) => void;
}

function TypedComponent({ label, action, placeholder, isLong = false, read, onRead }: TypedProps) {
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const submit = async () => {
    setFault("");
    try {
      const component = await read(text.trim());
      if (component.type === "action") onRead(component);
      else setFault('This is a source: its code has no type: "action".');
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <div class="stack tight">
      <TextField
        label={label}
        isLong={isLong}
        rows={8}
        placeholder={placeholder}
        value={text}
        onInput={setText}
      />
      {fault && <Notice tone="bad">{fault}</Notice>}
      <div>
        <Button isSmall isDisabled={text.trim() === ""} onClick={submit}>
          {action}
        </Button>
      </div>
    </div>
  );
}
