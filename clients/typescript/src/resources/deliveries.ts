import type { Connection } from "../connection.ts";
import { List } from "../list.ts";
import type { BodyOf, QueryOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import type { Delivery } from "../schema.ts";

/** Deliveries: events on their way to webhooks, with their attempts. */
export class Deliveries {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists the deliveries of all webhooks, by state, time, event, emitter, subscription, status or words of the payload. */
  list(query: QueryOf<"/deliveries", "get"> = {}, options?: CallOptions): List<Delivery> {
    return new List(query, cursor =>
      this.#connection.send("get", "/deliveries", { query: { ...query, ...cursor } }, options),
    );
  }

  /** Fetches a delivery with its attempts. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/deliveries/{id}", { params: { id } }, options);
  }

  /** Retries several, at most 100, and returns what became of each. */
  retrySelected(ids: BodyOf<"/deliveries/retry", "post">["ids"], options?: CallOptions) {
    return this.#connection.send("post", "/deliveries/retry", { body: { ids } }, options);
  }

  /** Cancels those of several, at most 100, that are pending, and returns what became of each. */
  cancelSelected(ids: BodyOf<"/deliveries/cancel", "post">["ids"], options?: CallOptions) {
    return this.#connection.send("post", "/deliveries/cancel", { body: { ids } }, options);
  }

  /** Retries it now, and restarts its retry schedule. */
  retry(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/deliveries/{id}/retry", { params: { id } }, options);
  }
}
