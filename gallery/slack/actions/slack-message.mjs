import { jsonOf, ResponseError, send } from "../../lib/http.mjs";
import { cut } from "../../lib/text.mjs";

/** Slack's own bound for the text of a message. */
const MAX_TEXT = 40_000;

export default {
  key: "headwater-slack-message",
  name: "Slack message",
  version: "1.0.1",
  type: "action",
  description: "Sends a message to a Slack channel for each event.",
  props: {
    text: {
      type: "string",
      label: "Message",
      description: "Such as: Order {{event.id}} of {{event.customer.name}}.",
    },
    webhookUrl: {
      type: "string",
      label: "Incoming webhook",
      description:
        "Its address, https://hooks.slack.com/services/…: messages go to its channel. Empty: a bot token and a channel are needed.",
      secret: true,
      optional: true,
    },
    token: {
      type: "string",
      label: "Bot token",
      description: "xoxb-…, of an app that may chat:write and was invited to the channel.",
      secret: true,
      optional: true,
    },
    channel: {
      type: "string",
      label: "Channel",
      description: "For a bot token: its id, such as C0123456789, or #name.",
      optional: true,
    },
    thread: {
      type: "string",
      label: "Reply to",
      description: "For a bot token: the ts of the message whose thread this belongs to.",
      optional: true,
    },
    blocks: {
      type: "any",
      label: "Blocks",
      description: "A list of Block Kit; the message is what notifications show then.",
      optional: true,
    },
    api: { type: "string", label: "Address of Slack's API", hidden: true, default: "https://slack.com/api" },
  },
  methods: {
    message() {
      return { text: cut(this.text, MAX_TEXT), ...(this.blocks && { blocks: this.blocks }) };
    },
    async post(url, message, headers = {}) {
      return send(url, {
        method: "POST",
        headers: { "content-type": "application/json; charset=utf-8", ...headers },
        body: JSON.stringify(message),
        isAnyStatus: true,
      });
    },
    async byWebhook() {
      const response = await this.post(this.webhookUrl, this.message());
      // The path is the secret.
      if (response.status !== 200) throw new ResponseError(new URL(this.webhookUrl).origin, response);
      return { ok: true };
    },
    async byBot() {
      const message = {
        channel: this.channel,
        ...this.message(),
        ...(this.thread && { thread_ts: this.thread }),
      };
      const url = `${this.api}/chat.postMessage`;
      const response = await this.post(url, message, { authorization: `Bearer ${this.token}` });
      if (response.status !== 200) throw new ResponseError(url, response);
      const { ok, error, response_metadata, channel, ts } = jsonOf(response);
      if (ok) return { ok, channel, ts };
      throw new Error([`Slack said ${error}`, ...(response_metadata?.messages ?? [])].join("; "));
    },
  },
  async run({ $ }) {
    const isByBot = !this.webhookUrl;
    if (isByBot && !(this.token && this.channel))
      throw new Error("give an incoming webhook, or a bot token and a channel");
    const sent = await (isByBot ? this.byBot() : this.byWebhook());
    $.export("$summary", sent.channel ? `sent to ${sent.channel}` : "sent");
    return sent;
  },
};
