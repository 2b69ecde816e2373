import type { Connection } from "../connection.ts";
import type { List } from "../list.ts";
import { type AccountQuery, listOfAccount } from "../lists.ts";
import type { BodyOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import type { Subscription } from "../schema.ts";

/** Subscriptions: which listener receives the events of which emitter. */
export class Subscriptions {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists the subscriptions of the organization, if the client is for one, else of the caller; all, or those of an `emitter_id` or `listener_id`, or with a text (`q`) in what they connect; the newest first, unless `sort` says another order. */
  list(query: AccountQuery<"subscriptions"> = {}, options?: CallOptions): List<Subscription> {
    return listOfAccount(this.#connection, "subscriptions", query, options);
  }

  /** Fetches a subscription with its filter and its function. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/subscriptions/{id}", { params: { id } }, options);
  }

  /** Subscribes a listener to an emitter. The same one again returns the one that exists. */
  create(
    body: BodyOf<"/subscriptions", "post"> & { emitter_id: string; listener_id: string },
    options?: CallOptions,
  ) {
    return this.#connection.send("post", "/subscriptions", { body }, options);
  }

  /** Changes the filter or the function, whichever account has it; null removes one, and what is left out stays. */
  update(id: string, body: BodyOf<"/subscriptions/{id}", "put">, options?: CallOptions) {
    return this.#connection.send("put", "/subscriptions/{id}", { params: { id }, body }, options);
  }

  /** Ends a subscription; events that were emitted before are still delivered. */
  delete(id: string, options?: CallOptions) {
    return this.#connection.send("delete", "/subscriptions/{id}", { params: { id } }, options);
  }

  /** Tries a filter on the last events of an emitter. */
  testFilter(body: BodyOf<"/subscriptions/filter_test", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/subscriptions/filter_test", { body }, options);
  }

  /** Tries a function on the last events of an emitter, or on given ones; it counts as a run. */
  testFunction(body: BodyOf<"/subscriptions/function_test", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/subscriptions/function_test", { body }, options);
  }
}
