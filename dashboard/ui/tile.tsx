import type { ComponentChildren } from "preact";

interface TileProps {
  label: string;
  value: string;
  note?: string | undefined;
  children?: ComponentChildren;
}

/** A number that is seen from afar, with a note or a small chart below it. */
export const Tile = ({ label, value, note, children }: TileProps) => (
  <div class="card tile">
    <div class="label">{label}</div>
    <div class="value">{value}</div>
    {note && <div class="note">{note}</div>}
    {children}
  </div>
);
