/** A tool that shows what a route responds with. */
export interface ToolSpec {
  name: string;
  title: string;
  /** For the model that chooses among the tools. */
  description: string;
  /** The operation id of the route. Arguments, result, limits and authorization are the route's. */
  route: string;
  /** The route for an organization, where the first one knows only the caller's own account. */
  ofOrganization?: string;
  /** Parameters that are always sent, and so are not among the arguments. */
  always?: Readonly<Record<string, string | boolean>>;
  /** The parameters that are arguments, besides those of the path; by default all. */
  takes?: readonly string[];
  /** Arguments that it needs although the route does not. */
  requires?: readonly string[];
  /** What is said otherwise of an argument than the route says it. */
  says?: Readonly<Record<string, object>>;
  /** True if the result may quote what somebody outside of the account has sent. */
  quotesStrangers?: true;
  /** True if a page of its list may have fewer rows than were asked for although more follow. */
  isSparse?: true;
  /** True if the call reaches beyond this server. */
  reachesOut?: true;
  /** What a call does; absent if it only reads. */
  writes?: Effect;
}

/** What hosts go by when they decide whether to ask a person first. */
export interface Effect {
  /** True if something may end, be replaced or be lost by it. */
  isDestructive: boolean;
  /** True if the same call again changes nothing more. */
  isIdempotent: boolean;
}

const WHOLE = { expand: "event" };
const quotesStrangers = true;

/** What agents may read, in the order in which it is listed. */
export const READ_TOOLS: readonly ToolSpec[] = [
  {
    name: "get_account",
    title: "Account",
    route: "getCurrentUser",
    description: "Who you are here: user, organizations, limits and usage.",
  },
  {
    name: "get_attention",
    title: "What needs somebody",
    route: "getAttention",
    quotesStrangers,
    description:
      "Begin here when something seems wrong: what fails, is disabled or waits now, and since when.",
  },
  {
    name: "search",
    title: "Search",
    route: "search",
    quotesStrangers,
    description:
      "Find anything by its id (or the beginning of one), by name, by address or by words of a payload.",
  },
  {
    name: "list_sources",
    title: "Sources",
    route: "listMySources",
    always: { exclude: "configured_props" },
    description: "List the sources: deployed components that emit events.",
  },
  {
    name: "get_source",
    title: "Source",
    route: "getSource",
    description: "Get a source by id or name slug: its props, dropped events and next tick.",
  },
  {
    name: "list_runs",
    title: "Runs",
    route: "listRuns",
    quotesStrangers,
    description: "List a source's runs of the last 7 days, newest first; outcome=error for failed ones.",
  },
  {
    name: "get_run",
    title: "Run",
    route: "getRun",
    quotesStrangers,
    description: "Get a run: what it emitted, logged and threw, and the deliveries of its events.",
  },
  {
    name: "list_events",
    title: "Events",
    route: "listSourceEvents",
    quotesStrangers,
    description:
      "List the last events of a source, newest first, long ones shortened. get_event has the whole of one.",
  },
  {
    name: "list_errors",
    title: "Errors",
    route: "listSourceErrors",
    quotesStrangers,
    description:
      "List the last errors of a source's code, each with the event on which it threw, and its stack.",
  },
  {
    name: "list_logs",
    title: "Log lines",
    route: "listSourceLogs",
    quotesStrangers,
    description: "List the last lines that a source's code has logged.",
  },
  {
    name: "get_event",
    title: "Event",
    route: "traceEvent",
    always: WHOLE,
    quotesStrangers,
    description:
      "Get an event and its whole story: the run that emitted it, which subscriptions matched and why others did not, its deliveries and their attempts. Takes an event id with its emitter_id, an emit id, or a delivery's id.",
  },
  {
    name: "list_workflows",
    title: "Workflows",
    route: "listMyWorkflows",
    description: "List the workflows.",
  },
  {
    name: "list_workflow_events",
    title: "Events of a workflow",
    route: "listWorkflowEvents",
    quotesStrangers,
    description: "List the last events of a workflow, the newest last.",
  },
  {
    name: "list_webhooks",
    title: "Webhooks",
    route: "listMyWebhooks",
    description: "List the webhooks: endpoints that events are delivered to, with what fails and why.",
  },
  { name: "get_webhook", title: "Webhook", route: "getWebhook", description: "Get a webhook." },
  {
    name: "list_destinations",
    title: "Destinations",
    route: "listMyDestinations",
    description: "List the destinations: what else events are delivered to.",
  },
  {
    name: "get_destination",
    title: "Destination",
    route: "getDestination",
    description: "Get a destination.",
  },
  {
    name: "list_subscriptions",
    title: "Subscriptions",
    route: "listMySubscriptions",
    description:
      "List the subscriptions: which listener gets the events of which emitter, through which filter.",
  },
  {
    name: "test_filter",
    title: "Try a filter",
    route: "testFilter",
    quotesStrangers,
    description:
      "Try a filter on the last events of an emitter: which match, and why the others do not. Stores nothing. read_doc filters has the grammar.",
  },
  {
    name: "search_deliveries",
    title: "Deliveries",
    route: "searchDeliveries",
    quotesStrangers,
    isSparse: true,
    description:
      "Search deliveries, newest first: by state, HTTP status, time, listener, emitter, event, issue or words of the payload.",
  },
  {
    name: "get_delivery",
    title: "Delivery",
    route: "getDelivery",
    always: WHOLE,
    quotesStrangers,
    description: "Get a delivery: each attempt with its response, and what is sent.",
  },
  {
    name: "list_issues",
    title: "Issues",
    route: "listMyIssues",
    quotesStrangers,
    description: "List issues: failed attempts, grouped by listener and kind of error.",
  },
  { name: "get_issue", title: "Issue", route: "getIssue", quotesStrangers, description: "Get an issue." },
  {
    name: "list_alerts",
    title: "Alerts",
    route: "listMyAlerts",
    ofOrganization: "listOrganizationAlerts",
    quotesStrangers,
    description: "List the account's last alerts, newest first.",
  },
  {
    name: "get_stats",
    title: "Statistics",
    route: "getStats",
    description: "Get what happened in each of the last hours: events, runs, attempts, failures.",
  },
  {
    name: "get_source_stats",
    title: "Statistics of a source",
    route: "getSourceStats",
    description: "Get what happened to a source's events in each of the last hours.",
  },
  {
    name: "get_webhook_stats",
    title: "Statistics of a webhook",
    route: "getWebhookStats",
    description: "Get what happened to a webhook's deliveries in each of the last hours.",
  },
  {
    name: "get_queues",
    title: "Queues",
    route: "getQueues",
    description: "Get what waits in queues, and since when.",
  },
  {
    name: "search_gallery",
    title: "Gallery",
    route: "listGallery",
    description: "Search the ready-made components that come with this release.",
  },
  {
    name: "list_components",
    title: "Components",
    route: "listComponents",
    always: { exclude: "code,configurable_props" },
    description: "List the account's own components.",
  },
  {
    name: "get_component",
    title: "Component",
    route: "getComponent",
    quotesStrangers,
    description: "Get a component by id or key: its props and its code.",
  },
  {
    name: "list_connections",
    title: "Connections",
    route: "listMyConnections",
    always: { exclude: "endpoint_url,events,verify" },
    description:
      "List the connections: access to apps, for `app` props of sources. Credentials are never shown.",
  },
  {
    name: "check_component",
    title: "Check code",
    route: "describeCode",
    reachesOut: true,
    description:
      "Check a component's code without saving it: its props, or its errors with their lines. read_doc component-api says how to write one.",
  },
];
