import type { Connection } from "../connection.ts";
import type { Cursor, List } from "../list.ts";
import { type EventQuery, listOfAccount, listOfEmitter } from "../lists.ts";
import type { BodyOf, Schemas } from "../operations.ts";
import type { CallOptions } from "../options.ts";

/** Workflows: emitters and listeners that something else runs. A program that publishes registers one. */
export class Workflows {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list(cursor: Cursor = {}, options?: CallOptions): List<Schemas["Workflow"]> {
    return listOfAccount(this.#connection, "workflows", cursor, options);
  }

  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/workflows/{workflow_id}", { params: { workflow_id: id } }, options);
  }

  create(body: BodyOf<"/workflows", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/workflows", { body }, options);
  }

  update(id: string, body: BodyOf<"/workflows/{workflow_id}", "put">, options?: CallOptions) {
    const input = { params: { workflow_id: id }, body };
    return this.#connection.send("put", "/workflows/{workflow_id}", input, options);
  }

  delete(id: string, options?: CallOptions) {
    return this.#connection.send(
      "delete",
      "/workflows/{workflow_id}",
      { params: { workflow_id: id } },
      options,
    );
  }

  /** The last 100 events. Their data is cut to 1 KB, unless `expand` is `event`. */
  events(id: string, query: EventQuery = {}, options?: CallOptions): List<Schemas["EventSummary"]> {
    const params = { workflow_id: id };
    return listOfEmitter(
      this.#connection,
      "/workflows/{workflow_id}/event_summaries",
      params,
      query,
      options,
    );
  }

  errors(id: string, query: EventQuery = {}, options?: CallOptions): List<Schemas["EventSummary"]> {
    const path = "/workflows/{workflow_id}/$errors/event_summaries";
    return listOfEmitter(this.#connection, path, { workflow_id: id }, query, options);
  }
}
