import { defineSource } from "@headwater/component";

/** What `npm run typecheck` proves of the types: right uses compile, and each `@ts-expect-error` is an error. */
export default defineSource({
  key: "typed-source",
  name: "Typed source",
  version: "1.0.0",
  dedupe: "unique",
  props: {
    http: "$.interface.http",
    db: "$.service.db",
    label: { type: "string", label: "Label", optional: true },
    factor: { type: "integer", default: 2, optional: true },
    tags: "string[]",
  },
  methods: {
    shout(text: string): string {
      return `${text}!`.repeat(this.factor);
    },
  },
  hooks: {
    activate() {
      this.db.set("since", Date.now());
      // @ts-expect-error: there is no such prop
      this.nothing;
    },
  },
  run(event) {
    const count = (this.db.get<number>("count") ?? 0) + this.tags.length;
    this.db.set("count", count);
    this.http.respond({ status: 202, body: { count } });
    // @ts-expect-error: the label may be absent
    this.label.length;
    // @ts-expect-error: a request has no cron
    event.cron;
    this.$emit(
      { body: event.body, count },
      { id: event.headers["x-id"] ?? count, summary: this.shout(this.label ?? "hello") },
    );
  },
});
