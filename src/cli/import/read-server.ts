import { type Static, type TSchema, Type } from "typebox";
import {
  ApiError,
  type CallOptions,
  ConnectionError,
  type Headwater,
  HeadwaterError,
} from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { newAjv } from "../../lib/schemas.ts";
import { onlyWith } from "./choose.ts";
import {
  type Account,
  ComponentFiles,
  ComponentRow,
  ConnectionRow,
  DestinationRow,
  Id,
  NamedRow,
  type ShownComponent,
  type ShownSource,
  type ShownSubscription,
  type ShownUse,
  SourceRow,
  SourceWhole,
  SubscriptionRow,
  Values,
  WebhookRow,
} from "./shown.ts";

/** A list is not read further. */
const MOST_ROWS = 10_000;
const PAGE = 100;
/** So many pages without a row may be in between. */
const MOST_PAGES = 1000;
/** So many requests are under way at once. */
const AT_ONCE = 4;
/** A server that limits rates is waited for; a wrong address is known from the first request, which is sent twice. */
const PATIENT: CallOptions = { maxRetries: 6, timeoutMs: 60_000 };
const FIRST: CallOptions = { maxRetries: 1, timeoutMs: 30_000 };

const ajv = newAjv({ strict: false });

/** Reads what an account has, or what an organization has. */
export class ServerReader {
  readonly #client: Headwater;
  readonly #base: string;
  readonly #orgId: string | undefined;
  /** Whether the server shows single sources, which is not a part of the contract. */
  #showsSources = true;

  constructor(client: Headwater, orgId: string | undefined) {
    this.#client = client;
    this.#orgId = orgId;
    this.#base = orgId === undefined ? "/users/me" : `/orgs/${encodeURIComponent(orgId)}`;
  }

  /**
   * Reads what there is, or what has a text in its name, address or id. Throws AppErrors, and the client's errors: half an account is
   * nothing that could be applied.
   */
  async read(text = ""): Promise<Account> {
    const { id } = await this.#get("/users/me", Type.Object({ id: Id }), FIRST);
    const chosen = onlyWith(text, {
      sources: await this.#list("sources/", SourceRow),
      webhooks: await this.#listIfShown("webhooks", WebhookRow),
      destinations: await this.#listIfShown("destinations", DestinationRow),
      subscriptions: await this.#list("subscriptions", SubscriptionRow),
      workflows: await this.#listIfShown("workflows", NamedRow),
    });
    const sources = await inTurns(chosen.sources, one => this.#wholeSource(one));
    return {
      ...chosen,
      id: this.#orgId ?? id,
      sources,
      subscriptions: await inTurns(chosen.subscriptions, one => this.#wholeSubscription(one)),
      components: await this.#components([
        ...sources,
        ...(chosen.destinations ?? []).flatMap(({ action }) => action ?? []),
      ]),
      connections: await this.#listIfShown("connections", ConnectionRow),
      autoSubscriptions: await this.#listIfShown("auto_subscriptions", NamedRow),
    };
  }

  async #components(uses: ShownUse[]): Promise<Account["components"]> {
    const ids = [...new Set(uses.flatMap(({ component_id }) => component_id ?? []))];
    return new Map(await inTurns(ids, async id => [id, await this.#component(id)] as const));
  }

  async #component(id: string): Promise<ShownComponent | null> {
    const path = `/components/${encodeURIComponent(id)}`;
    const component = await orNull(this.#get(path, ComponentRow));
    if (!component || !this.#showsSources) return component;
    return { ...component, ...(await orNull(this.#get(`${path}/files`, ComponentFiles))) };
  }

  /** The list has no names of secrets. */
  async #wholeSource(row: ShownSource): Promise<ShownSource> {
    if (!this.#showsSources) return row;
    const whole = await orNull(this.#get(`/sources/${encodeURIComponent(row.id)}`, SourceWhole));
    this.#showsSources = whole !== null;
    return { ...row, ...whole };
  }

  /** The list has no code of functions. */
  async #wholeSubscription(row: ShownSubscription): Promise<ShownSubscription> {
    if (!row.function_hash) return row;
    return await this.#get(`/subscriptions/${encodeURIComponent(row.id)}`, SubscriptionRow);
  }

  #listIfShown<Row extends TSchema>(kind: string, schema: Row): Promise<Static<Row>[] | null> {
    return orNull(this.#list(kind, schema));
  }

  /** Reads all pages of a list; one without `page_info` is all of it. */
  async #list<Row extends TSchema>(kind: string, schema: Row): Promise<Static<Row>[]> {
    const path = `${this.#base}/${kind}`;
    const check = checkerOf(Type.Object({ data: Type.Array(schema), page_info: Values }));
    const rows = new Map<string, Static<Row>>();
    for (let [page, after] = [0, ""]; page < MOST_PAGES; page += 1) {
      const query = `?limit=${PAGE}${after && `&after=${encodeURIComponent(after)}`}`;
      const given = check(path, await this.#request(path + query, PATIENT));
      const before = rows.size;
      for (const row of given.data) rows.set((row as NamedRow).id, row);
      if (rows.size > MOST_ROWS) throw new AppError("too-large", `${path} has more than ${MOST_ROWS} rows`);
      const next = given.page_info?.end_cursor;
      if (typeof next !== "string" || next === "") return [...rows.values()];
      // Some servers repeat the cursor at the end.
      if (next === after && rows.size === before) return [...rows.values()];
      if (next === after) throw new AppError("invalid", `${path}: the list does not advance`);
      after = next;
    }
    throw new AppError("invalid", `${path}: the list does not end`);
  }

  async #get<T extends TSchema>(path: string, schema: T, options = PATIENT): Promise<Static<T>> {
    return checkerOf(schema)(path, await this.#request(path, options));
  }

  /** The client's types are those of Headwater; what another server returns is checked. */
  #request(path: string, options: CallOptions): Promise<unknown> {
    return this.#client.request("get", path as "/openapi.json", {}, options);
  }
}

/** Returns what checks a response. It throws AppError `invalid` that names the path and the field. */
function checkerOf<T extends TSchema>(schema: T): (path: string, given: unknown) => Static<T> {
  const validate = ajv.compile<Static<T>>(schema);
  return (path, given) => {
    if (validate(given)) return given;
    const [error] = validate.errors ?? [];
    const field = (error?.instancePath ?? "").slice(1).replaceAll("/", ".") || "the response";
    throw new AppError("invalid", `${path}: ${field} ${error?.message ?? "is invalid"}`);
  };
}

/** Returns null for what a server does not have, or does not show: it says so, or sends a page of its website. */
async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    const isThere = error instanceof ApiError && (error.status === 401 || error.status === 429);
    const isFailure = error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500);
    if (!(error instanceof HeadwaterError) || isThere || isFailure) throw error;
    return null;
  }
}

/** Does work with each, some at once. */
async function inTurns<One, Result>(all: One[], work: (one: One) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    results.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map(work))));
  }
  return results;
}
