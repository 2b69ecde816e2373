import type { Cases } from "./testing/case-file.ts";

const HEAD = (name: string, key: string) => `  key: "${key}",
  name: "${name}",
  version: "0.0.1",`;

/** A component to begin with, by what runs it; each can be deployed as it is. */
export const TEMPLATES = {
  http: (name: string, key: string) => `import { defineSource } from "@headwater/component";

export default defineSource({
${HEAD(name, key)}
  description: "Emits each request to its address.",
  props: { http: "$.interface.http" },
  run(event) {
    this.$emit(event.body, { summary: \`\${event.method} \${event.path}\` });
  },
  sampleEmit: { hello: "world" },
});
`,
  timer: (name: string, key: string) => `import { defineSource } from "@headwater/component";

export default defineSource({
${HEAD(name, key)}
  description: "Emits an event at set times.",
  dedupe: "greatest",
  props: { timer: { type: "$.interface.timer", label: "When", default: { cron: "0 8 * * *" } } },
  run({ timestamp }) {
    this.$emit({ due_at: new Date(1000 * timestamp).toISOString() }, { id: timestamp });
  },
  sampleEmit: { due_at: "2026-11-28T08:00:00.000Z" },
});
`,
  poll: (name: string, key: string) => `import { defineSource } from "@headwater/component";

export default defineSource({
${HEAD(name, key)}
  description: "Emits each new item of a list once.",
  dedupe: "unique",
  props: {
    db: "$.service.db",
    timer: { type: "$.interface.timer", label: "Look every", default: { intervalSeconds: 300 } },
    url: { type: "string", label: "Address", description: "It responds with a JSON array of objects with an id, the newest first." },
  },
  hooks: {
    /** What is there already is not new, and an address that does not work is found now. */
    async deploy() {
      const [newest] = await this.items();
      this.db.set("last", newest?.id ?? null);
    },
  },
  methods: {
    async items() {
      const response = await fetch(this.url);
      if (!response.ok) throw new Error(\`\${this.url} responded with status \${response.status}\`);
      return await response.json();
    },
  },
  async run() {
    const items = await this.items();
    const at = items.findIndex(({ id }) => id === this.db.get("last"));
    const fresh = at === -1 ? items : items.slice(0, at);
    // The oldest first; what was seen is noted after the last one.
    for (const item of fresh.reverse()) this.$emit(item, { id: item.id, summary: item.title });
    if (fresh.length > 0) this.db.set("last", fresh.at(-1).id);
  },
  sampleEmit: { id: 1, title: "An item" },
});
`,
  action: (name: string, key: string) => `import { defineAction } from "@headwater/component";

export default defineAction({
${HEAD(name, key)}
  type: "action",
  description: "Sends each event to an address.",
  props: {
    url: { type: "string", label: "Address" },
    token: { type: "string", label: "Token", secret: true, optional: true },
  },
  async run({ steps, $ }) {
    const response = await fetch(this.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        // The same in each attempt.
        "idempotency-key": $.context.id,
        ...(this.token && { authorization: \`Bearer \${this.token}\` }),
      },
      body: JSON.stringify(steps.trigger.event),
    });
    if (!response.ok) throw new Error(\`\${this.url} responded with status \${response.status}\`);
    $.export("$summary", \`sent: \${response.status}\`);
  },
});
`,
} as const;

export type Template = keyof typeof TEMPLATES;

const EVENT = { id: "o-1", state: "paid" };
const POLLED = "https://api.example.com/items";
const NEWEST = { id: 2, title: "Second" };
const OLDER = { id: 1, title: "First" };
const listOf = (...items: object[]) => [{ request: { url: POLLED }, response: { status: 200, body: items } }];

/** The first cases of these components (docs/testing-components.md). */
export const FIRST_CASES: Record<Template, Cases["cases"]> = {
  http: [
    {
      name: "emits the body of a request",
      steps: [
        {
          event: { method: "POST", path: "/", query: {}, headers: {}, body: EVENT },
          emits: [{ event: EVENT, summary: "POST /" }],
        },
      ],
    },
  ],
  timer: [
    {
      name: "emits when it is due",
      steps: [
        {
          tick: "2026-11-29T08:00:00Z",
          emits: [{ event: { due_at: "2026-11-29T08:00:00.000Z" }, id: 1_795_939_200 }],
        },
      ],
    },
  ],
  poll: [
    {
      name: "emits what is new since it was deployed",
      props: { url: POLLED },
      steps: [
        { call: "deploy", http: listOf(OLDER), emits: [] },
        {
          tick: "2026-11-29T08:00:00Z",
          http: listOf(NEWEST, OLDER),
          emits: [{ event: NEWEST, id: 2, summary: "Second" }],
        },
        { tick: "2026-11-29T08:05:00Z", http: listOf(NEWEST, OLDER), emits: [] },
      ],
    },
  ],
  action: [
    {
      name: "sends the event",
      props: { url: "https://api.example.com/orders" },
      steps: [
        {
          event: EVENT,
          http: [
            {
              request: { method: "POST", url: "https://api.example.com/orders", body: EVENT },
              response: { status: 200 },
            },
          ],
          emits: [{ event: "sent: 200", name: "$summary" }],
        },
      ],
    },
  ],
};
