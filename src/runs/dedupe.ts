import { createHash } from "node:crypto";
import type { ComponentDescription, Emit } from "../sandbox/protocol.ts";

/** Number of ids that `unique` remembers if its component does not ask for more (docs/component-api.md#dedupe). */
const UNIQUE_IDS = 100;
/** Longer ids are remembered by their hash. */
const MAX_ID_CHARS = 256;
/** Characters of an earlier id, or of its hash: 96 bits, so that two ids of a source do not share one. */
const NAME_CHARS = 16;

/** How a component has events told apart. */
export type DedupeSettings = Pick<ComponentDescription, "dedupe" | "remember">;

/** What a source's dedupe remembers between runs; which fields depends on the strategy. */
export interface DedupeMemory {
  /** The last ids, the oldest first: all that a release before `remember` knows. */
  unique?: string[];
  /** Of a component that has more remembered: the names of ids before these, the oldest first. */
  earlier?: string[];
  /** A string if the number is an integer that is too large for a JSON number. */
  greatest?: number | string;
  last?: string;
}

export interface Deduped {
  kept: Emit[];
  dropped: number;
  memory: DedupeMemory;
  /** What the component's author should know: ids that the strategy can't compare. */
  notice?: string;
}

const idOf = (emit: Emit): string | undefined => {
  const { id } = emit.metadata;
  if (id === undefined || id === "") return undefined;
  const text = String(id);
  return text.length <= MAX_ID_CHARS ? text : createHash("sha256").update(text).digest("hex");
};

/**
 * Drops the events of one call that were emitted before, according to the component's `dedupe`
 * (docs/component-api.md#dedupe). Events without an id are always kept. Pure.
 */
export function dedupe(settings: DedupeSettings, memory: DedupeMemory, emits: Emit[]): Deduped {
  const { dedupe: strategy, remember = UNIQUE_IDS } = settings;
  if (strategy === "unique") return unique(memory, emits, remember);
  if (strategy === "greatest") return greatest(memory, emits);
  if (strategy === "last") return last(memory, emits);
  return { kept: emits, dropped: 0, memory };
}

function unique(memory: DedupeMemory, emits: Emit[], most: number): Deduped {
  const recent = new Set(memory.unique);
  const earlier = new Set(memory.earlier);
  const before = recent.size;
  const kept = emits.filter(emit => {
    const id = idOf(emit);
    if (id === undefined) return true;
    if (recent.has(id) || (earlier.size > 0 && earlier.has(nameOf(id)))) return false;
    recent.add(id);
    return true;
  });
  const isChanged = recent.size > before;
  return {
    kept,
    dropped: emits.length - kept.length,
    memory: isChanged ? withoutOldest([...recent], [...earlier], most) : memory,
  };
}

/** Returns the newest `most` of the ids that are remembered, those behind the last hundred by their names. */
function withoutOldest(recent: string[], earlier: string[], most: number): DedupeMemory {
  const unique = recent.slice(-UNIQUE_IDS);
  if (most <= UNIQUE_IDS) return { unique };
  const older = [...earlier, ...recent.slice(0, -UNIQUE_IDS).map(nameOf)];
  return { unique, earlier: older.slice(UNIQUE_IDS - most) };
}

/** Returns a short name of an id, so that thousands take a bounded room. */
const nameOf = (id: string): string =>
  id.length <= NAME_CHARS ? id : createHash("sha256").update(id).digest("base64url").slice(0, NAME_CHARS);

function greatest(memory: DedupeMemory, emits: Emit[]): Deduped {
  let highest = numberOf(memory.greatest);
  const notNumbers: unknown[] = [];
  const kept = emits.filter(emit => {
    if (idOf(emit) === undefined) return true;
    const number = numberOf(emit.metadata.id);
    if (number === null) notNumbers.push(emit.metadata.id);
    if (number === null || (highest !== null && number <= highest)) return false;
    highest = number;
    return true;
  });
  const found = typeof highest === "bigint" ? String(highest) : highest;
  return {
    kept,
    dropped: emits.length - kept.length,
    memory: found === null ? {} : { greatest: found },
    ...(notNumbers.length > 0 && { notice: noticeOf(notNumbers) }),
  };
}

function noticeOf(ids: unknown[]): string {
  const events = ids.length === 1 ? "1 event was" : `${ids.length} events were`;
  return `dedupe "greatest": ${events} dropped, because the id is not a number: ${JSON.stringify(ids[0])}`;
}

/** Ids of many services are integers beyond 2^53, where a JavaScript number could not tell neighbours apart. */
function numberOf(id: string | number | undefined): number | bigint | null {
  const text = String(id ?? "").trim();
  if (/^-?\d{16,256}$/.test(text)) return BigInt(text);
  const number = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

function last(memory: DedupeMemory, emits: Emit[]): Deduped {
  const ids = emits.map(idOf);
  const at = memory.last === undefined ? -1 : ids.lastIndexOf(memory.last);
  const kept = emits.filter((_, index) => ids[index] === undefined || index > at);
  const newest = ids.findLast(id => id !== undefined) ?? memory.last;
  return { kept, dropped: emits.length - kept.length, memory: newest === undefined ? {} : { last: newest } };
}

/** Returns events in the order in which they are emitted: by `ts`, oldest first, if any of them has one. */
export function inOrder(emits: Emit[]): Emit[] {
  if (!emits.some(emit => emit.metadata.ts !== undefined)) return emits;
  // An event without a `ts` stays behind the event before it, whose `ts` it takes.
  let at = Number.NEGATIVE_INFINITY;
  const keyed = emits.map((emit, index) => {
    at = emit.metadata.ts ?? at;
    return { emit, index, at };
  });
  return keyed.sort((a, b) => a.at - b.at || a.index - b.index).map(({ emit }) => emit);
}
