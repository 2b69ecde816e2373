import type { Effect, ToolSpec } from "./tool-table.ts";

/** A tool that changes something. Its arguments are listed: what a route learns later is for no agent before somebody says so. */
export interface WriteToolSpec extends ToolSpec {
  takes: readonly string[];
  writes: Effect;
  /** True if it configures props, of which none may be a secret. */
  configures?: true;
}

const ADDS: Effect = { isDestructive: false, isIdempotent: false };
const SETS: Effect = { isDestructive: false, isIdempotent: true };
const MAY_LOSE: Effect = { isDestructive: true, isIdempotent: true };

const EVENT = ["event", "name", "id", "ts", "events"];
const reachesOut = true;

/** A recovery may send many requests, so a call that says nothing only counts them. */
const RECOVERS = {
  takes: ["since", "dry_run"],
  says: {
    dry_run: {
      type: "boolean",
      default: true,
      description: "True: count the deliveries and change nothing. Only false retries them.",
    },
  },
  writes: ADDS,
  reachesOut,
} as const;

const CONFIGURED = {
  type: "object",
  description:
    "Values by prop name (get_component has them). A timer is `{intervalSeconds}` or `{cron, timezone?}`; an `app` prop is " +
    "`{authProvisionId}`, an id of list_connections. A secret can't be given here.",
};

/**
 * What agents may change, in the order in which it is listed after what they read. Left out is what lets somebody in, or sends
 * events to an address that no person has chosen: keys, members, connections, signing keys, and new webhooks and destinations.
 */
export const WRITE_TOOLS: readonly WriteToolSpec[] = [
  {
    name: "publish_event",
    title: "Publish an event",
    route: "publishSourceEvents",
    takes: EVENT,
    writes: ADDS,
    reachesOut,
    description: "Publish an event as a source, or a batch, without running its code: its listeners get it.",
  },
  {
    name: "publish_workflow_event",
    title: "Publish an event of a workflow",
    route: "publishWorkflowEvents",
    takes: EVENT,
    writes: ADDS,
    reachesOut,
    description: "Publish an event as a workflow, or a batch: its listeners get it.",
  },
  {
    name: "run_source",
    title: "Run a source",
    route: "runSource",
    takes: ["event"],
    writes: ADDS,
    reachesOut,
    description: "Run a source now; what it emits goes to its listeners. get_run shows what became of it.",
  },
  {
    name: "retry_deliveries",
    title: "Retry deliveries",
    route: "retrySelectedDeliveries",
    takes: ["ids"],
    writes: ADDS,
    reachesOut,
    description: "Retry deliveries now, by their ids; says of each what became of it.",
  },
  {
    name: "recover_webhook",
    title: "Retry what a webhook has missed",
    route: "recoverDeliveries",
    ...RECOVERS,
    description: "Count the failed deliveries to a webhook since a time, or retry them all (dry_run=false).",
  },
  {
    name: "recover_destination",
    title: "Retry what a destination has missed",
    route: "recoverDestinationDeliveries",
    ...RECOVERS,
    description:
      "Count the failed deliveries to a destination since a time, or retry them all (dry_run=false).",
  },
  {
    name: "save_component",
    title: "Save a component",
    route: "createComponent",
    always: { exclude: "code" },
    takes: ["component_code", "files", "entry", "component_url"],
    writes: SETS,
    reachesOut,
    description:
      "Save a component's code, for deploy_source. check_component first. No secret belongs into the code: declare a prop.",
  },
  {
    name: "deploy_source",
    title: "Deploy a source",
    route: "createSource",
    takes: ["component_id", "name", "configured_props", "comment", "emit_on_deploy"],
    requires: ["component_id"],
    says: {
      component_id: {
        type: "string",
        minLength: 1,
        maxLength: 256,
        description: "Id or key of a component.",
      },
      configured_props: CONFIGURED,
    },
    configures: true,
    writes: ADDS,
    reachesOut,
    description:
      "Deploy a component as a source: its hooks run, and it is active. One that needs a secret is deployed by a person, in the dashboard.",
  },
  {
    name: "update_source",
    title: "Change a source",
    route: "updateSource",
    takes: ["component_id", "name", "configured_props", "comment", "active"],
    requires: ["active"],
    says: {
      component_id: {
        type: "string",
        minLength: 1,
        maxLength: 256,
        description:
          "Id or key of another component, such as a repaired one; the secrets of the source don't go along.",
      },
      configured_props: CONFIGURED,
      active: { type: "boolean", description: "Whether it runs afterwards." },
    },
    configures: true,
    writes: MAY_LOSE,
    reachesOut,
    description: "Change a source's name, props or component. What is left out stays.",
  },
  {
    name: "pause_source",
    title: "Pause a source",
    route: "updateSource",
    always: { active: false },
    takes: [],
    writes: MAY_LOSE,
    reachesOut,
    description:
      "Switch a source off: its timer, its endpoint and its listening. Requests to it are lost until it is resumed.",
  },
  {
    name: "resume_source",
    title: "Resume a source",
    route: "updateSource",
    always: { active: true },
    takes: [],
    writes: SETS,
    reachesOut,
    description: "Switch a source on again.",
  },
  {
    name: "pause_webhook",
    title: "Pause a webhook",
    route: "updateWebhook",
    always: { active: false },
    takes: [],
    writes: MAY_LOSE,
    description: "Switch a webhook off. Events for it are dropped, and counted, until it is resumed.",
  },
  {
    name: "resume_webhook",
    title: "Resume a webhook",
    route: "updateWebhook",
    always: { active: true },
    takes: [],
    writes: SETS,
    description: "Switch a webhook on again, also one that was disabled because it failed.",
  },
  {
    name: "pause_destination",
    title: "Pause a destination",
    route: "updateDestination",
    always: { active: false },
    takes: [],
    writes: MAY_LOSE,
    description: "Switch a destination off. Events for it are dropped, and counted, until it is resumed.",
  },
  {
    name: "resume_destination",
    title: "Resume a destination",
    route: "updateDestination",
    always: { active: true },
    takes: [],
    writes: SETS,
    description: "Switch a destination on again, also one that was disabled because it failed.",
  },
  {
    name: "subscribe",
    title: "Subscribe a listener",
    route: "createSubscription",
    takes: ["emitter_id", "listener_id", "event_name", "filter"],
    writes: MAY_LOSE,
    description:
      "Let a listener get an emitter's events, through a filter. A filter replaces that of a subscription that is there already; try it with test_filter first.",
  },
  {
    name: "unsubscribe",
    title: "End a subscription",
    route: "deleteSubscriptionById",
    takes: [],
    writes: MAY_LOSE,
    description: "Delete a subscription; its deliveries that wait are cancelled.",
  },
  {
    name: "delete_source",
    title: "Delete a source",
    route: "deleteSource",
    takes: [],
    writes: MAY_LOSE,
    reachesOut,
    description:
      "Delete a source with its subscriptions, its events, its memory and its versions. Nothing brings them back.",
  },
  {
    name: "delete_webhook",
    title: "Delete a webhook",
    route: "deleteWebhook",
    takes: [],
    writes: MAY_LOSE,
    description: "Delete a webhook with its subscriptions; its deliveries that wait are cancelled.",
  },
  {
    name: "delete_destination",
    title: "Delete a destination",
    route: "deleteDestination",
    takes: [],
    writes: MAY_LOSE,
    description: "Delete a destination with its subscriptions; its deliveries that wait are cancelled.",
  },
];
