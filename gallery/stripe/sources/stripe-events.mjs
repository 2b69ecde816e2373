import { jsonOf, send } from "../../lib/http.mjs";
import { bytesOf, hmac, isSame } from "../../lib/signatures.mjs";

/** Stripe's own: an older request may be a repeated one. */
const TOLERANCE_S = 300;
const PAGE = 100;

const TYPES = [
  ...[
    "charge.succeeded",
    "charge.failed",
    "charge.refunded",
    "charge.dispute.created",
    "checkout.session.completed",
  ],
  ...["customer.created", "customer.updated", "customer.deleted", "customer.subscription.created"],
  ...["customer.subscription.updated", "customer.subscription.deleted", "invoice.created", "invoice.paid"],
  ...[
    "invoice.payment_failed",
    "payment_intent.succeeded",
    "payment_intent.payment_failed",
    "payout.paid",
    "payout.failed",
  ],
];

export default {
  key: "headwater-stripe-events",
  name: "Stripe events",
  version: "1.0.0",
  type: "source",
  description: "Emits the events of a Stripe account, where it is registered by itself.",
  dedupe: "unique",
  props: {
    http: { type: "$.interface.http", label: "Address", customResponse: true },
    db: "$.service.db",
    apiKey: {
      type: "string",
      label: "Restricted key",
      description: "rk_live_… or rk_test_…, which may write Webhook Endpoints and needs nothing else.",
      secret: true,
    },
    types: {
      type: "string[]",
      label: "Types",
      description: "Empty: every type.",
      options: TYPES,
      optional: true,
    },
    version: {
      type: "string",
      label: "API version",
      description: "Of the objects in the events, such as 2025-09-30.clover. Empty: that of the account.",
      optional: true,
    },
    api: {
      type: "string",
      label: "Address of Stripe's API",
      hidden: true,
      default: "https://api.stripe.com",
    },
  },
  hooks: {
    /** It may run again after a crash. The secret of the endpoint that it made then can't be read any more, so that one is deleted. */
    async activate() {
      const url = this.http.endpoint;
      const { data } = await this.ask("GET", `?limit=${PAGE}`);
      for (const known of data.filter(one => one.url === url)) await this.ask("DELETE", `/${known.id}`);
      const fields = new URLSearchParams({ url, description: "Headwater" });
      for (const type of this.types?.length ? this.types : ["*"]) fields.append("enabled_events[]", type);
      if (this.version) fields.set("api_version", this.version);
      const { id, secret } = await this.ask("POST", "", fields);
      this.db.set("endpoint", { id, secret });
    },
    async deactivate() {
      const endpoint = this.db.get("endpoint");
      if (!endpoint) return;
      await this.ask("DELETE", `/${endpoint.id}`).catch(error => {
        // Somebody deleted it at Stripe.
        if (error.status !== 404) throw error;
      });
      this.db.set("endpoint", undefined);
    },
  },
  methods: {
    async ask(method, path, body) {
      const headers = { authorization: `Bearer ${this.apiKey}` };
      return jsonOf(
        await send(`${this.api}/v1/webhook_endpoints${path}`, { method, headers, ...(body && { body }) }),
      );
    },
    isGenuine(event) {
      const secret = this.db.get("endpoint")?.secret;
      const parts = (event.headers["stripe-signature"] ?? "").split(",").map(part => part.trim().split("="));
      const time = parts.find(([name]) => name === "t")?.[1] ?? "";
      if (secret === undefined || !(Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_S)) return false;
      const expected = hmac(secret, `${time}.`, bytesOf(event));
      return parts.some(([name, given]) => name === "v1" && isSame(given, expected));
    },
    respond(status, message) {
      this.http.respond({ status, headers: { "content-type": "application/json" }, body: { message } });
    },
  },
  run(event) {
    if (!this.isGenuine(event)) return this.respond(401, "the signature does not match, or is too old");
    this.respond(200, "accepted");
    const { id, type, created } = event.body;
    this.$emit(withoutSecrets(event.body), { id, summary: type, ts: 1000 * created });
  },
  sampleEmit: {
    id: "evt_1NG8Du2eZvKYlo2CUI79vXWy",
    object: "event",
    type: "payment_intent.succeeded",
    created: 1_686_089_970,
    livemode: false,
    data: {
      object: { id: "pi_1", object: "payment_intent", amount: 1290, currency: "eur", status: "succeeded" },
    },
  },
};

/** With its client secret, a payment can be changed. */
const withoutSecrets = body =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === "client_secret" ? undefined : value)));
