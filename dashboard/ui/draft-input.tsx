import type { AllHTMLAttributes, JSX } from "preact";
import { useState } from "preact/hooks";

type Attributes = Omit<AllHTMLAttributes<HTMLInputElement>, "value" | "onChange" | "onInput">;

interface DraftInputProps extends Attributes {
  value: string;
  /** What the shown value means, if that is another text; what is typed lasts until this changes. */
  meaning?: string;
  /** Called with the field when it is left, or by Enter. */
  onCommit: (field: HTMLInputElement) => void;
  /** Called with the field at each change before that. */
  onType?: (field: HTMLInputElement) => void;
}

/**
 * A text field that keeps what is typed until it is committed, however often the page around it is drawn again. The draft
 * belongs to the value that it began from: an effect that removes it would come a frame late, and take what is typed by then.
 */
export function DraftInput({ value, meaning = value, onCommit, onType, ...attributes }: DraftInputProps) {
  const [draft, setDraft] = useState<{ of: string; text: string }>();
  return (
    <input
      {...(attributes as JSX.IntrinsicElements["input"])}
      value={draft?.of === meaning ? draft.text : value}
      onInput={event => {
        setDraft({ of: meaning, text: event.currentTarget.value });
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
