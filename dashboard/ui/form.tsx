import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { Prose } from "./prose";

/** Fields below each other. Sending them calls `onSend` in place of a request by the browser. */
export const Form = ({ onSend, children }: { onSend: () => Promise<void>; children: ComponentChildren }) => (
  <form
    class="form"
    onSubmit={event => {
      event.preventDefault();
      void onSend();
    }}
  >
    {children}
  </form>
);

/** What was wrong with a field, as a sentence with its label; gone as soon as its value is another. */
export function useFault(label: string, fault: string | undefined, value: unknown): string | undefined {
  const now = JSON.stringify(value ?? null);
  const given = useRef({ fault: undefined as string | undefined, value: now });
  if (given.current.fault !== fault) given.current = { fault, value: now };
  if (fault === undefined || given.current.value !== now) return undefined;
  if (!/^[a-z[]/.test(fault)) return fault;
  return `${label.replace(/ \(optional\)$/, "")} ${fault}${/[.!?]$/.test(fault) ? "" : "."}`;
}

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  fault?: string | undefined;
  /** The fault is that of this value. */
  value?: unknown;
  children: (props: {
    id: string;
    "aria-describedby": string;
    "aria-invalid"?: boolean;
  }) => ComponentChildren;
}

/** A labelled field with its hint and its fault. */
export function Field({ label, hint, fault: given, value, children }: FieldProps) {
  const id = useId();
  const fault = useFault(label, given, value);
  const about = `${id}-about`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": about, ...(fault && { "aria-invalid": true }) })}
      <div id={about}>
        {hint && <div class="hint">{typeof hint === "string" ? <Prose text={hint} /> : hint}</div>}
        {fault && <div class="fault">{fault}</div>}
      </div>
    </div>
  );
}

export interface TextProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: ComponentChildren;
  fault?: string | undefined;
  placeholder?: string | undefined;
  type?: "text" | "password" | "number" | "url" | "email";
  autocomplete?: string;
  isLong?: boolean;
  rows?: number;
  isRequired?: boolean;
  /** Why the browser must not send a form with this text; "" if it may. */
  invalid?: string;
}

export const TextField = ({
  label,
  hint,
  fault,
  value,
  onInput,
  isLong,
  isRequired = false,
  invalid = "",
  rows,
  type = "text",
  placeholder,
  autocomplete,
}: TextProps) => (
  // What the browser says of a text changes with each key.
  <Field label={label} hint={hint} fault={invalid || fault} value={invalid ? invalid : value}>
    {props =>
      isLong ? (
        <textarea
          {...props}
          ref={field => field?.setCustomValidity(invalid)}
          class="textarea"
          rows={rows ?? 5}
          spellcheck={false}
          value={value}
          placeholder={placeholder}
          onInput={event => onInput(event.currentTarget.value)}
        />
      ) : (
        <input
          {...props}
          // The types of Preact divide inputs by a type that is known.
          type={type as "text"}
          placeholder={placeholder}
          autocomplete={autocomplete}
          class="input"
          required={isRequired}
          value={value}
          onInput={event => onInput(event.currentTarget.value)}
        />
      )
    }
  </Field>
);

export interface Choice {
  value: string;
  label: string;
}

interface SelectProps {
  label: string;
  value: string;
  choices: Choice[];
  onChange: (value: string) => void;
  /** Shows the label to screen readers only. */
  isBare?: boolean;
  hint?: ComponentChildren;
  fault?: string | undefined;
}

export function Select({ label, value, choices, onChange, isBare, hint, fault }: SelectProps) {
  const options = choices.map(choice => (
    <option key={choice.value} value={choice.value}>
      {choice.label}
    </option>
  ));
  const change = ({ currentTarget: select }: { currentTarget: HTMLSelectElement }) => {
    const chosen = select.value;
    // It shows another choice once that is the value, which may be asked about first.
    select.value = value;
    onChange(chosen);
  };
  if (isBare) {
    return (
      <select class="select" aria-label={label} value={value} onChange={change}>
        {options}
      </select>
    );
  }
  return (
    <Field label={label} hint={hint} fault={fault} value={value}>
      {props => (
        <select {...props} class="select" value={value} onChange={change}>
          {options}
        </select>
      )}
    </Field>
  );
}

export const Check = ({
  label,
  isOn,
  onChange,
}: {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}) => (
  <label class="check">
    <input type="checkbox" checked={isOn} onChange={event => onChange(event.currentTarget.checked)} />
    <span>{label}</span>
  </label>
);

/** A value that can't be changed here. */
export const FixedField = ({ label, value }: { label: string; value: unknown }) => (
  <Field label={label} hint="Fixed by the code.">
    {props => (
      <input
        {...props}
        class="input"
        disabled
        value={typeof value === "string" ? value : JSON.stringify(value)}
      />
    )}
  </Field>
);
