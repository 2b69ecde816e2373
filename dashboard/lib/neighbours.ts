/** A subscription, as far as the map draws it. */
export interface Link {
  id: string;
  emitter_id: string;
  emitter_name?: string | null;
  listener_id: string;
  listener_name?: string | null;
  event_name: string;
  filter?: unknown;
  function_hash?: string;
}

/** A thing beside the chosen one, with all that connects the two. */
export interface Neighbour {
  id: string;
  name: string | null;
  links: Link[];
}

/** What is drawn on one side: things, and kinds of which there are too many to draw each. */
export type Box =
  | { type: "thing"; neighbour: Neighbour }
  | { type: "group"; kind: string; count: number; isOpen: boolean }
  /** Those of an open group that are not drawn. */
  | { type: "rest"; kind: string; count: number };

/** A side with more things is folded by kind. */
const MOST_UNFOLDED = 12;
/** A kind with fewer things is not folded: the fold would take as much room. */
const LEAST_FOLDED = 4;
/** Of an open group. */
const MOST_DRAWN = 40;

export const kindOf = (id: string): string => id.split("_")[0] ?? "";

/** The things at the other end of links, each once, in the order of their kinds and names. */
export function neighboursOf(links: Link[], end: "emitter" | "listener"): Neighbour[] {
  const found = new Map<string, Neighbour>();
  for (const link of links) {
    const [id, name] =
      end === "emitter" ? [link.emitter_id, link.emitter_name] : [link.listener_id, link.listener_name];
    const known = found.get(id) ?? { id, name: name ?? null, links: [] };
    known.links.push(link);
    found.set(id, known);
  }
  return [...found.values()].sort(
    (a, b) => kindOf(a.id).localeCompare(kindOf(b.id)) || (a.name ?? a.id).localeCompare(b.name ?? b.id),
  );
}

/** What is drawn of a side; `open` are the kinds that are unfolded. */
export function boxesOf(neighbours: Neighbour[], open: ReadonlySet<string>): Box[] {
  const thing = (neighbour: Neighbour): Box => ({ type: "thing", neighbour });
  if (neighbours.length <= MOST_UNFOLDED) return neighbours.map(thing);
  const kinds = [...new Set(neighbours.map(({ id }) => kindOf(id)))];
  return kinds.flatMap((kind): Box[] => {
    const own = neighbours.filter(({ id }) => kindOf(id) === kind);
    if (own.length < LEAST_FOLDED) return own.map(thing);
    const isOpen = open.has(kind);
    const group: Box = { type: "group", kind, count: own.length, isOpen };
    if (!isOpen) return [group];
    const rest = own.length - MOST_DRAWN;
    return [
      group,
      ...own.slice(0, MOST_DRAWN).map(thing),
      ...(rest > 0 ? [{ type: "rest" as const, kind, count: rest }] : []),
    ];
  });
}
