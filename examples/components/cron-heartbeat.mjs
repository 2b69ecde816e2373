// Emits a numbered beat by a cron expression. This minimal source is useful for trying out subscriptions and
// deliveries, and for monitoring: if no beat arrives, something is stuck.
export default {
  key: "cron-heartbeat",
  name: "Heartbeat",
  version: "1.0.0",
  description: "Emits a numbered event by a cron expression.",
  type: "source",
  props: {
    db: "$.service.db",
    timer: { type: "$.interface.timer", label: "When", default: { cron: "*/5 * * * *" } },
    label: { type: "string", label: "Label", default: "heartbeat" },
  },
  async run(event) {
    const beat = (this.db.get("beat") ?? 0) + 1;
    this.db.set("beat", beat);
    const at = new Date(event.timestamp * 1000).toISOString();
    this.$emit({ label: this.label, beat, at }, { id: beat, summary: `${this.label} ${beat}`, ts: event.timestamp * 1000 });
  },
};
