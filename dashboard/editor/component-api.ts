import type { Completion } from "@codemirror/autocomplete";

/** What completes code of a component, by where it stands (docs/component-api.md). */

const of =
  (type: Completion["type"]) =>
  (label: string, detail: string): Completion => ({ label, detail, type: type as string });
const method = of("method");
const property = of("property");
const constant = of("constant");
const key = of("keyword");

/** What `this` has besides props and methods. */
export const OWN: Completion[] = [method("$emit", "(event, { id, summary, name, ts })")];

/** What a value of a prop has, by the prop's type. */
export const OF_TYPE: Record<string, Completion[]> = {
  "$.interface.http": [
    method("respond", "({ status, headers, body })"),
    method("setSecret", "(secret), in hooks: verifies requests"),
    property("endpoint", "its address"),
    property("endpointUrl", "its address"),
  ],
  "$.interface.timer": [
    property("intervalSeconds", "its period"),
    property("cron", "its schedule"),
    property("timezone", "of the schedule"),
  ],
  "$.service.db": [method("get", "(key)"), method("set", "(key, value), kept for the next run")],
  http_request: [method("execute", "(): { status, headers, data }")],
  app: [property("$auth", "the credentials of its connection")],
};

/** What `event` has in `run`, by the type of the prop that it comes from. */
export const OF_EVENT: Record<string, Completion[]> = {
  "$.interface.http": [
    property("body", "parsed, by its type"),
    property("bodyRaw", "its exact text"),
    property("bodyBase64", "its exact bytes, if that is not UTF-8"),
    property("headers", "names in lower case"),
    property("method", "such as POST"),
    property("path", "what follows the endpoint"),
    property("query", "by name"),
    property("url", "all of the address"),
    property("client_ip", "the sender's"),
  ],
  "$.interface.timer": [
    property("timestamp", "the moment that was due, in seconds"),
    property("interval_seconds", "the timer's period"),
    property("cron", "the timer's schedule"),
  ],
};

/** What `$` has in `run({ steps, $ })` of an action. */
export const OF_ACTION: Completion[] = [
  method("$.export", "(name, value)"),
  property("$.context", "which event and delivery it is"),
  method("$.flow.exit", "(): ends the run"),
];

/** Types of props, in quotes. */
export const TYPES: Completion[] = [
  constant("$.interface.http", "an endpoint"),
  constant("$.interface.timer", "a timer"),
  constant("$.interface.apphook", "events of an app"),
  constant("$.service.db", "what is kept between runs"),
  ...["string", "integer", "boolean", "object", "any"].map(type => constant(type, "a value")),
  ...["string[]", "integer[]", "object[]"].map(type => constant(type, "a list")),
  constant("app", "a connection"),
  constant("http_request", "a request to send"),
  constant("alert", "a word to who fills in the form"),
];

/** Keys of a component. */
export const COMPONENT_KEYS: Completion[] = [
  key("name", "required"),
  key("version", "required"),
  key("key", "an id of its own"),
  key("description", "for people"),
  key("type", '"source" or "action"'),
  key("dedupe", '"unique", "greatest" or "last"; {strategy: "unique", remember: 5000}'),
  key("props", "what it is configured with"),
  key("additionalProps", "props that depend on others"),
  key("methods", "on this"),
  key("hooks", "deploy, activate, deactivate"),
  key("run", "for each event"),
  key("sampleEmit", "an event to try with"),
];

export const HOOKS: Completion[] = [
  method("deploy", "once, when it is made"),
  method("activate", "when it is switched on"),
  method("deactivate", "when it is switched off"),
];

/** Keys of a prop. */
export const PROP_KEYS: Completion[] = [
  key("type", "required"),
  key("label", "for forms"),
  key("description", "for forms"),
  key("optional", "no value is needed"),
  key("default", "the value if none is configured"),
  key("static", "a value that can't be configured"),
  key("options", "the choices, or a function that lists them"),
  key("secret", "encrypted, and never shown"),
  key("reloadProps", "its value decides about others"),
  key("propDefinition", "[app, name]"),
  key("hidden", "in no form"),
  key("min", "of an integer"),
  key("max", "of an integer"),
  key("customResponse", "the code responds to the request"),
];

/** Keys of the objects that a method is called with. */
export const KEYS_OF_CALL: Record<string, { first?: Completion[]; second?: Completion[] }> = {
  $emit: {
    second: [
      key("id", "for dedupe"),
      key("summary", "a line for people"),
      key("name", "the channel"),
      key("ts", "orders the events of a run"),
    ],
  },
  respond: {
    first: [
      key("status", "200 to 599"),
      key("headers", "by name"),
      key("body", "a text, an object or bytes"),
    ],
  },
};
