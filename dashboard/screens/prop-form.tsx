import { ApiError } from "../api/client";
import type { Values } from "../api/configure";
import { isViewer } from "../api/session";
import { Copyable, Notice } from "../ui/basics";
import { FixedField } from "../ui/form";
import { Prose } from "../ui/prose";
import { AccountField } from "./account-field";
import { JsonField, type KeyLink, SecretField, secretState } from "./prop-fields";
import { isAnyText, labelOf, type Prop, ValueField, type ValueProps } from "./prop-value";
import type { Remote } from "./remote-choices";
import { TemplateField } from "./template-field";
import { FixedTimer, TimerField } from "./timer-field";

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
  /** Where the vendor shows the keys that its secrets are. */
  keyLink?: KeyLink | null;
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

/** The name of the prop that a path of a request is of; those of an action are below `action`. */
const propAt = (path: string): string | undefined =>
  /^(?:action\.)?configured_props\.([^.]+)/.exec(path)?.[1];

/** Whether the form of these props has a field for this path of a request. */
export const hasField = (props: Prop[], path: string): boolean => {
  const name = propAt(path);
  return props.some(prop => prop.name === name && isField(prop));
};

/** Faults of a response by the name of the prop. */
export function propFaults(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.errors.flatMap(({ path, message }) => {
      const name = propAt(path);
      return name === undefined ? [] : [[name, message]];
    }),
  );
}

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
  keyLink = null,
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
        keyLink={keyLink}
        hasTemplates={hasTemplates}
        onChange={value => onChange(prop.name, value)}
      />
    ))}
  </>
);

interface PropFieldProps extends ValueProps {
  stored: Stored | null;
  keyLink: KeyLink | null;
  hasTemplates: boolean;
}

function PropField(props: PropFieldProps) {
  const { prop, value, fault, stored, remote, keyLink, hasTemplates, onChange } = props;
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
          <span class="hint">
            {isViewer.value ? "Viewers do not see its address." : "Its address is made when it is deployed."}
          </span>
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
        where={keyLink}
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

/** What credentials an app's prop has: of a source with a connection, those of the connection. */
const credentialsState = (isSet: boolean, stored: unknown): string =>
  stored === undefined || stored === null
    ? secretState(isSet)
    : "A connection is set, which they replace. Stored encrypted, never shown.";
