import type { AllHTMLAttributes, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

type Attributes = Omit<AllHTMLAttributes<HTMLInputElement>, "value" | "onChange" | "onInput">;

interface DraftInputProps extends Attributes {
  value: string;
  /** Called with the field when it is left, or by Enter. */
  onCommit: (field: HTMLInputElement) => void;
  /** Called with the field at each change before that. */
  onType?: (field: HTMLInputElement) => void;
}

/** A text field that keeps what is typed until it is committed, however often the page around it is drawn again. */
export function DraftInput({ value, onCommit, onType, ...attributes }: DraftInputProps) {
  const [draft, setDraft] = useState<string>();
  useEffect(() => setDraft(undefined), [value]);
  return (
    <input
      {...(attributes as JSX.IntrinsicElements["input"])}
      value={draft ?? value}
      onInput={event => {
        setDraft(event.currentTarget.value);
        onType?.(event.currentTarget);
      }}
      onChange={event => {
        const field = event.currentTarget;
        onCommit(field);
        if (field.validity.valid) setDraft(undefined);
      }}
    />
  );
}
