import { useId } from "preact/hooks";
import { DraftInput } from "./draft-input";
import { type Choice, Field } from "./form";

interface NamedChoiceProps {
  label: string;
  value: string;
  choices: Choice[];
  onChange: (value: string) => void;
  hint?: string | undefined;
  fault?: string | undefined;
  placeholder?: string;
}

/** One of many choices, found by typing a part of its name; empty for none. Its value may be typed too. */
export function NamedChoice({
  label,
  value,
  choices,
  onChange,
  hint,
  fault,
  placeholder = "",
}: NamedChoiceProps) {
  const list = useId();
  const commit = (field: HTMLInputElement) => {
    const text = field.value.trim().toLowerCase();
    const found = choices.find(one => one.label.toLowerCase() === text || one.value === text);
    const isUnknown = text !== "" && !found;
    field.setCustomValidity(isUnknown ? "There is no such choice: take one from the list." : "");
    if (isUnknown) field.reportValidity();
    else onChange(found?.value ?? "");
  };
  return (
    <Field label={label} hint={hint} fault={fault} value={value}>
      {props => (
        <>
          <DraftInput
            {...props}
            class="input"
            list={list}
            autocomplete="off"
            spellcheck={false}
            placeholder={placeholder}
            meaning={value}
            value={choices.find(one => one.value === value)?.label ?? value}
            onType={field => {
              field.setCustomValidity("");
              // The list enters a whole name at once.
              const chosen = choices.find(one => one.label === field.value);
              if (chosen) onChange(chosen.value);
            }}
            onCommit={commit}
            onKeyDown={event => {
              if (event.key !== "Enter") return;
              // Of the form it is not: what it chooses changes its fields.
              event.preventDefault();
              commit(event.currentTarget);
            }}
          />
          <datalist id={list}>
            {choices.map(one => (
              <option key={one.value} value={one.label} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
