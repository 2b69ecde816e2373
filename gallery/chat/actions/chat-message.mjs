import { ResponseError, send } from "../../lib/http.mjs";
import { cut, cutToBytes } from "../../lib/text.mjs";
import { waitAsAsked } from "../../lib/wait-as-asked.mjs";

/** How each of them takes a message, within its own bounds. */
const KINDS = {
  discord: {
    label: "Discord",
    // It responds with the message then.
    address: url => Object.assign(new URL(url), { search: withWait(url) }).href,
    message: ({ text, name, mentions }) => ({
      content: cut(text, 2000),
      ...(name && { username: cut(name, 80) }),
      ...(!mentions && { allowed_mentions: { parse: [] } }),
    }),
  },
  mattermost: {
    label: "Mattermost",
    message: ({ text, name, mentions }) => ({
      text: cut(mentions ? text : withoutMentions(text), 16_383),
      ...(name && { username: name }),
    }),
  },
  teams: {
    label: "Microsoft Teams",
    // Of the 28 KB of a whole message.
    message: ({ text, name }) => adaptiveCard(cutToBytes(text, 24 * 1024), name),
  },
};

export default {
  key: "headwater-chat-message",
  name: "Message to Discord, Mattermost or Teams",
  version: "1.0.0",
  type: "action",
  description: "Sends a message to a channel of Discord, Mattermost or Teams for each event.",
  props: {
    db: "$.service.db",
    kind: {
      type: "string",
      label: "Where",
      options: Object.entries(KINDS).map(([value, { label }]) => ({ label, value })),
    },
    url: {
      type: "string",
      label: "Webhook",
      description:
        "The address of an incoming webhook; of Teams, that of a workflow that posts to a channel when a webhook request is received.",
      secret: true,
    },
    text: {
      type: "string",
      label: "Message",
      description:
        "Such as: Order {{event.id}} of {{event.customer.name}}. What is too long for the channel is cut.",
    },
    name: {
      type: "string",
      label: "Name",
      description: "Whom the message is from; of Teams, its title.",
      optional: true,
    },
    mentions: {
      type: "boolean",
      label: "With mentions",
      description:
        "Whether @everyone and the like in a message calls people: values of the event may have it, too.",
      default: false,
    },
  },
  methods: {
    async post() {
      const { label, address = url => url, message } = KINDS[this.kind];
      if (!URL.canParse(this.url)) throw new Error("the webhook is not an address");
      const response = await send(address(this.url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(message(this)),
        isAnyStatus: true,
      });
      // The path is the secret.
      if (response.status >= 300) throw new ResponseError(new URL(this.url).origin, response);
      return { label, id: this.kind === "discord" ? JSON.parse(response.text).id : null };
    },
  },
  async run({ $ }) {
    const { label, id } = await waitAsAsked(this.db, () => this.post());
    $.export("$summary", `sent to ${label}`);
    return { id };
  },
};

function withWait(url) {
  const { searchParams } = new URL(url);
  searchParams.set("wait", "true");
  return searchParams.toString();
}

/** A blank of no width keeps a name from being one that is called. */
const withoutMentions = text => text.replace(/@(?=(channel|all|here)\b)/gi, "@\u200b");

const adaptiveCard = (text, title) => ({
  type: "message",
  attachments: [
    {
      contentType: "application/vnd.microsoft.card.adaptive",
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        body: [
          ...(title
            ? [{ type: "TextBlock", text: title, weight: "Bolder", size: "Medium", wrap: true }]
            : []),
          { type: "TextBlock", text, wrap: true },
        ],
      },
    },
  ],
});
