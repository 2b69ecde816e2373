export default {
  key: "headwater-slack-events",
  name: "Slack events",
  version: "1.0.0",
  type: "source",
  description: "Emits the events that a Slack app subscribes to, such as messages and reactions.",
  dedupe: "unique",
  props: {
    http: {
      type: "$.interface.http",
      label: "Address",
      description: "Deploy first, then enter it as Request URL under Event Subscriptions of the Slack app.",
      verify: { preset: "slack", secret: "signingSecret", drop_repeats: true },
    },
    signingSecret: {
      type: "string",
      label: "Signing secret",
      description: "Under Basic Information of the Slack app.",
      secret: true,
    },
    types: {
      type: "string[]",
      label: "Types",
      description:
        "Such as message, app_mention or reaction_added. Empty: every type that the app subscribes to.",
      optional: true,
    },
    ignoreBots: {
      type: "boolean",
      label: "Without what bots write",
      description: "A workflow that responds in the same channel would hear itself otherwise.",
      default: true,
    },
  },
  run({ body }) {
    if (body.type === "app_rate_limited")
      throw new Error(
        "Slack leaves events out for a while, because there were more than 30,000 within an hour",
      );
    if (body.type !== "event_callback") return;
    // The token is an older way to verify, and a secret.
    const { token: _, ...shown } = body;
    const { event, event_id, event_time } = shown;
    if (this.types?.length && !this.types.includes(event.type)) return;
    if (this.ignoreBots && isOfBot(event)) return;
    const said = event.text ?? event.message?.text ?? event.reaction;
    this.$emit(shown, {
      id: event_id,
      summary: [event.subtype ?? event.type, said].filter(Boolean).join(" "),
      ts: 1000 * event_time,
    });
  },
  sampleEmit: {
    type: "event_callback",
    team_id: "T0123456789",
    api_app_id: "A0123456789",
    event_id: "Ev0123456789",
    event_time: 1_732_867_200,
    event: {
      type: "message",
      channel: "C0123456789",
      channel_type: "channel",
      user: "U0123456789",
      text: "Good morning",
      ts: "1732867200.000100",
    },
  },
};

/** Of a message that was changed or deleted, what it is about. */
const isOfBot = ({ bot_id, subtype, message, previous_message }) =>
  Boolean(bot_id ?? message?.bot_id ?? previous_message?.bot_id) || subtype === "bot_message";
