import type { Context } from "koa";
import { revisionOf } from "../store/revisions.ts";
import { clientAddress } from "./client-address.ts";
import { heedsIfMatch, sendsEtag } from "./preconditions.ts";
import type { Input } from "./read-input.ts";
import type { AnyRoute, Caller } from "./route.ts";

/** The thing that a request has changed. */
export interface ChangedThing {
  id: string;
  /** As it was called then; null for what has no name. */
  name: string | null;
}

/** What a handler says of the change that its request makes, where neither its path nor its response does. */
export interface ChangeNote extends Partial<ChangedThing> {
  /** The account whose audit log it belongs to. */
  ownerId?: string;
  /** Further accounts, of a request that changes things of several. */
  alsoOf?: string[];
  /** Who the request turned out to be of, for a public route. */
  caller?: Caller;
}

/** A change that was made by a request, as the audit log gets it. */
export interface Change {
  /** Such as `webhook.updated`. */
  action: string;
  ownerId: string;
  /** Further accounts whose logs get it, too. */
  alsoOf?: string[];
  caller: Caller;
  /** Null for what has no id. */
  thing: ChangedThing | null;
  /** Names of the fields and parameters that the request set; never their values, which may be secrets. */
  fields: string[];
  /** False if it was accepted only: a worker goes on with it. */
  isDone: boolean;
  address: string;
  userAgent: string;
}

/** Writes a change to the audit log. Never throws: what was done stays done. */
export type RecordChange = (change: Change) => Promise<void>;

/** What documents and responses say of themselves. */
interface Named {
  _id?: string;
  id?: string | null;
  name?: string | null;
  owner_id?: string;
  user_id?: string;
}

/** One request on its way to a change, and what its handler has said of that. */
export class RequestChange {
  readonly #route: AnyRoute;
  readonly #ownerId: string;
  readonly #caller: Caller | undefined;
  #note: ChangeNote | null = {};

  constructor(route: AnyRoute, ownerId: string, caller: Caller | undefined) {
    this.#route = route;
    this.#ownerId = ownerId;
    this.#caller = caller;
  }

  /** Adds to what is known of the change; null: the request changes nothing. */
  note(note: ChangeNote | null): void {
    this.#note = note && { ...this.#note, ...note };
  }

  /** Returns the change that the handler has made; null for a route, or a request, that makes none. */
  made(ctx: Context, { input, resource, result }: Handled): Change | null {
    const { audit: action, access } = this.#route;
    const note = this.#note;
    if (!action || note === null || isUnchanged(this.#route, resource, result)) return null;
    const caller = note.caller ?? this.#caller;
    if (!caller) throw new Error(`${this.#route.id} is public, and does not say whose change it makes`);
    const of = ((access.kind === "resource" ? resource : result) ?? {}) as Named;
    const id = note.id ?? of._id ?? of.id;
    return {
      action,
      ownerId: note.ownerId ?? this.#accountOf(of, caller),
      ...(note.alsoOf && { alsoOf: note.alsoOf }),
      caller,
      thing: id ? { id, name: note.name ?? of.name ?? null } : null,
      fields: this.#fieldsSet(input),
      isDone: ctx.status !== 202,
      address: clientAddress(ctx),
      userAgent: ctx.get("user-agent"),
    };
  }

  /** The owner of the resource of the path, whichever of the caller's accounts that is. */
  #accountOf(of: Named, caller: Caller): string {
    const { kind } = this.#route.access;
    if (kind === "resource") return of.owner_id ?? of.user_id ?? this.#ownerId;
    return kind === "caller" || kind === "operator" ? caller.userId : this.#ownerId;
  }

  /** Names that the route declares, so that no text of the caller's is among them. */
  #fieldsSet({ query, body }: Pick<Input, "query" | "body">): string[] {
    const { query: parameters, body: fields } = this.#route;
    const declared = { ...parameters?.properties, ...fields?.properties };
    return [...Object.keys(query), ...Object.keys(body)].filter(name => Object.hasOwn(declared, name));
  }
}

/** What a request came with, and what its handler returned. */
interface Handled {
  input: Pick<Input, "query" | "body">;
  resource: unknown;
  result: unknown;
}

/** True for an update that made no revision: it found everything so already. */
const isUnchanged = (route: AnyRoute, resource: unknown, result: unknown): boolean =>
  route.method === "PUT" &&
  heedsIfMatch(route) &&
  sendsEtag(route) &&
  revisionOf(result as { revision: number }) === revisionOf(resource as { revision?: number });
