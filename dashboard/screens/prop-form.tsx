import { useId, useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import type { Values } from "../api/configure";
import { Copyable, Notice } from "../ui/basics";
import { Check, type Choice, FixedField, Select, TextField, useFault } from "../ui/form";
import { NumberField } from "../ui/number-field";
import { Prose } from "../ui/prose";
import { AccountField } from "./account-field";
import { type Remote, RemoteField } from "./remote-choices";
import { TemplateField } from "./template-field";
import { FixedTimer, TimerField } from "./timer-field";

type Prop = Schemas["ConfigurableProp"];

interface PropFormProps {
  props: Prop[];
  values: Values;
  onChange: (name: string, value: unknown) => void;
  /** Faults by the name of the prop. */
  faults: Record<string, string>;
  /** What the source or action has; null while it does not exist. */
  stored: Stored | null;
  /** Asks the component's code for choices; without it, any value is typed. */
  remote?: Remote | undefined;
  /** Values may be templates, as those of an action may (docs/actions.md#templates). */
  hasTemplates?: boolean;
}

interface Stored {
  /** Names of the props that have a secret. */
  secrets: string[];
  values: Values;
  nextTickMs: number | null;
}

/** What needs no value of the user's. */
const HIDDEN = new Set(["$.service.db"]);

const isField = (prop: Prop): boolean => !HIDDEN.has(prop.type) && prop.hidden !== true;

/** Whether the form of these props has a field for this path of a request. */
export const hasField = (props: Prop[], path: string): boolean => {
  const [, name] = /^(?:action\.)?configured_props\.([^.]+)/.exec(path) ?? [];
  return props.some(prop => prop.name === name && isField(prop));
};

export function propLabel(props: Prop[], name: string): string {
  const prop = props.find(one => one.name === name);
  return prop ? labelOf(prop) : name;
}

/** A form made from the props of a component (docs/component-api.md#props). */
export const PropForm = ({
  props,
  values,
  onChange,
  faults,
  stored,
  remote,
  hasTemplates = false,
}: PropFormProps) => (
  <>
    {props.filter(isField).map(prop => (
      <PropField
        key={prop.name}
        prop={prop}
        value={values[prop.name]}
        fault={faults[prop.name]}
        stored={stored}
        remote={remote}
        hasTemplates={hasTemplates}
        onChange={value => onChange(prop.name, value)}
      />
    ))}
  </>
);

interface ValueProps {
  prop: Prop;
  value: unknown;
  fault: string | undefined;
  remote?: Remote | undefined;
  onChange: (value: unknown) => void;
}

interface PropFieldProps extends ValueProps {
  stored: Stored | null;
  hasTemplates: boolean;
}

function PropField({ prop, value, fault, stored, remote, hasTemplates, onChange }: PropFieldProps) {
  const label = labelOf(prop);
  const hint = prop.description;
  if (prop.type === "alert") return <Alert prop={prop} />;
  if (prop.type === "$.interface.timer") {
    if (prop.static !== undefined) {
      return <FixedTimer label={label} value={prop.static} nextTickMs={stored?.nextTickMs ?? null} />;
    }
    const isStored = JSON.stringify(value) === JSON.stringify(stored?.values[prop.name]);
    return (
      <TimerField
        label={label}
        value={value ?? prop.default}
        fault={fault}
        nextTickMs={isStored ? (stored?.nextTickMs ?? null) : null}
        onChange={onChange}
      />
    );
  }
  if (prop.static !== undefined) return <FixedField label={label} value={prop.static} />;
  if (prop.type === "$.interface.http" || prop.type === "$.interface.apphook") {
    const url = (value as { endpoint_url?: string } | undefined)?.endpoint_url;
    return (
      <div class="field">
        <span class="label">{label}</span>
        {url ? (
          <Copyable text={url} label="endpoint address" />
        ) : (
          <span class="hint">Its address is made when it is deployed.</span>
        )}
        {prop.type === "$.interface.apphook" && (
          <span class="hint">The app sends its events there: give it the address as that of a webhook.</span>
        )}
      </div>
    );
  }
  if (prop.secret === true) {
    return (
      <SecretField
        label={label}
        hint={hint}
        value={value}
        fault={fault}
        isSet={stored?.secrets.includes(prop.name) ?? false}
        isRemovable={prop.optional === true}
        onChange={onChange}
      />
    );
  }
  if (prop.type === "app") {
    const isSet = stored?.secrets.includes(prop.name) ?? false;
    const { app } = prop as { app?: unknown };
    return (
      <AccountField
        label={label}
        hint={hint}
        app={typeof app === "string" ? app : undefined}
        value={value}
        isSet={isSet}
        fault={fault}
        onChange={onChange}
        free={
          <JsonField
            label={`${label}: credentials`}
            hint={`${credentialsState(isSet, stored?.values[prop.name])} As {"$auth": {…}}, or {"authProvisionId": "apn_…"}.`}
            value={value}
            fault={fault}
            onChange={onChange}
          />
        }
      />
    );
  }
  const field = <ValueField prop={prop} value={value} fault={fault} remote={remote} onChange={onChange} />;
  if (!hasTemplates || isAnyText(prop)) return field;
  return (
    <TemplateField
      label={label}
      hint={hint}
      value={value}
      fault={fault}
      onChange={onChange}
      otherwise={field}
    />
  );
}

/** Whether every text is a value of the prop, a template too. */
const isAnyText = (prop: Prop): boolean =>
  prop.type === "string" && !Array.isArray(prop.options) && prop.remote_options !== true;

/** A value that is neither a secret nor made by the server. */
function ValueField({ prop, value, fault, remote, onChange }: ValueProps) {
  const label = labelOf(prop);
  const hint = prop.description;
  const choices = choicesOf(prop);
  if (choices && prop.type.endsWith("[]")) {
    return (
      <ChecksField
        label={label}
        hint={hint}
        value={value ?? prop.default}
        fault={fault}
        choices={choices}
        onChange={onChange}
      />
    );
  }
  if (choices) {
    return (
      <Select
        label={label}
        hint={hint}
        fault={fault}
        value={JSON.stringify(value ?? prop.default) ?? ""}
        choices={[{ value: "", label: "Choose …" }, ...choices]}
        onChange={text => onChange(text === "" ? null : JSON.parse(text))}
      />
    );
  }
  if (prop.remote_options === true && remote) {
    return (
      <RemoteField
        key={prop.name}
        prop={prop}
        label={label}
        hint={hint}
        fault={fault}
        value={value ?? prop.default}
        remote={remote}
        onChange={onChange}
        free={<FreeField prop={prop} value={value} fault={fault} onChange={onChange} />}
      />
    );
  }
  return <FreeField prop={prop} value={value} fault={fault} onChange={onChange} />;
}

/** What interfaces are called that have no label. */
const INTERFACES: Record<string, string> = {
  "$.interface.http": "Endpoint",
  "$.interface.apphook": "Endpoint for the app's events",
  "$.interface.timer": "Timer",
};

const labelOf = (prop: Prop): string =>
  `${prop.label ?? INTERFACES[prop.type] ?? prop.name}${prop.optional === true ? " (optional)" : ""}`;

/** A field that takes any value of the prop's type. */
function FreeField({ prop, value, fault, onChange }: Omit<ValueProps, "remote">) {
  const label = labelOf(prop);
  const hint = prop.description;
  switch (prop.type) {
    case "string":
      return (
        <TextField
          label={label}
          hint={hint}
          fault={fault}
          value={typeof value === "string" ? value : ""}
          placeholder={typeof prop.default === "string" ? prop.default : ""}
          onInput={text => onChange(text === "" ? null : text)}
        />
      );
    case "integer":
      return (
        <NumberField
          label={label}
          hint={hint}
          fault={fault}
          value={typeof value === "number" ? value : null}
          placeholder={prop.default === undefined ? "" : String(prop.default)}
          onInput={onChange}
        />
      );
    case "boolean":
      return (
        <div class="field">
          <Check label={label} isOn={Boolean(value ?? prop.default)} onChange={onChange} />
          {hint && (
            <div class="hint">
              <Prose text={hint} />
            </div>
          )}
        </div>
      );
    case "string[]":
      return <LinesField label={label} hint={hint} value={value} fault={fault} onChange={onChange} />;
    default:
      return (
        <JsonField
          label={label}
          hint={hint ?? "JSON"}
          value={value}
          initial={prop.default}
          fault={fault}
          onChange={onChange}
        />
      );
  }
}

interface FieldProps {
  label: string;
  hint?: string | undefined;
  value: unknown;
  fault: string | undefined;
  onChange: (value: unknown) => void;
}

/** The options of a prop, each with its value as JSON; null if any value will do. */
function choicesOf({ options }: Prop): Choice[] | null {
  if (!Array.isArray(options)) return null;
  return options.map(one => {
    const isPair = typeof one === "object" && one !== null;
    const { label, value } = (isPair ? one : { value: one }) as { label?: string; value: unknown };
    return { value: JSON.stringify(value), label: label ?? String(value) };
  });
}

/** Several of the options; a value that is set and is no option any more can be unchecked. */
function ChecksField({
  label,
  hint,
  value,
  choices,
  onChange,
  ...given
}: FieldProps & { choices: Choice[] }) {
  const about = useId();
  const fault = useFault(label, given.fault, value);
  const chosen = Array.isArray(value) ? value.map(one => JSON.stringify(one)) : [];
  const gone = chosen.filter(one => !choices.some(choice => choice.value === one));
  const all = [
    ...choices,
    ...gone.map(one => ({ value: one, label: `${String(JSON.parse(one))} (no option now)` })),
  ];
  const choose = (one: string, isOn: boolean) => {
    const next = all.map(choice => choice.value).filter(it => (it === one ? isOn : chosen.includes(it)));
    onChange(next.length > 0 ? next.map(it => JSON.parse(it)) : null);
  };
  return (
    <fieldset class="field checks" aria-describedby={about}>
      <legend>{label}</legend>
      {all.map(choice => (
        <Check
          key={choice.value}
          label={choice.label}
          isOn={chosen.includes(choice.value)}
          onChange={isOn => choose(choice.value, isOn)}
        />
      ))}
      <div id={about}>
        {hint && (
          <div class="hint">
            <Prose text={hint} />
          </div>
        )}
        {fault && <div class="fault">{fault}</div>}
      </div>
    </fieldset>
  );
}

const ALERT_TONES = { warning: "warn", error: "bad", info: "info", neutral: "info" } as const;

/** A word of the component's author to who fills in the form; a stranger's text. */
function Alert({ prop }: { prop: Prop }) {
  const { alertType, content } = prop as { alertType?: unknown; content?: unknown };
  if (typeof content !== "string" || content === "") return null;
  return (
    <Notice tone={ALERT_TONES[alertType as keyof typeof ALERT_TONES] ?? "info"}>
      <Prose text={content} />
    </Notice>
  );
}

/** A text from which a value is read: it is shown as it was typed, until the value becomes another one from outside. */
function useTyped(value: unknown, textOf: (value: unknown) => string) {
  const [typed, setTyped] = useState<{ text: string; value: string }>();
  const now = JSON.stringify(value ?? null);
  return {
    text: typed?.value === now ? typed.text : textOf(value),
    type: (text: string, read: unknown) => setTyped({ text, value: JSON.stringify(read ?? null) }),
  };
}

const linesOf = (value: unknown) => (Array.isArray(value) ? value.join("\n") : "");

function LinesField({ label, hint, value, fault, onChange }: FieldProps) {
  const { text, type } = useTyped(value, linesOf);
  return (
    <TextField
      label={label}
      hint={`${hint ? `${hint} ` : ""}One value per line.`}
      fault={fault}
      isLong
      rows={3}
      value={text}
      onInput={given => {
        const lines = given
          .split("\n")
          .map(one => one.trim())
          .filter(Boolean);
        const next = lines.length > 0 ? lines : null;
        type(given, next);
        onChange(next);
      }}
    />
  );
}

const NOT_JSON = "This is not JSON yet.";

/** `initial` is shown while there is no value. A text that is not JSON keeps its form from being sent. */
function JsonField({ label, hint, value, initial, fault, onChange }: FieldProps & { initial?: unknown }) {
  const { text, type } = useTyped(value, one => {
    const shown = one ?? initial ?? null;
    return shown === null ? "" : JSON.stringify(shown, null, 2);
  });
  const isJson = text.trim() === "" || isParsed(text);
  return (
    <TextField
      label={label}
      hint={hint}
      fault={fault}
      invalid={isJson ? "" : NOT_JSON}
      isLong
      rows={3}
      value={text}
      onInput={given => {
        if (given.trim() !== "" && !isParsed(given)) return type(given, value);
        const next: unknown = given.trim() === "" ? null : JSON.parse(given);
        type(given, next);
        onChange(next);
      }}
    />
  );
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a secret has a value is all that is shown of it. */
const secretState = (isSet: boolean): string =>
  isSet ? "Set, and never shown; leave this empty to keep it." : "Not set. Stored encrypted, never shown.";

/** What credentials an app's prop has: of a source with a connection, those of the connection. */
const credentialsState = (isSet: boolean, stored: unknown): string =>
  stored === undefined || stored === null
    ? secretState(isSet)
    : "A connection is set, which they replace. Stored encrypted, never shown.";

interface SecretFieldProps extends FieldProps {
  isSet: boolean;
  isRemovable: boolean;
}

function SecretField({ label, hint, value, fault, isSet, isRemovable, onChange }: SecretFieldProps) {
  const isRemoved = isSet && value === null;
  const state = isRemoved ? "Removed when this is saved." : secretState(isSet);
  return (
    <>
      <TextField
        label={label}
        hint={hint ? `${hint} ${state}` : state}
        fault={fault}
        type="password"
        autocomplete="off"
        placeholder={isSet && !isRemoved ? "••••••••" : "not set"}
        value={typeof value === "string" ? value : ""}
        onInput={text => onChange(text === "" ? undefined : text)}
      />
      {isSet && isRemovable && (
        <Check
          label={`Remove ${label.replace(/ \(optional\)$/, "")}`}
          isOn={isRemoved}
          onChange={isOn => onChange(isOn ? null : undefined)}
        />
      )}
    </>
  );
}
