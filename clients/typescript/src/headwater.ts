import { Connection } from "./connection.ts";
import { List } from "./list.ts";
import { type AccountQuery, listOfAccount } from "./lists.ts";
import { type LiveMessage, type WatchOptions, watch } from "./live.ts";
import type { InputOf, MethodOf, Path, QueryOf, ResultOf } from "./operations.ts";
import type { CallOptions, HeadwaterOptions } from "./options.ts";
import { publish } from "./publish.ts";
import { Alerts } from "./resources/alerts.ts";
import { ApiKeys } from "./resources/api-keys.ts";
import { Components } from "./resources/components.ts";
import { Connections } from "./resources/connections.ts";
import { Deliveries } from "./resources/deliveries.ts";
import { Destinations } from "./resources/destinations.ts";
import { Gallery } from "./resources/gallery.ts";
import { Issues } from "./resources/issues.ts";
import { Listeners } from "./resources/listeners.ts";
import { McpSubscriptions } from "./resources/mcp-subscriptions.ts";
import { Organizations } from "./resources/organizations.ts";
import { Sources } from "./resources/sources.ts";
import { Subscriptions } from "./resources/subscriptions.ts";
import { Webhooks } from "./resources/webhooks.ts";
import { Workflows } from "./resources/workflows.ts";
import type {
  Attention,
  AuditEntry,
  CurrentUser,
  EventTrace,
  NewEvent,
  Published,
  Queues,
  SearchResult,
} from "./schema.ts";

/**
 * A client of one Headwater, for one API key. Every call that fails in passing (no response, 408, 429, 5xx) is sent again,
 * a POST with the same idempotency key; what fails for good is an error of a class of its own.
 */
export class Headwater {
  readonly components: Components;
  readonly gallery: Gallery;
  readonly sources: Sources;
  readonly webhooks: Webhooks;
  readonly destinations: Destinations;
  readonly listeners: Listeners;
  readonly mcpSubscriptions: McpSubscriptions;
  readonly subscriptions: Subscriptions;
  readonly connections: Connections;
  readonly deliveries: Deliveries;
  readonly issues: Issues;
  readonly workflows: Workflows;
  readonly alerts: Alerts;
  readonly organizations: Organizations;
  readonly apiKeys: ApiKeys;
  readonly #connection: Connection;

  constructor(options: HeadwaterOptions) {
    this.#connection = new Connection(options);
    this.components = new Components(this.#connection);
    this.gallery = new Gallery(this.#connection);
    this.sources = new Sources(this.#connection);
    this.webhooks = new Webhooks(this.#connection);
    this.destinations = new Destinations(this.#connection);
    this.listeners = new Listeners(this.#connection);
    this.mcpSubscriptions = new McpSubscriptions(this.#connection);
    this.subscriptions = new Subscriptions(this.#connection);
    this.connections = new Connections(this.#connection);
    this.deliveries = new Deliveries(this.#connection);
    this.issues = new Issues(this.#connection);
    this.workflows = new Workflows(this.#connection);
    this.alerts = new Alerts(this.#connection);
    this.organizations = new Organizations(this.#connection);
    this.apiKeys = new ApiKeys(this.#connection);
  }

  /** The caller, with the limits of the account and what is in use. */
  me(options?: CallOptions): Promise<CurrentUser> {
    return this.#connection.send("get", "/users/me", {}, options);
  }

  /** What needs somebody now: what fails or is disabled, since when and why, and how many of each kind there are. */
  attention(options?: CallOptions): Promise<Attention> {
    return this.#connection.send("get", "/attention", {}, options);
  }

  /** What waits in the queues of the account, by listener and by source, and since when. */
  queues(options?: CallOptions): Promise<Queues> {
    return this.#connection.send("get", "/queues", {}, options);
  }

  /** Who changed, replayed or deleted what of the organization, if the client is for one, else of the caller, and from where. */
  auditLog(query: AccountQuery<"audit_log"> = {}, options?: CallOptions): List<AuditEntry> {
    return listOfAccount(this.#connection, "audit_log", query, options);
  }

  /** What operators of the installation did, for operators. */
  installationLog(query: QueryOf<"/audit_log", "get"> = {}, options?: CallOptions): List<AuditEntry> {
    return new List(query, cursor =>
      this.#connection.send("get", "/audit_log", { query: { ...query, ...cursor } }, options),
    );
  }

  /** Publishes one event or a batch of up to 1,000, as a workflow (`p_…`) or as a source (`dc_…`); a text is sent as it is. */
  publish(
    emitterId: string,
    events: NewEvent | readonly NewEvent[] | string,
    options?: CallOptions,
  ): Promise<Published> {
    return publish(this.#connection, emitterId, events, options);
  }

  /** Where an event went and why: by its id and emitter, or by the id that `publish` returned. */
  trace(id: string, emitterId?: string, options?: CallOptions): Promise<EventTrace> {
    const query = emitterId === undefined ? {} : { emitter_id: emitterId };
    return this.#connection.send("get", "/events/{id}", { params: { id }, query }, options);
  }

  /**
   * Things by their id or its beginning (also a `webhook-id`, an event id or an emit id), a part of their name or address, or words of
   * a payload: the best of each kind.
   */
  search(text: string, options?: CallOptions): Promise<SearchResult> {
    return this.#connection.send("get", "/search", { query: { q: text } }, options);
  }

  /**
   * What happens, as it happens: events of up to 20 emitters, and the deliveries and runs of the account. Connects again by
   * itself, goes on behind the last event, and yields each event once. Ends when `signal` aborts or the loop is left.
   */
  watch(options: WatchOptions): AsyncGenerator<LiveMessage, void, undefined> {
    return watch(this.#connection, options);
  }

  /** Any other operation, by its method and path in openapi.json: `request("post", "/sign_in_links", {})`. */
  request<P extends Path, M extends MethodOf<P>>(
    method: M,
    path: P,
    input: InputOf<P, M>,
    options?: CallOptions,
  ): Promise<ResultOf<P, M>> {
    return this.#connection.send(method, path, input, options);
  }
}
