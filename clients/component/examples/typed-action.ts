import { defineAction } from "@headwater/component";

export default defineAction({
  key: "typed-action",
  name: "Typed action",
  version: "1.0.0",
  type: "action",
  props: { url: "string", token: { type: "string", secret: true }, retries: { type: "integer", default: 3 } },
  async run({ steps, $ }) {
    const response = await fetch(this.url, {
      method: "POST",
      headers: { authorization: `Bearer ${this.token}`, "idempotency-key": $.context.id },
      body: JSON.stringify(steps.trigger.event),
    });
    // @ts-expect-error: an action emits no events
    this.$emit;
    // @ts-expect-error: it is a number
    this.retries.length;
    $.export("$summary", `${response.status}`);
    return { status: response.status };
  },
});
