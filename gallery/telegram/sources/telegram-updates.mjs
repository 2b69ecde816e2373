import { randomBytes } from "node:crypto";
import { jsonOf, send } from "../../lib/http.mjs";
import { botProps } from "../bot.mjs";

const TYPES = [
  ...["message", "edited_message", "channel_post", "edited_channel_post", "inline_query", "callback_query"],
  ...[
    "shipping_query",
    "pre_checkout_query",
    "poll",
    "poll_answer",
    "my_chat_member",
    "chat_member",
    "chat_join_request",
  ],
];

export default {
  key: "headwater-telegram-updates",
  name: "Telegram bot updates",
  version: "1.1.1",
  type: "source",
  description: "Emits the messages and other updates of a Telegram bot, where it is registered by itself.",
  dedupe: "unique",
  props: {
    http: {
      type: "$.interface.http",
      label: "Address",
      verify: { preset: "telegram", secret: { from: "hook" } },
    },
    db: "$.service.db",
    ...botProps,
    types: { type: "string[]", label: "Updates", options: TYPES, default: ["message", "callback_query"] },
  },
  hooks: {
    /** A bot has one address: one that is in use elsewhere is not taken away from there. */
    async activate() {
      const url = this.http.endpoint;
      const before = await this.ask("getWebhookInfo");
      if (before.url && before.url !== url) {
        throw new Error(
          `the bot sends its updates to ${new URL(before.url).host} already: end that first, by deleteWebhook`,
        );
      }
      const secret_token = randomBytes(32).toString("hex");
      this.http.setSecret(secret_token);
      await this.ask("setWebhook", { url, secret_token, allowed_updates: this.types });
      this.db.set("hook", { url });
    },
    /** Of an `activate` that a crash ended, nothing is in the db. */
    async deactivate() {
      const { url } = await this.ask("getWebhookInfo");
      if ([this.http.endpoint, this.db.get("hook")?.url].includes(url)) await this.ask("deleteWebhook");
      this.db.set("hook", undefined);
    },
  },
  methods: {
    async ask(method, body = {}) {
      const response = await send(`${this.api}/bot${this.token}/${method}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        isAnyStatus: true,
      });
      // The address has the token.
      const { ok, result, description } = jsonOf({ ...response, url: `${this.api}/${method}` });
      if (ok) return result;
      throw Object.assign(new Error(`Telegram's ${method} said: ${description}`), {
        status: response.status,
      });
    },
  },
  run({ body }) {
    const { update_id, ...update } = body;
    const [type, content] = Object.entries(update)[0] ?? ["update", {}];
    const from = content.from?.username ?? content.chat?.title ?? content.from?.first_name;
    const summary = [type, from && `of ${from}`, content.text ?? content.data].filter(Boolean).join(" ");
    this.$emit(body, {
      id: String(update_id),
      summary,
      ts: content.date ? 1000 * content.date : Date.now(),
    });
  },
  sampleEmit: {
    update_id: 10_000,
    message: {
      message_id: 1365,
      date: 1_441_645_532,
      chat: { id: 1_111_111, type: "private", first_name: "Ada" },
      from: { id: 1_111_111, is_bot: false, first_name: "Ada" },
      text: "/start",
    },
  },
};
