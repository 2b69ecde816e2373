import type { Connection } from "../connection.ts";
import type { List } from "../list.ts";
import { type AccountQuery, type EventQuery, listOfAccount, listOfEmitter } from "../lists.ts";
import type { BodyOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import type { EventSummary, Workflow } from "../schema.ts";

/** Workflows: emitters and listeners that something else runs. A program that publishes registers one. */
export class Workflows {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists the workflows of the organization, if the client is for one, else of the caller, newest first; all, or those with a text (`q`) in name or id. */
  list(query: AccountQuery<"workflows"> = {}, options?: CallOptions): List<Workflow> {
    return listOfAccount(this.#connection, "workflows", query, options);
  }

  /** Fetches a workflow. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/workflows/{workflow_id}", { params: { workflow_id: id } }, options);
  }

  /** Registers a workflow, as which a program can publish events. */
  create(body: BodyOf<"/workflows", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/workflows", { body }, options);
  }

  /** Changes what `body` names. */
  update(id: string, body: BodyOf<"/workflows/{workflow_id}", "put">, options?: CallOptions) {
    const input = { params: { workflow_id: id }, body };
    return this.#connection.send("put", "/workflows/{workflow_id}", input, options);
  }

  /** Deletes a workflow with its events and subscriptions. */
  delete(id: string, options?: CallOptions) {
    return this.#connection.send(
      "delete",
      "/workflows/{workflow_id}",
      { params: { workflow_id: id } },
      options,
    );
  }

  /** The last 100 events. Their data is cut to 1 KB, unless `expand` is `event`. */
  events(id: string, query: EventQuery = {}, options?: CallOptions): List<EventSummary> {
    const params = { workflow_id: id };
    return listOfEmitter(
      this.#connection,
      "/workflows/{workflow_id}/event_summaries",
      params,
      query,
      options,
    );
  }

  /** Lists the last 100 errors of a workflow, each with the event on which it failed. */
  errors(id: string, query: EventQuery = {}, options?: CallOptions): List<EventSummary> {
    const path = "/workflows/{workflow_id}/$errors/event_summaries";
    return listOfEmitter(this.#connection, path, { workflow_id: id }, query, options);
  }
}
