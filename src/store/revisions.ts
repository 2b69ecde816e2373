import type { ClientSession, Model } from "mongoose";
import { Type } from "typebox";
import { AppError, notFound } from "../lib/errors.ts";

/**
 * What a document has whose changes by the API are counted, so that two who change it at once lose nothing. Its state changes
 * without counting: health, and what deliveries and runs note of it.
 */
export interface Revised {
  /** Grows with each change; absent, which is 1, for a document of an earlier release. */
  revision?: number;
  /** Fields that requests have set, and the revision that last did. */
  revisions?: Record<string, number>;
}

/** The fields of a schema that store this. */
export const REVISED = {
  revision: { type: Number, default: undefined },
  // What mongoose calls mixed; it is named without mongoose, because the command line reads schemas that have a revision.
  revisions: { type: Object, default: undefined },
} as const;

/** The field of a resource that says which revision it is: its `ETag`, without the quotes. */
export const Revision = Type.Integer({
  description:
    "Grows with each change by the API; the `ETag` of the resource, which `If-Match` of a PUT or a DELETE may name.",
});

/** Of a new document. */
export const FIRST_REVISION = 1;

export const revisionOf = ({ revision = FIRST_REVISION }: Revised): number => revision;

/** Returns the fields that the next revision of a document stores, whose request sets `names`. */
export function nextRevision(before: Revised, names: readonly string[]): Required<Revised> {
  const revision = revisionOf(before) + 1;
  const set = Object.fromEntries(names.map(name => [name, revision]));
  return { revision, revisions: { ...before.revisions, ...set } };
}

/** Returns what a write must find for the document to be at this revision: a document of an earlier release has none. */
export const ofRevision = ({ revision }: Revised) => ({ revision: revision ?? null });

/** Documents that requests have read, and want changed only as they are. */
const asRead = new WeakSet<object>();

/** Lets a document, as a request has read it, be changed by nothing but that revision's next: `writeRevision` throws then. */
export const requireAsRead = (resource: object): void => void asRead.add(resource);

/** True if a request wants this very document changed only as it is. */
export const isRequiredAsRead = (resource: object): boolean => asRead.has(resource);

/** Returns what a deletion must find: the document as a request has read it if it wants that one, of any revision otherwise. */
export const asRequired = (resource: Revised): { revision?: number | null } =>
  isRequiredAsRead(resource) ? ofRevision(resource) : {};

/**
 * Deletes a document if it still is as `ifStill` says. Returns false if it is not, or is deleted already. Throws
 * `precondition-failed` if it is required as read and was changed since, also by a change that ends at the same moment.
 */
export async function deleteRevised<Document extends Revised & { _id: string }>(
  rows: Model<Document>,
  document: Pick<Document, "_id"> & Revised,
  { ifStill = {}, ...options }: { session?: ClientSession; ifStill?: object } = {},
): Promise<boolean> {
  const filter = { ...ifStill, _id: document._id, ...asRequired(document) } as object;
  const { deletedCount } = await rows.deleteOne(filter, options);
  if (deletedCount === 0) await requireUnchanged(rows, document, options);
  return deletedCount > 0;
}

/** Throws `precondition-failed` if a document that a deletion has not found is there, at another revision than was wanted. */
export async function requireUnchanged<Document extends Revised & { _id: string }>(
  rows: Model<Document>,
  document: Pick<Document, "_id"> & Revised,
  options: { session?: ClientSession } = {},
): Promise<void> {
  const found = await rows
    .findById(document._id, { revision: 1, revisions: 1 }, options)
    .lean<Revised | null>();
  if (found && isRequiredAsRead(document) && revisionOf(found) !== revisionOf(document)) {
    throw revisionChanged(found, revisionOf(document));
  }
}

/** Returns the error of a request that wants another revision than there is; it names the fields that were set since. */
export function revisionChanged(current: Revised, wanted: number): AppError {
  const revision = revisionOf(current);
  const fields = Object.entries(current.revisions ?? {})
    .filter(([, setAt]) => setAt > wanted)
    .map(([name]) => name);
  const what = fields.length > 0 ? `${fields.join(", ")} changed since` : "it is not the one";
  return new AppError(
    "precondition-failed",
    `If-Match: revision ${wanted} was wanted, and ${what}: it is at ${revision}`,
    {
      changed: { revision, fields },
    },
  );
}

/** More writers at once than ever compete for one document. */
const MOST_TRIES = 50;

/** How a change of a document is written. */
interface RevisionWrite<Document> {
  /** The kind of document, for messages. */
  what: string;
  /** Returns the fields that the request sets, as it calls them; none if the document has all of them so already. */
  namesIn: (latest: Document) => readonly string[];
  /** Writes it to the document of this filter, with these fields; returns it as it is then, or null if there is none. */
  write: (filter: { revision: number | null }, fields: Required<Revised>) => Promise<Document | null>;
  read: () => Promise<Document | null>;
}

/**
 * Writes a change as the next revision of a document, and returns it; one that changes nothing makes none. If another one was
 * written since `before` was read, it is written after that; but for a document that is required as read it throws
 * `precondition-failed`. Throws `not-found` if the document was deleted.
 */
export async function writeRevision<Document extends Revised>(
  before: Document,
  { what, namesIn, write, read }: RevisionWrite<Document>,
): Promise<Document> {
  let latest = before;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const names = namesIn(latest);
    const written = names.length > 0 && (await write(ofRevision(latest), nextRevision(latest, names)));
    if (written) return written;
    const found = await read();
    if (!found) throw notFound(what);
    if (isRequiredAsRead(before) && revisionOf(found) !== revisionOf(before)) {
      throw revisionChanged(found, revisionOf(before));
    }
    if (namesIn(found).length === 0) return found;
    latest = found;
  }
  throw new AppError("conflict", `other requests keep changing this ${what}`);
}
