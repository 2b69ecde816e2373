import type { Connection } from "../connection.ts";
import { List } from "../list.ts";
import type { QueryOf, Schemas } from "../operations.ts";
import type { CallOptions } from "../options.ts";

/** Deliveries: events on their way to webhooks, with their attempts. */
export class Deliveries {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Of all webhooks, by state, time, emitter, status or words of the payload. */
  list(query: QueryOf<"/deliveries", "get"> = {}, options?: CallOptions): List<Schemas["Delivery"]> {
    return new List(query, cursor =>
      this.#connection.send("get", "/deliveries", { query: { ...query, ...cursor } }, options),
    );
  }

  /** With its attempts. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/deliveries/{id}", { params: { id } }, options);
  }

  /** Retries it now, and restarts its retry schedule. */
  retry(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/deliveries/{id}/retry", { params: { id } }, options);
  }
}
