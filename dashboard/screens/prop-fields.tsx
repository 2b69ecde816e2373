import { useId, useState } from "preact/hooks";
import { Check, type Choice, TextField, useFault } from "../ui/form";
import { OutsideLink, Prose } from "../ui/prose";

interface FieldProps {
  label: string;
  hint?: string | undefined;
  value: unknown;
  fault: string | undefined;
  onChange: (value: unknown) => void;
}

/** Several of the options; a value that is set and is no option any more can be unchecked. */
export function ChecksField({
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

export function LinesField({ label, hint, value, fault, onChange }: FieldProps) {
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
export function JsonField({
  label,
  hint,
  value,
  initial,
  fault,
  onChange,
}: FieldProps & { initial?: unknown }) {
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
export const secretState = (isSet: boolean): string =>
  isSet ? "Set, and never shown; leave this empty to keep it." : "Not set. Stored encrypted, never shown.";

/** Where the vendor shows its keys. */
export interface KeyLink {
  label: string;
  url: string;
}

interface SecretFieldProps extends FieldProps {
  isSet: boolean;
  isRemovable: boolean;
  where: KeyLink | null;
}

export function SecretField(props: SecretFieldProps) {
  const { label, hint, value, fault, isSet, isRemovable, where, onChange } = props;
  const isRemoved = isSet && value === null;
  const state = isRemoved ? "Removed when this is saved." : secretState(isSet);
  return (
    <>
      <TextField
        label={label}
        hint={
          <>
            <Prose text={hint ? `${hint} ${state}` : state} />
            {where && (
              <div>
                Where is it? <OutsideLink {...where} />
              </div>
            )}
          </>
        }
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
