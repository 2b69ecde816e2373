import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button } from "../ui/basics";
import { TextField } from "../ui/form";

interface TemplateFieldProps {
  label: string;
  hint: string | undefined;
  value: unknown;
  fault: string | undefined;
  onChange: (value: unknown) => void;
  /** The field of a value that is the same for every event. */
  otherwise: ComponentChildren;
}

const isTemplate = (value: unknown): value is string => typeof value === "string" && value.includes("{{");

/** A value, or a text that names values of the event in place of it (docs/actions.md#templates). */
export function TemplateField({ label, hint, value, fault, onChange, otherwise }: TemplateFieldProps) {
  const [isChosen, setChosen] = useState(false);
  const isFromEvent = isChosen || isTemplate(value);
  /** What the other of the two fields had. */
  const other = useRef<unknown>(null);
  const change = () => {
    const before = value ?? null;
    setChosen(!isFromEvent);
    onChange(other.current);
    other.current = before;
  };
  const word = isFromEvent ? "The same for every event" : "From the event";
  return (
    <div class="stack tight">
      {isFromEvent ? (
        <TextField
          label={label}
          hint={`${hint ? `${hint} ` : ""}A value of the event, such as {{event.id}}.`}
          fault={fault}
          placeholder="{{event.id}}"
          value={typeof value === "string" ? value : ""}
          onInput={text => onChange(text === "" ? null : text)}
        />
      ) : (
        otherwise
      )}
      <div>
        <Button isSmall kind="ghost" label={`${word}: ${label}`} onClick={change}>
          {word}
        </Button>
      </div>
    </div>
  );
}
