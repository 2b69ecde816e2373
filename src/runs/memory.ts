import type { CallResult, ComponentDescription, Emit } from "../sandbox/protocol.ts";
import { type DedupeMemory, type DedupeSettings, dedupe, inOrder } from "./dedupe.ts";

/** What a source remembers between its runs. */
export interface Memory {
  /** State of `this.db`, key to JSON value. */
  db: Record<string, unknown>;
  dedupe: DedupeMemory;
  /** Grows with each write to MongoDB; 0 if nothing has been stored yet. */
  version: number;
}

export const emptyMemory = (): Memory => ({ db: {}, dedupe: {}, version: 0 });

/**
 * Whether a component can see or change anything of a memory: an app has `db` whether it asks for it or not
 * (docs/component-api.md#db).
 */
export const hasMemory = ({ dedupe, props }: Pick<ComponentDescription, "dedupe" | "props">): boolean =>
  dedupe !== undefined || props.some(({ type }) => type === "$.service.db" || type === "app");

/** What a run or a hook leads to if it is committed. */
export interface CallEffects {
  /** Events to emit, in this order. */
  emits: Emit[];
  /** Number of events that dedupe dropped. */
  deduped: number;
  /** What dedupe has to say to the component's author. */
  notice?: string | undefined;
  /** What the source remembers afterwards; the same object as before if the call changed nothing of it. */
  memory: Memory;
}

/** Returns the effects of one call in the sandbox on a source with this memory. Pure. */
export function effectsOf(
  settings: DedupeSettings,
  memory: Memory,
  result: Pick<CallResult, "emits" | "db">,
): CallEffects {
  const {
    kept,
    dropped,
    notice,
    memory: dedupeAfter,
  } = dedupe(settings, memory.dedupe, inOrder(result.emits));
  const isDbChanged = result.db !== undefined && !isSameJson(result.db, memory.db);
  const isDedupeChanged = settings.dedupe !== undefined && !isSameJson(dedupeAfter, memory.dedupe);
  return {
    emits: kept,
    deduped: dropped,
    notice,
    memory:
      isDbChanged || isDedupeChanged
        ? { ...memory, db: result.db ?? memory.db, dedupe: isDedupeChanged ? dedupeAfter : memory.dedupe }
        : memory,
  };
}

const isSameJson = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);
