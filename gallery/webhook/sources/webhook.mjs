import { asText, filled, valueAt } from "../../lib/paths.mjs";

/** Headers that prove who sends: receivers of the event need none of them. */
const SECRET_HEADERS =
  /^(authorization|proxy-authorization|cookie|x-api-key|.*-(token|secret|auth|signature).*)$/;

const example = { id: "evt_1", type: "order.created", amount: 1290 };

export default {
  key: "headwater-webhook",
  name: "Webhook",
  version: "1.1.0",
  type: "source",
  description: "Emits an event for each HTTP request to an address of its own.",
  dedupe: { strategy: "unique", remember: 1000 },
  props: {
    http: {
      type: "$.interface.http",
      label: "Address",
      description: "Enter it where the sender asks for a webhook.",
    },
    content: {
      type: "string",
      label: "What an event has",
      options: [
        { label: "The body of the request", value: "body" },
        { label: "The whole request: method, path, query, headers and body", value: "request" },
      ],
      default: "body",
    },
    accepted: {
      type: "string[]",
      label: "Methods",
      description:
        "Requests with other methods are left out, such as those with which senders look whether the address exists.",
      options: ["POST", "PUT", "PATCH", "DELETE", "GET", "HEAD"],
      default: ["POST", "PUT", "PATCH"],
    },
    id: {
      type: "string",
      label: "Id of a request",
      description:
        "Path of a value that a repeated request has again, such as body.id or headers.x-github-delivery: then it is one event. " +
        "Empty: each request is an event, unless what verifies it knows its id.",
      optional: true,
    },
    summary: {
      type: "string",
      label: "Summary",
      description: "A line for people, with values of the request, such as {{body.type}} of {{body.id}}.",
      optional: true,
    },
  },
  methods: {
    idOf(event) {
      const found = this.id ? valueAt(event, this.id) : event.verified?.id;
      return found === undefined || found === null ? undefined : asText(found);
    },
    summaryOf(event) {
      const type = valueAt(event, "body.type") ?? valueAt(event, "body.event");
      return this.summary
        ? filled(this.summary, event)
        : [event.method, event.path, asText(type)].join(" ").trim();
    },
    contentOf({ method, path, query, headers, body, bodyBase64, url, client_ip }) {
      // A text would not have the exact bytes.
      const exact = bodyBase64 === undefined || typeof body === "object" ? body : { base64: bodyBase64 };
      if (this.content === "body") return exact;
      const shown = Object.entries(headers).filter(([name]) => !SECRET_HEADERS.test(name));
      return {
        method,
        path,
        query,
        headers: Object.fromEntries(shown),
        body: exact,
        url: url.split("?")[0],
        client_ip,
      };
    },
  },
  run(event) {
    if (!this.accepted.includes(event.method)) return;
    this.$emit(this.contentOf(event), {
      id: this.idOf(event),
      summary: this.summaryOf(event),
      ts: Date.now(),
    });
  },
  sampleEmit: example,
};
