import type { Schemas } from "../api/client";
import { Check, type Choice, Select, TextField } from "../ui/form";
import { NumberField } from "../ui/number-field";
import { Prose } from "../ui/prose";
import { ChecksField, JsonField, LinesField } from "./prop-fields";
import { type Remote, RemoteField } from "./remote-choices";

export type Prop = Schemas["ConfigurableProp"];

export interface ValueProps {
  prop: Prop;
  value: unknown;
  fault: string | undefined;
  remote?: Remote | undefined;
  onChange: (value: unknown) => void;
}

/** Whether every text is a value of the prop, a template too. */
export const isAnyText = (prop: Prop): boolean =>
  prop.type === "string" && !Array.isArray(prop.options) && prop.remote_options !== true;

/** A value that is neither a secret nor made by the server. */
export function ValueField({ prop, value, fault, remote, onChange }: ValueProps) {
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

export const labelOf = (prop: Prop): string =>
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

/** The options of a prop, each with its value as JSON; null if any value will do. */
function choicesOf({ options }: Prop): Choice[] | null {
  if (!Array.isArray(options)) return null;
  return options.map(one => {
    const isPair = typeof one === "object" && one !== null;
    const { label, value } = (isPair ? one : { value: one }) as { label?: string; value: unknown };
    return { value: JSON.stringify(value), label: label ?? String(value) };
  });
}
