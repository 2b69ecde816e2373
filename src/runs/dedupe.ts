import { createHash } from "node:crypto";
import type { ComponentDescription, Emit } from "../sandbox/protocol.ts";

/** Ids remembered by `unique` (runtime.md, "$emit"). */
const UNIQUE_KEPT = 100;
/** Longer ids are remembered by their hash. */
const LONGEST_ID = 256;

/** What a source's dedupe remembers between runs; which field depends on the strategy. */
export interface DedupeMemory {
  unique?: string[];
  /** Text where the number is whole and too large for JSON's numbers. */
  greatest?: number | string;
  last?: string;
}

export interface Deduped {
  kept: Emit[];
  dropped: number;
  memory: DedupeMemory;
}

const idOf = (emit: Emit): string | undefined => {
  const { id } = emit.metadata;
  if (id === undefined || id === "") return undefined;
  const text = String(id);
  return text.length <= LONGEST_ID ? text : createHash("sha256").update(text).digest("hex");
};

/** Drops the events of one run that the component's `dedupe` says were emitted before. Pure; events without an id pass. */
export function dedupe(
  strategy: ComponentDescription["dedupe"],
  memory: DedupeMemory,
  emits: Emit[],
): Deduped {
  if (strategy === "unique") return unique(memory, emits);
  if (strategy === "greatest") return greatest(memory, emits);
  if (strategy === "last") return last(memory, emits);
  return { kept: emits, dropped: 0, memory };
}

function unique(memory: DedupeMemory, emits: Emit[]): Deduped {
  const remembered = new Set(memory.unique ?? []);
  const kept = emits.filter(emit => {
    const id = idOf(emit);
    if (id === undefined) return true;
    if (remembered.has(id)) return false;
    remembered.add(id);
    return true;
  });
  return {
    kept,
    dropped: emits.length - kept.length,
    memory: { unique: [...remembered].slice(-UNIQUE_KEPT) },
  };
}

function greatest(memory: DedupeMemory, emits: Emit[]): Deduped {
  let highest = numberOf(memory.greatest);
  const kept = emits.filter(emit => {
    if (idOf(emit) === undefined) return true;
    const number = numberOf(emit.metadata.id);
    if (number === null || (highest !== null && number <= highest)) return false;
    highest = number;
    return true;
  });
  const found = typeof highest === "bigint" ? String(highest) : highest;
  return { kept, dropped: emits.length - kept.length, memory: found === null ? {} : { greatest: found } };
}

/** Ids of many services are whole numbers beyond 2^53, where neighbours would count as the same number. */
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

/** The order in which a run's events are emitted: by `ts` where all the emitter gave one says so, oldest first. */
export function inOrder(emits: Emit[]): Emit[] {
  if (!emits.some(emit => emit.metadata.ts !== undefined)) return emits;
  // Events without a ts keep their place among their neighbours: they take the ts of the one before.
  let at = Number.NEGATIVE_INFINITY;
  const keyed = emits.map((emit, index) => {
    at = emit.metadata.ts ?? at;
    return { emit, index, at };
  });
  return keyed.sort((a, b) => a.at - b.at || a.index - b.index).map(({ emit }) => emit);
}
