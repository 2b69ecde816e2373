export default {
  key: "headwater-schedule",
  name: "Schedule",
  version: "1.0.0",
  type: "source",
  description: "Emits an event at set times, by a cron expression or an interval.",
  // Should a moment be reported twice, the second time is not an event.
  dedupe: "greatest",
  props: {
    timer: { type: "$.interface.timer", label: "When", default: { cron: "0 8 * * *", timezone: "UTC" } },
    payload: {
      type: "object",
      label: "Content",
      description: "What each event has besides its time, as JSON.",
      optional: true,
    },
    summary: { type: "string", label: "Summary", description: "A line for people.", optional: true },
  },
  run({ timestamp, timezone_configured: zone }) {
    // A run by hand has no moment that was due.
    const seconds = timestamp ?? Math.floor(Date.now() / 1000);
    const due_at = new Date(1000 * seconds).toISOString();
    const local = zone?.iso8601?.timestamp;
    this.$emit(
      {
        due_at,
        ...(local && { local, timezone: zone.timezone }),
        ...(this.payload && { payload: this.payload }),
      },
      { id: seconds, summary: this.summary || due_at, ts: 1000 * seconds },
    );
  },
  sampleEmit: { due_at: "2026-11-28T08:00:00.000Z", payload: { report: "daily" } },
};
