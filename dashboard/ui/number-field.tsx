import { useState } from "preact/hooks";
import { TextField, type TextProps } from "./form";

const numberOf = (text: string): number | null => (text === "" ? null : Number(text));

/** A number, or null while the field is empty. What is typed stays as it is: `1.0` may become `1.05`. */
export function NumberField({
  value,
  onInput,
  ...props
}: Pick<TextProps, "label" | "hint" | "fault" | "placeholder"> & {
  value: number | null;
  onInput: (value: number | null) => void;
}) {
  const [typed, setTyped] = useState("");
  return (
    <TextField
      {...props}
      type="number"
      value={numberOf(typed) === value ? typed : String(value ?? "")}
      onInput={text => {
        setTyped(text);
        onInput(numberOf(text));
      }}
    />
  );
}
