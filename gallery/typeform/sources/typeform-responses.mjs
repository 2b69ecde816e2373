import { createHash, randomBytes } from "node:crypto";
import { jsonOf, send } from "../../lib/http.mjs";
import { unlessGone } from "../../lib/unless-gone.mjs";

const PAGE = 200;

export default {
  key: "headwater-typeform-responses",
  name: "Typeform responses",
  version: "1.0.0",
  type: "source",
  description: "Emits each response to a form of Typeform, where it is registered by itself.",
  dedupe: { strategy: "unique", remember: 1000 },
  props: {
    http: {
      type: "$.interface.http",
      label: "Address",
      verify: { preset: "typeform", secret: { from: "hook" } },
    },
    token: {
      type: "string",
      label: "Personal token",
      description: "With the scopes webhooks:read, webhooks:write and forms:read.",
      secret: true,
    },
    form: {
      type: "string",
      label: "Form",
      description: "Its id, such as u6nXL7 of https://mysite.typeform.com/to/u6nXL7.",
      async options({ page }) {
        const { items } = await this.ask("GET", `/forms?page_size=${PAGE}&page=${page + 1}`);
        return items.map(({ id, title }) => ({ label: title, value: id }));
      },
    },
    api: {
      type: "string",
      label: "Address of Typeform's API",
      description: "https://api.eu.typeform.com for an account in the European data center.",
      default: "https://api.typeform.com",
    },
  },
  hooks: {
    /** It may run again after a crash: the webhook that it made then has the same tag, and is replaced. */
    async activate() {
      const secret = randomBytes(32).toString("hex");
      this.http.setSecret(secret);
      const url = this.http.endpoint;
      const event_types = { form_response: true };
      await this.ask("PUT", this.hookPath(), { url, enabled: true, secret, verify_ssl: true, event_types });
    },
    async deactivate() {
      await this.ask("DELETE", this.hookPath()).catch(unlessGone);
    },
  },
  methods: {
    /** Webhooks of a form are known by a tag: each address has one of its own. */
    hookPath() {
      const tag = createHash("sha256").update(this.http.endpoint).digest("hex").slice(0, 24);
      return `/forms/${encodeURIComponent(this.form)}/webhooks/headwater-${tag}`;
    },
    async ask(method, path, body) {
      const response = await send(this.api + path, {
        method,
        headers: {
          authorization: `Bearer ${this.token}`,
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.text === "" ? null : jsonOf(response);
    },
  },
  run({ body: { event_id, event_type, form_response } }) {
    if (event_type !== "form_response") return;
    const { form_id, token, landed_at, submitted_at, definition, answers = [], ...more } = form_response;
    const questions = new Map((definition?.fields ?? []).map(({ id, title }) => [id, title]));
    const { hidden = {}, calculated = null, variables = [] } = more;
    const event = {
      form: { id: form_id, title: definition?.title ?? null },
      response: token,
      ...{ landed_at, submitted_at, hidden, calculated, variables },
      answers: answers.map(({ field, type, ...answer }) => ({
        question: questions.get(field.id) ?? null,
        ref: field.ref,
        type,
        value: chosen(answer[type]),
      })),
    };
    const first = event.answers.find(({ value }) => typeof value === "string")?.value;
    const summary = [event.form.title ?? form_id, first].filter(Boolean).join(": ");
    this.$emit(event, { id: event_id, summary, ts: Date.parse(submitted_at) });
  },
  sampleEmit: {
    form: { id: "u6nXL7", title: "Ask for an offer" },
    response: "01H5320DBGJF8PEJNWTN565S0A",
    landed_at: "2026-11-29T08:00:00Z",
    submitted_at: "2026-11-29T08:02:00Z",
    hidden: { source: "newsletter" },
    calculated: { score: 0 },
    variables: [],
    answers: [
      { question: "Who are you?", ref: "name", type: "text", value: "Ada" },
      { question: "What do you need?", ref: "needs", type: "choices", value: ["An engine", "A drawing"] },
    ],
  },
};

/** Choices are objects: what was chosen, and what somebody wrote instead. */
function chosen(answer) {
  if (answer === null || typeof answer !== "object") return answer ?? null;
  const { label, labels, other } = answer;
  if (labels !== undefined) return other === undefined ? labels : [...labels, other];
  return label ?? other ?? answer;
}
