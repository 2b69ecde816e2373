// Listens to other sources and emits their matching events again on its own channel. It has neither a timer nor an
// endpoint: it runs because subscriptions have it as their listener.
interface Relay {
  channel: string;
  field?: string;
  equals?: string;
  matches(event: unknown): boolean;
  $emit(event: unknown, metadata: { name: string; summary?: string }): void;
}

export default {
  key: "relay",
  name: "Relay",
  version: "1.0.0",
  description: "Emits the events of other sources again on its own channel, filtered by a field.",
  type: "source",
  props: {
    channel: { type: "string", label: "Channel", default: "relayed" },
    field: {
      type: "string",
      label: "Field",
      description: "Path such as payload.action; all events match if empty.",
      optional: true,
    },
    equals: { type: "string", label: "Equals", description: "The value that the field must have.", optional: true },
  },
  methods: {
    matches(this: Relay, event: unknown): boolean {
      if (!this.field) return true;
      const step = (value: unknown, key: string) => (value as Record<string, unknown> | null | undefined)?.[key];
      const found = this.field.split(".").reduce<unknown>(step, event);
      return this.equals === undefined ? found !== undefined : String(found) === this.equals;
    },
  },
  async run(this: Relay, event: unknown): Promise<void> {
    if (this.matches(event)) this.$emit(event, { name: this.channel });
  },
};
