import { useState } from "preact/hooks";
import type { Selection } from "./table";

/**
 * Which of the shown rows are selected: what something is done to is what its reader sees. A row that leaves the page, by another page or
 * because it moved on, is selected no more.
 */
export function useSelection<Row extends { id: string }>(
  shown: Row[] | undefined,
): Selection & { rows: Row[]; clear: () => void } {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const rows = (shown ?? []).filter(({ id }) => ids.has(id));
  return {
    rows,
    has: id => ids.has(id),
    set: (those, isOn) => {
      const others = rows.map(({ id }) => id).filter(id => !those.includes(id));
      setIds(new Set(isOn ? [...others, ...those] : others));
    },
    clear: () => setIds(new Set()),
  };
}
