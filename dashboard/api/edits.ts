import { useState } from "preact/hooks";
import { PreconditionFailedError } from "./client";
import type { Values } from "./configure";
import type { Resource } from "./resource";

interface Edit {
  /** What was stored when the reader began to change it. */
  from: unknown;
  to: unknown;
}

/** A field that its reader has changed, and that was stored with another value since. */
interface Clash {
  name: string;
  now: unknown;
}

/** What a form changes of a stored thing, field by field. */
export interface Edits<Thing> {
  /** What the fields show: what is changed, and of the others what is stored, which may change under them. */
  values: Values;
  /** What is changed, and nothing else: what a request may send. */
  changes: Values;
  isChanged: boolean;
  set(name: string, value: unknown): void;
  /** The changed fields that have another value in `now` than the one from which the reader began. */
  clashes(now: Thing): Clash[];
  /** Keeps the change of a field although another value was stored since. */
  keep(name: string): void;
  /** Forgets the change of a field. */
  drop(name: string): void;
  /** Forgets what of `sent` was stored; what was typed since is still a change, of `now`. */
  saved(sent: Values, now: Thing): void;
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null) && (one === null) === (other === null);

/** Keeps what is changed of a thing that is shown in a form. `fieldsOf` names the values that the form can change. */
export function useEdits<Thing>(stored: Thing, fieldsOf: (thing: Thing) => Values): Edits<Thing> {
  const [edits, setEdits] = useState<Record<string, Edit>>({});
  const before = fieldsOf(stored);
  const put = (name: string, edit: Edit | null) =>
    setEdits(({ [name]: _, ...rest }) =>
      edit === null || isSame(edit.from, edit.to) ? rest : { ...rest, [name]: edit },
    );
  const changes = Object.fromEntries(Object.entries(edits).map(([name, { to }]) => [name, to]));
  return {
    values: { ...before, ...changes },
    changes,
    isChanged: Object.keys(edits).length > 0,
    set: (name, to) => {
      const edit = edits[name];
      put(name, { from: edit ? edit.from : before[name], to });
    },
    clashes: now => {
      const fields = fieldsOf(now);
      return Object.entries(edits)
        .filter(([name, { from, to }]) => !isSame(fields[name], from) && !isSame(fields[name], to))
        .map(([name]) => ({ name, now: fields[name] }));
    },
    keep: name => {
      const edit = edits[name];
      if (edit) put(name, { ...edit, from: before[name] });
    },
    drop: name => put(name, null),
    saved: (sent, now) => {
      const fields = fieldsOf(now);
      setEdits(latest =>
        Object.fromEntries(
          Object.entries(latest)
            .filter(([name, { to }]) => !(name in sent) || !isSame(sent[name], to))
            .map(([name, edit]) => [name, name in sent ? { ...edit, from: fields[name] } : edit]),
        ),
      );
    },
  };
}

interface Saving<Thing> {
  resource: Pick<Resource<Thing>, "put">;
  /** What the form changes. */
  parts: readonly Edits<Thing>[];
  read: () => PromiseLike<Thing>;
  /** Stores the changes; gets the thing as it is now. */
  write: (now: Thing) => PromiseLike<Thing>;
}

/** How often a save begins again because the thing was changed just before it. */
const MOST_TRIES = 5;

/**
 * Stores what a form has changed, unless somebody else has changed the same since its reader began: then what is stored is
 * shown beside it, and false returned. A change between this look and the request has it begin again, if `write` says which
 * revision it changes (docs/decisions/0057-what-the-dashboard-sends.md). Throws what `read` and `write` throw.
 */
export async function saveEdits<Thing>(saving: Saving<Thing>, tries = 1): Promise<boolean> {
  const { resource, parts, read, write } = saving;
  const now = await read();
  resource.put(now);
  if (parts.some(part => part.clashes(now).length > 0)) return false;
  const sent = parts.map(part => part.changes);
  let stored: Thing;
  try {
    stored = await write(now);
  } catch (error) {
    if (!(error instanceof PreconditionFailedError) || tries === MOST_TRIES) throw error;
    return await saveEdits(saving, tries + 1);
  }
  resource.put(stored);
  for (const [i, part] of parts.entries()) part.saved(sent[i] ?? {}, stored);
  return true;
}

/** Returns the option of a request that changes a thing only as it was read. */
export const asRead = ({ revision }: { revision: number }) => ({ ifMatch: revision });
