import { jsonOf, send } from "../../lib/http.mjs";

const PAGE = 250;
const MAX_TOPICS = 50;

const LIST = `query ($after: String) {
  webhookSubscriptions(first: ${PAGE}, after: $after) {
    nodes { id topic uri }
    pageInfo { hasNextPage endCursor }
  }
}`;
const CREATE = `mutation ($topic: WebhookSubscriptionTopic!, $webhookSubscription: WebhookSubscriptionInput!) {
  webhookSubscriptionCreate(topic: $topic, webhookSubscription: $webhookSubscription) { userErrors { message } }
}`;
const DELETE = `mutation ($id: ID!) {
  webhookSubscriptionDelete(id: $id) { userErrors { message } }
}`;
const TOPICS = `query { __type(name: "WebhookSubscriptionTopic") { enumValues { name } } }`;

export default {
  key: "headwater-shopify-events",
  name: "Shopify events",
  version: "1.0.0",
  type: "source",
  description: "Emits what happens in a shop of Shopify, where it is registered by itself.",
  // Shopify repeats for four hours what was not accepted.
  dedupe: { strategy: "unique", remember: 5000 },
  props: {
    http: {
      type: "$.interface.http",
      label: "Address",
      verify: { preset: "shopify", secret: "clientSecret" },
    },
    shop: {
      type: "string",
      label: "Shop",
      description: "Such as my-shop.myshopify.com, which is its address in the admin.",
    },
    token: {
      type: "string",
      label: "Access token",
      description:
        "shpat_…, of an app of your own that is installed in the shop, with the scopes that the topics need, such as read_orders.",
      secret: true,
    },
    clientSecret: {
      type: "string",
      label: "Client secret",
      description: "Of that app, also called its API secret key: by it Shopify signs what it sends.",
      secret: true,
    },
    topics: {
      type: "string[]",
      label: "Topics",
      description: `Such as ORDERS_CREATE; at most ${MAX_TOPICS}.`,
      async options() {
        const { __type } = await this.ask(TOPICS);
        return __type.enumValues.map(({ name }) => name);
      },
    },
    version: {
      type: "string",
      label: "API version",
      description: "By which the source is registered. That of the events is the app's.",
      default: "2026-10",
    },
    api: {
      type: "string",
      label: "Address of Shopify's API",
      description: "Of the shop, unless it is given.",
      hidden: true,
      optional: true,
    },
  },
  hooks: {
    /** It may run again after a crash, with what it registered then: that is known by its address. */
    async activate() {
      const wanted = [...new Set(this.topics)];
      if (wanted.length === 0 || wanted.length > MAX_TOPICS)
        throw new Error(`Topics: there are ${wanted.length}, and a source has 1 to ${MAX_TOPICS}`);
      const known = await this.registered();
      try {
        for (const topic of wanted.filter(one => known.every(({ topic }) => topic !== one))) {
          const webhookSubscription = { uri: this.http.endpoint, format: "JSON" };
          await this.ask(CREATE, { topic, webhookSubscription });
        }
        await this.remove(known.filter(({ topic }) => !wanted.includes(topic)));
      } catch (error) {
        // Of several topics, some may be registered already. What was wrong counts, also if that can't be undone now.
        await this.unregister().catch(() => undefined);
        throw error;
      }
    },
    async deactivate() {
      await this.unregister();
    },
  },
  methods: {
    async unregister() {
      await this.remove(await this.registered());
    },
    /** Returns the subscriptions of this app that have the source's address. */
    async registered() {
      const found = [];
      let after = null;
      do {
        const { nodes, pageInfo } = (await this.ask(LIST, { after })).webhookSubscriptions;
        found.push(...nodes.filter(({ uri }) => uri === this.http.endpoint));
        const isNext = pageInfo.hasNextPage && pageInfo.endCursor !== after;
        after = isNext ? pageInfo.endCursor : null;
      } while (after !== null);
      return found;
    },
    async remove(subscriptions) {
      for (const { id } of subscriptions) await this.ask(DELETE, { id });
    },
    /** Returns what a query or mutation gives. Throws what Shopify says is wrong, with the request or with what was asked for. */
    async ask(query, variables = {}) {
      const address = this.api || `https://${shopOf(this.shop)}`;
      const response = await send(`${address}/admin/api/${this.version}/graphql.json`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-shopify-access-token": this.token },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = jsonOf(response);
      const faults = [errors ?? [], Object.values(data ?? {}).map(field => field?.userErrors ?? [])].flat(2);
      if (faults.length > 0)
        throw new Error(`Shopify: ${faults.map(fault => fault.message ?? fault).join("; ")}`);
      return data;
    },
  },
  run({ headers, body }) {
    const topic = headers["x-shopify-topic"];
    const id = headers["x-shopify-event-id"] ?? headers["x-shopify-webhook-id"];
    const shop = headers["x-shopify-shop-domain"] ?? this.shop;
    const happenedAt = headers["x-shopify-triggered-at"] ?? null;
    const ts = Date.parse(happenedAt ?? "") || Date.now();
    const name = body.name ?? body.title ?? body.id;
    const summary = [topic, name].filter(Boolean).join(" ");
    // An event has several topics, for which its id is the same.
    this.$emit(
      { topic, shop, happened_at: happenedAt, payload: body },
      { ...(id && { id: `${id}:${topic}` }), summary, ts },
    );
  },
  sampleEmit: {
    topic: "orders/create",
    shop: "my-shop.myshopify.com",
    happened_at: "2026-11-29T08:00:00.123456789Z",
    payload: {
      id: 820982911946154500,
      name: "#1001",
      email: "ada@example.com",
      currency: "EUR",
      total_price: "129.00",
      line_items: [{ title: "Analytical engine", quantity: 1, price: "129.00" }],
    },
  },
};

/** A shop's name in its address, however much of that was entered: the token goes to Shopify alone. */
function shopOf(text) {
  const [, name] = /^(?:https?:\/\/)?([a-z0-9][a-z0-9-]*)(?:\.myshopify\.com)?\/*$/i.exec(text.trim()) ?? [];
  if (!name) throw new Error("Shop: must be the name of a shop, such as my-shop.myshopify.com");
  return `${name}.myshopify.com`;
}
