// Receives GitHub webhooks and emits one event per delivery. The signature is checked against the exact text of the
// body (`bodyRaw`), because parsing and serializing JSON would change it. A sender without the secret gets a 401.
import { createHmac, timingSafeEqual } from "node:crypto";

export default {
  key: "github-webhook",
  name: "GitHub Webhook",
  version: "1.0.0",
  description: "Emits an event for every genuine delivery of a GitHub webhook.",
  type: "source",
  // If GitHub gets no response in time, a delivery may be sent again with the same id.
  dedupe: "unique",
  props: {
    http: { type: "$.interface.http", customResponse: true },
    secret: { type: "string", label: "Secret", description: "As entered at GitHub.", secret: true },
    events: {
      type: "string[]",
      label: "Events",
      description: "Names such as push or issues; all events if empty.",
      optional: true,
    },
  },
  methods: {
    isGenuine({ headers, bodyRaw }) {
      const expected = Buffer.from(`sha256=${createHmac("sha256", this.secret).update(bodyRaw).digest("hex")}`);
      const given = Buffer.from(headers["x-hub-signature-256"] ?? "");
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    respond(status, message) {
      this.http.respond({ status, headers: { "content-type": "application/json" }, body: { message } });
    },
  },
  async run(event) {
    if (!this.isGenuine(event)) return this.respond(401, "the signature does not match");
    const name = event.headers["x-github-event"];
    if (name === "ping") return this.respond(200, "pong");
    if (this.events?.length && !this.events.includes(name)) return this.respond(200, `${name} is not selected`);
    this.respond(202, "accepted");
    const delivery = event.headers["x-github-delivery"];
    this.$emit(
      { event: name, delivery, payload: event.body },
      { id: delivery, summary: `${name} in ${event.body?.repository?.full_name ?? "unknown"}`, ts: Date.now() },
    );
  },
};
