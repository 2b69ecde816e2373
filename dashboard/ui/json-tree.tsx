import { useState } from "preact/hooks";

/** So many entries of an object or a list are shown at first. */
const SHOWN = 50;
const LONG_TEXT = 2000;

interface NodeProps {
  name?: string;
  value: unknown;
  depth: number;
}

/** A JSON value as a tree that opens and closes. All of it is text: values come from strangers. */
export const JsonTree = ({ value }: { value: unknown }) => (
  <div class="json">
    <Node value={value} depth={0} />
  </div>
);

function Node({ name, value, depth }: NodeProps) {
  const [isOpen, setOpen] = useState(depth < 2);
  const label = name !== undefined && <span class="key">{name}: </span>;
  if (typeof value !== "object" || value === null) {
    return (
      <div>
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  const size = isList ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0) {
    return (
      <div>
        {label}
        <span class="count">{isList ? "[]" : "{}"}</span>
      </div>
    );
  }
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? "Close" : "Open"} ${name ?? "value"}`}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? "▾" : "▸"}
      </button>
      {label}
      <span class="count">{size}</span>
      {isOpen && <Entries entries={entries} depth={depth} />}
    </div>
  );
}

function Entries({ entries, depth }: { entries: [string, unknown][]; depth: number }) {
  const [shown, setShown] = useState(SHOWN);
  return (
    <ul>
      {entries.slice(0, shown).map(([key, inner]) => (
        <li key={key}>
          <Node name={key} value={inner} depth={depth + 1} />
        </li>
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" onClick={() => setShown(shown + 10 * SHOWN)}>
            {entries.length - shown} more …
          </button>
        </li>
      )}
    </ul>
  );
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value === "number") return <span class="number">{value}</span>;
  if (typeof value !== "string") return <span class="word">{String(value)}</span>;
  const isCut = value.length > LONG_TEXT && !isWhole;
  return (
    <>
      <span class="string">{JSON.stringify(isCut ? value.slice(0, LONG_TEXT) : value)}</span>
      {isCut && (
        <button type="button" onClick={() => setWhole(true)}>
          … {value.length - LONG_TEXT} more characters
        </button>
      )}
    </>
  );
}
