import { jsonOf, send } from "../../lib/http.mjs";
import { cut } from "../../lib/text.mjs";
import { waitAsAsked } from "../../lib/wait-as-asked.mjs";
import { botProps } from "../bot.mjs";

/** Telegram's own bound, of the text without its formatting. */
const MAX_TEXT = 4096;

export default {
  key: "headwater-telegram-message",
  name: "Telegram message",
  version: "1.0.0",
  type: "action",
  description: "Sends a message of a Telegram bot for each event.",
  props: {
    db: "$.service.db",
    ...botProps,
    chat: {
      type: "string",
      label: "Chat",
      description:
        "Its id, such as -1001234567890, or @name of a public channel. Somebody has to write to the bot first, or add it to the group.",
    },
    text: {
      type: "string",
      label: "Message",
      description:
        "Such as: Order {{event.id}} of {{event.customer.name}}. Without a format, what is beyond 4,096 characters is cut.",
    },
    format: {
      type: "string",
      label: "Format",
      description:
        "With one, Telegram rejects a message that is too long, or in which a value of the event is not escaped.",
      options: [
        { label: "None", value: "none" },
        { label: "HTML", value: "HTML" },
        { label: "Markdown", value: "MarkdownV2" },
      ],
      default: "none",
    },
    topic: {
      type: "integer",
      label: "Topic",
      description: "Its id, in a group with topics.",
      optional: true,
    },
    silent: { type: "boolean", label: "Without a sound", default: false },
  },
  methods: {
    message() {
      const isPlain = this.format === "none";
      return {
        chat_id: this.chat,
        text: isPlain ? cut(this.text, MAX_TEXT) : this.text,
        ...(!isPlain && { parse_mode: this.format }),
        ...(this.topic && { message_thread_id: this.topic }),
        disable_notification: this.silent,
      };
    },
    async post() {
      const response = await send(`${this.api}/bot${this.token}/sendMessage`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(this.message()),
        isAnyStatus: true,
      });
      // The address has the token.
      const { ok, result, description, parameters } = jsonOf({ ...response, url: `${this.api}/sendMessage` });
      if (ok) return result;
      throw Object.assign(new Error(`Telegram said: ${description}`), {
        retryAfterMs: 1000 * (parameters?.retry_after ?? 0),
      });
    },
  },
  async run({ $ }) {
    const { message_id, chat } = await waitAsAsked(this.db, () => this.post());
    $.export("$summary", `sent to ${chat.title ?? chat.username ?? chat.first_name ?? this.chat}`);
    return { message_id, chat_id: chat.id };
  },
};
