import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useReloadSoon } from "../api/fresh";
import { useLive } from "../api/live";
import { type Resource, useResource } from "../api/resource";
import { type Kind, kindOf, readSummaries, type Summary } from "../api/source";

/** Rows are drawn this often while events stream in, however many arrive. */
const DRAW_MS = 200;
/** Of each kind, so that a chatty log hides no error. The API keeps the last 100 of each; older rows leave the page. */
const KEPT = 150;
/** Further down than this, a reader is reading: rows stay where they are. */
const SCROLLED_PX = 160;

export interface LiveRows {
  rows: Summary[];
  /** What the server keeps: read at first, and each time that the stream begins. */
  stored: Resource<Summary[]>;
  /** How many arrived while the list stood still. */
  waiting: number;
  isPaused: boolean;
  setPaused: (isPaused: boolean) => void;
  /** Takes rows away that were deleted. */
  remove: (isGone: (row: Summary) => boolean) => void;
}

const keyOf = (row: Summary) => `${row.metadata.name}\0${row.id}`;

/** The newest of both, each once, in the order of their times. */
function merge(newer: Iterable<Summary>, older: Iterable<Summary> = []): Summary[] {
  const byKey = new Map<string, Summary>();
  for (const row of [...newer, ...older]) if (!byKey.has(keyOf(row))) byKey.set(keyOf(row), row);
  const left = { emit: KEPT, error: KEPT, log: KEPT };
  return [...byKey.values()].sort(byTime).filter(row => left[kindOf(row)]-- > 0);
}

function byTime(a: Summary, b: Summary): number {
  const [aMs = 0, aSequence = 0] = a.id.split("-").map(Number);
  const [bMs = 0, bSequence = 0] = b.id.split("-").map(Number);
  return bMs - aMs || bSequence - aSequence;
}

/** What has arrived and is not shown yet: each row once, and no more than are ever shown. */
class Arrived {
  #rows = new Map<string, Summary>();
  #left = 0;

  /** Those included that are not held any more. */
  get count(): number {
    return this.#rows.size + this.#left;
  }

  add(row: Summary): void {
    this.#rows.set(keyOf(row), row);
    // Not for each row: it sorts them.
    if (this.#rows.size < 10 * KEPT) return;
    const kept = merge(this.#rows.values());
    this.#left += this.#rows.size - kept.length;
    this.#rows = new Map(kept.map(one => [keyOf(one), one]));
  }

  /** Returns what is held, and holds nothing from then on. */
  clear(): Summary[] {
    const rows = [...this.#rows.values()];
    this.#rows.clear();
    this.#left = 0;
    return rows;
  }
}

/**
 * What an emitter keeps of these kinds, and what happens from then on; the list stands still while it is paused or
 * scrolled. Nothing is missing that was emitted while the tab was hidden. `isWhole`: stored events are not cut.
 */
export function useLiveRows(emitterId: string, kinds: Kind[], isWhole = false): LiveRows {
  const stored = useResource(
    async call => {
      const query = isWhole ? { expand: "event" as const } : {};
      return (await Promise.all(kinds.map(kind => readSummaries(emitterId, kind, query, call)))).flat();
    },
    [emitterId],
  );
  const soon = useReloadSoon(stored);
  const [rows, setRows] = useState<Summary[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [isPaused, setPaused] = useState(false);
  const arrived = useRef(new Arrived());
  const shown = useRef(new Set<string>());
  shown.current = useMemo(() => new Set(rows.map(keyOf)), [rows]);
  const paused = useRef(false);
  paused.current = isPaused;
  const standsStill = () => paused.current || scrollY > SCROLLED_PX;
  const hold = (row: Summary) => shown.current.has(keyOf(row)) || arrived.current.add(row);
  useEffect(() => {
    const draw = setInterval(() => {
      const { count } = arrived.current;
      if (count === 0) return;
      if (standsStill()) return setWaiting(count);
      const newer = arrived.current.clear();
      setWaiting(0);
      setRows(last => merge(newer, last));
    }, DRAW_MS);
    return () => clearInterval(draw);
  }, []);
  useLive(
    { emitters: [emitterId] },
    {
      onSummary: (kind, summary) =>
        kinds.includes(kind) && summary.metadata.emitter_id === emitterId && hold(summary),
      onReady: () => soon(),
    },
  );
  useEffect(() => {
    const { data } = stored;
    if (!data) return;
    // When the stream begins again while somebody reads, what is new waits like everything else.
    if (shown.current.size > 0 && standsStill()) for (const row of data) hold(row);
    else setRows(last => merge(data, last));
  }, [stored.data]);
  const remove = (isGone: (row: Summary) => boolean) => setRows(last => last.filter(row => !isGone(row)));
  return { rows, stored, waiting, isPaused, setPaused, remove };
}
