import type { Connection } from "../connection.ts";
import { List } from "../list.ts";
import { type AccountQuery, type EventQuery, listOfAccount, listOfEmitter } from "../lists.ts";
import type { BodyOf, QueryOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import { BUILD_MS } from "../publish.ts";
import type { CodeVersion, EventSummary, Run, Source } from "../schema.ts";

/** Event sources: components that are deployed. */
export class Sources {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists the sources of the organization, if the client is for one, else of the caller, newest first; all, or those by `active`, or a text (`q`) in name or id. */
  list(query: AccountQuery<"sources"> = {}, options?: CallOptions): List<Source> {
    return listOfAccount(this.#connection, "sources", query, options);
  }

  /** Fetches a source by its id or name slug. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/sources/{id}", { params: { id } }, options);
  }

  /** Deploys a component: by its id or key, or with its code or address. */
  create(body: BodyOf<"/sources", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/sources", { body }, { usualMs: BUILD_MS, ...options });
  }

  /** Changes what `body` names. A source that is not to become active needs `active: false`. */
  update(id: string, body: BodyOf<"/sources/{id}", "put">, options?: CallOptions) {
    const given = { usualMs: BUILD_MS, ...options };
    return this.#connection.send("put", "/sources/{id}", { params: { id }, body }, given);
  }

  /** Lists the versions of a source's code, newest first: that is the one it has. */
  versions(
    id: string,
    query: QueryOf<"/sources/{id}/versions", "get"> = {},
    options?: CallOptions,
  ): List<CodeVersion> {
    return new List(query, cursor =>
      this.#connection.send(
        "get",
        "/sources/{id}/versions",
        { params: { id }, query: { ...query, ...cursor } },
        options,
      ),
    );
  }

  /** Fetches a version of a source's code by its number, with the code. */
  version(id: string, number: number, options?: CallOptions) {
    const params = { id, version: String(number) };
    return this.#connection.send("get", "/sources/{id}/versions/{version}", { params }, options);
  }

  /** Deploys a version of a source's code again, as the next one; its props are those that it has now, but for those in `body`. */
  restoreVersion(
    id: string,
    number: number,
    body: BodyOf<"/sources/{id}/versions/{version}/restore", "post"> = {},
    options?: CallOptions,
  ) {
    const given = { usualMs: BUILD_MS, ...options };
    const params = { id, version: String(number) };
    return this.#connection.send("post", "/sources/{id}/versions/{version}/restore", { params, body }, given);
  }

  /** Replaces the address of its endpoint; the old one ends at once. */
  rotateEndpoint(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/sources/{id}/rotate_endpoint", { params: { id } }, options);
  }

  /** Which requests for a source were not verified: counts by reason, and the last of them. */
  rejections(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/sources/{id}/rejections", { params: { id } }, options);
  }

  /** The providers whose way to sign the server knows, for `verify` of a source. */
  verifyPresets(options?: CallOptions) {
    return this.#connection.send("get", "/verify/presets", {}, options);
  }

  /** Deletes a source with its memory, events and subscriptions. */
  delete(id: string, options?: CallOptions) {
    return this.#connection.send("delete", "/sources/{id}", { params: { id } }, options);
  }

  /** Lists the runs of a source, newest first. */
  runs(id: string, query: QueryOf<"/sources/{id}/runs", "get"> = {}, options?: CallOptions): List<Run> {
    return new List(query, cursor =>
      this.#connection.send(
        "get",
        "/sources/{id}/runs",
        { params: { id }, query: { ...query, ...cursor } },
        options,
      ),
    );
  }

  /** Fetches a run by its id, with what it emitted, logged and threw, and the deliveries of that. */
  getRun(runId: string, options?: CallOptions) {
    return this.#connection.send("get", "/runs/{id}", { params: { id: runId } }, options);
  }

  /** The last 100 events. Their data is cut to 1 KB, unless `expand` is `event`. */
  events(id: string, query: EventQuery = {}, options?: CallOptions): List<EventSummary> {
    return listOfEmitter(this.#connection, "/sources/{id}/event_summaries", { id }, query, options);
  }

  /** Lists the last 100 errors of a source, each with the event on which it threw. */
  errors(id: string, query: EventQuery = {}, options?: CallOptions): List<EventSummary> {
    return listOfEmitter(this.#connection, "/sources/{id}/$errors/event_summaries", { id }, query, options);
  }

  /** Lists the last 100 lines that the component logged. */
  logs(id: string, query: EventQuery = {}, options?: CallOptions): List<EventSummary> {
    return listOfEmitter(this.#connection, "/sources/{id}/$logs/event_summaries", { id }, query, options);
  }

  /** Deletes stored events: all of them, or a range of event ids, both ends included. */
  deleteEvents(id: string, range: { start_id?: string; end_id?: string } = {}, options?: CallOptions) {
    return this.#connection.send("delete", "/sources/{id}/events", { params: { id }, query: range }, options);
  }

  /** Counts what happened in each of the last hours, 24 unless `hours` says otherwise. */
  stats(id: string, query: { hours?: number } = {}, options?: CallOptions) {
    return this.#connection.send("get", "/sources/{id}/stats", { params: { id }, query }, options);
  }

  /** Gets the props that the source's values lead to; values that the body leaves out are those that the source has. */
  props(id: string, body: BodyOf<"/sources/{id}/props", "post"> = {}, options?: CallOptions) {
    const given = { usualMs: BUILD_MS, ...options };
    return this.#connection.send("post", "/sources/{id}/props", { params: { id }, body }, given);
  }

  /** Runs it now, in its series of runs; returns the run's id. `event` is needed unless it has a timer. */
  run(id: string, body: BodyOf<"/sources/{id}/run", "post"> = {}, options?: CallOptions) {
    return this.#connection.send("post", "/sources/{id}/run", { params: { id }, body }, options);
  }

  /** Calls its component's `sampleEmit`; with `emit`, the events are emitted as the source's. */
  sample(id: string, body: BodyOf<"/sources/{id}/sample", "post"> = {}, options?: CallOptions) {
    const given = { usualMs: BUILD_MS, ...options };
    return this.#connection.send("post", "/sources/{id}/sample", { params: { id }, body }, given);
  }

  /** Lists the choices of a prop, page by page; values that the body leaves out are those that the source has. */
  configure(id: string, body: BodyOf<"/sources/{id}/configure", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/sources/{id}/configure", { params: { id }, body }, options);
  }
}
