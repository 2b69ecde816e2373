// Emits a beat by a cron expression, with a running number: the smallest source there is, good for trying out
// subscriptions and deliveries, and for noticing by its silence that something stands still.
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
