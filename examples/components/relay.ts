// Listens to other sources and emits what they emitted again, on a channel of its own and only where it fits. It has
// neither timer nor endpoint: a subscription with this source as listener is what runs it.
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
      description: "Path such as payload.action; everything passes when empty.",
      optional: true,
    },
    equals: { type: "string", label: "Equals", description: "What the field must hold.", optional: true },
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
