import { useEffect, useId } from "preact/hooks";
import { loadAllNames, loadNames, nameOf, names } from "../api/names";
import { DraftInput } from "./draft-input";

interface ThingFieldProps {
  /** The beginnings of ids that may be chosen. */
  kinds: ("dc" | "p" | "wh" | "ds" | "ac")[];
  value: string;
  onChange: (id: string) => void;
  /** Ids that are not things, such as `dc_*`. */
  also?: string[];
  placeholder?: string;
  id?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
}

/** Chosen by its name or by its id; an id need not be among those that are known. */
export function ThingField({ kinds, value, onChange, also = [], ...attributes }: ThingFieldProps) {
  const list = useId();
  useEffect(loadNames, []);
  const isId = (text: string) => also.includes(text) || kinds.some(kind => text.startsWith(`${kind}_`));
  const known = [...Object.keys(names.value).filter(isId), ...also];
  const labels = labelled(known);
  const choose = (field: HTMLInputElement) => {
    const text = field.value.trim();
    const id = text === "" || isId(text) ? text : labels.find(([, label]) => label === text)?.[0];
    field.setCustomValidity(
      id === undefined ? "Nothing has this name: choose from the list, or enter an id." : "",
    );
    if (id !== undefined) onChange(id);
    else field.reportValidity();
  };
  return (
    <>
      <DraftInput
        {...attributes}
        class="input"
        list={list}
        autocomplete="off"
        spellcheck={false}
        meaning={value}
        value={value === "" ? "" : (labels.find(([id]) => id === value)?.[1] ?? value)}
        onType={field => {
          field.setCustomValidity("");
          loadAllNames();
        }}
        onCommit={choose}
      />
      <datalist id={list}>
        {labels.map(([id, label]) => (
          <option key={id} value={label}>
            {label.includes(id) ? "" : id}
          </option>
        ))}
      </datalist>
    </>
  );
}

/** Each id with its name; with both where several things have the name. */
function labelled(ids: string[]): [string, string][] {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(nameOf(id), (counts.get(nameOf(id)) ?? 0) + 1);
  return ids.map(id => [id, (counts.get(nameOf(id)) ?? 0) > 1 ? `${nameOf(id)} (${id})` : nameOf(id)]);
}
