import { jsonOf, send } from "../../lib/http.mjs";
import { unlessGone } from "../../lib/unless-gone.mjs";

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
  version: "1.2.0",
  type: "source",
  description: "Emits the events of a Stripe account, where it is registered by itself.",
  // Stripe repeats for three days what was not accepted.
  dedupe: { strategy: "unique", remember: 5000 },
  props: {
    http: {
      type: "$.interface.http",
      label: "Address",
      verify: { preset: "stripe", secret: { from: "hook" } },
    },
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
      for (const id of await this.registered()) await this.remove(id);
      const fields = new URLSearchParams({ url, description: "Headwater" });
      for (const type of this.types?.length ? this.types : ["*"]) fields.append("enabled_events[]", type);
      if (this.version) fields.set("api_version", this.version);
      const { id, secret } = await this.ask("POST", "", fields);
      this.http.setSecret(secret);
      this.db.set("endpoint", { id });
    },
    /** Of an `activate` that a crash ended, nothing is in the db: its endpoint is found by its address, too. */
    async deactivate() {
      const ids = [...(await this.registered()), this.db.get("endpoint")?.id];
      for (const id of new Set(ids.filter(Boolean))) await this.remove(id);
      this.db.set("endpoint", undefined);
    },
  },
  methods: {
    /** Returns the ids of the endpoints that have the source's address. */
    async registered() {
      const { data } = await this.ask("GET", `?limit=${PAGE}`);
      return data.filter(({ url }) => url === this.http.endpoint).map(({ id }) => id);
    },
    async remove(id) {
      await this.ask("DELETE", `/${id}`).catch(unlessGone);
    },
    async ask(method, path, body) {
      const headers = { authorization: `Bearer ${this.apiKey}` };
      return jsonOf(
        await send(`${this.api}/v1/webhook_endpoints${path}`, { method, headers, ...(body && { body }) }),
      );
    },
  },
  run({ body }) {
    const { id, type, created } = body;
    this.$emit(withoutSecrets(body), { id, summary: type, ts: 1000 * created });
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
