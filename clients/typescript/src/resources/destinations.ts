import type { Connection } from "../connection.ts";
import { List } from "../list.ts";
import { type AccountQuery, listOfAccount } from "../lists.ts";
import type { BodyOf, QueryOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import { BUILD_MS } from "../publish.ts";
import type { Delivery, Destination } from "../schema.ts";

/** Destinations: what events are delivered to over other protocols than HTTP. */
export class Destinations {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists the destinations of the organization, if the client is for one, else of the caller, newest first; all, or those by their `state`, or a text (`q`) in name, URL or id. */
  list(query: AccountQuery<"destinations"> = {}, options?: CallOptions): List<Destination> {
    return listOfAccount(this.#connection, "destinations", query, options);
  }

  /** Fetches a destination. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/destinations/{id}", { params: { id } }, options);
  }

  /** Creates a destination; the body has the settings of one kind, such as `redis_stream`. */
  create(body: BodyOf<"/destinations", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/destinations", { body }, options);
  }

  /** Changes what `body` names; what it leaves out stays. */
  update(id: string, body: BodyOf<"/destinations/{id}", "put">, options?: CallOptions) {
    return this.#connection.send("put", "/destinations/{id}", { params: { id }, body }, options);
  }

  /** Deletes a destination with its subscriptions, and cancels its pending deliveries. */
  delete(id: string, options?: CallOptions) {
    return this.#connection.send("delete", "/destinations/{id}", { params: { id } }, options);
  }

  /** Sends a test event now, and returns what the destination said. */
  test(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/destinations/{id}/test", { params: { id } }, options);
  }

  /** Of an action: gets the props that `additionalProps` makes of the values so far; its own count where one is left out. */
  props(id: string, body: BodyOf<"/destinations/{id}/props", "post"> = {}, options?: CallOptions) {
    const path = "/destinations/{id}/props";
    return this.#connection.send("post", path, { params: { id }, body }, { usualMs: BUILD_MS, ...options });
  }

  /** Of an action: lists the choices of a prop, page by page; its own values count where one is left out. */
  configure(id: string, body: BodyOf<"/destinations/{id}/configure", "post">, options?: CallOptions) {
    const path = "/destinations/{id}/configure";
    return this.#connection.send("post", path, { params: { id }, body }, { usualMs: BUILD_MS, ...options });
  }

  /** Lists the deliveries to a destination with their last attempt, newest first. */
  deliveries(
    id: string,
    query: QueryOf<"/destinations/{id}/deliveries", "get"> = {},
    options?: CallOptions,
  ): List<Delivery> {
    return new List(query, cursor => {
      const input = { params: { id }, query: { ...query, ...cursor } };
      return this.#connection.send("get", "/destinations/{id}/deliveries", input, options);
    });
  }

  /** Retries every failed delivery of events since a moment; `dry_run` only counts them. */
  recover(id: string, body: BodyOf<"/destinations/{id}/recover", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/destinations/{id}/recover", { params: { id }, body }, options);
  }

  /** The progress of the last recovery. */
  recovery(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/destinations/{id}/recover", { params: { id } }, options);
  }

  /** Counts what happened in each of the last hours, 24 unless `hours` says otherwise. */
  stats(id: string, query: { hours?: number } = {}, options?: CallOptions) {
    return this.#connection.send("get", "/destinations/{id}/stats", { params: { id }, query }, options);
  }
}
