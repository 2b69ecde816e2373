import type { Connection } from "../connection.ts";
import { List } from "../list.ts";
import { type AccountQuery, listOfAccount } from "../lists.ts";
import type { BodyOf, QueryOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import type { Delivery, Webhook } from "../schema.ts";

/** Webhooks: addresses to which events are delivered. */
export class Webhooks {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists the webhooks of the organization, if the client is for one, else of the caller, newest first; all, or those by their `state`, or a text (`q`) in name, URL or id. */
  list(query: AccountQuery<"webhooks"> = {}, options?: CallOptions): List<Webhook> {
    return listOfAccount(this.#connection, "webhooks", query, options);
  }

  /** Fetches a webhook. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/webhooks/{id}", { params: { id } }, options);
  }

  /** Creates a webhook. Only this response has its `signing_key`. */
  create(body: BodyOf<"/webhooks", "post"> & { url: string }, options?: CallOptions) {
    return this.#connection.send("post", "/webhooks", { body }, options);
  }

  /** Changes what `body` names; what it leaves out stays. */
  update(id: string, body: BodyOf<"/webhooks/{id}", "put">, options?: CallOptions) {
    return this.#connection.send("put", "/webhooks/{id}", { params: { id }, body }, options);
  }

  /** Deletes a webhook with its subscriptions, and cancels its pending deliveries. */
  delete(id: string, options?: CallOptions) {
    return this.#connection.send("delete", "/webhooks/{id}", { params: { id } }, options);
  }

  /** Replaces the signing key, by `signing_key` if that is given; the old one signs too for 24 hours. */
  rotateSigningKey(
    id: string,
    options: CallOptions & BodyOf<"/webhooks/{id}/rotate_signing_key", "post"> = {},
  ) {
    const { signing, signing_key, ...call } = options;
    const body = { ...(signing && { signing }), ...(signing_key !== undefined && { signing_key }) };
    return this.#connection.send("post", "/webhooks/{id}/rotate_signing_key", { params: { id }, body }, call);
  }

  /** Sends a signed test event now, and returns what the endpoint responded. */
  test(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/webhooks/{id}/test", { params: { id } }, options);
  }

  /** Lists the deliveries to a webhook with their last attempt, newest first. */
  deliveries(
    id: string,
    query: QueryOf<"/webhooks/{id}/deliveries", "get"> = {},
    options?: CallOptions,
  ): List<Delivery> {
    return new List(query, cursor => {
      const input = { params: { id }, query: { ...query, ...cursor } };
      return this.#connection.send("get", "/webhooks/{id}/deliveries", input, options);
    });
  }

  /** Retries every failed delivery of events since a moment; `dry_run` only counts them. */
  recover(id: string, body: BodyOf<"/webhooks/{id}/recover", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/webhooks/{id}/recover", { params: { id }, body }, options);
  }

  /** The progress of the last recovery. */
  recovery(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/webhooks/{id}/recover", { params: { id } }, options);
  }

  /** Counts what happened in each of the last hours, 24 unless `hours` says otherwise. */
  stats(id: string, query: { hours?: number } = {}, options?: CallOptions) {
    return this.#connection.send("get", "/webhooks/{id}/stats", { params: { id }, query }, options);
  }
}
