import type { Schemas } from "./client";
import { inAccount } from "./session";

/**
 * The built-in receiver is a source: what arrives at its endpoint is what it emits, so that it has the limits, the access
 * rules and the live stream of a source. The last part of its address is the status that it responds with.
 */
export const ECHO_CODE = `export default {
  key: "dashboard-echo",
  name: "Echo receiver",
  version: "0.0.1",
  description: "Shows what arrives. The last part of the address is the status of its response.",
  props: { http: { type: "$.interface.http", customResponse: true } },
  async run({ method, path, headers, body, bodyRaw }) {
    const status = Number(/\\d{3}$/.exec(path)?.[0] ?? 200);
    this.$emit({ method, path, headers, body, bodyRaw, status }, { summary: method + " " + path });
    await this.http.respond({ status, body: { received: true } });
  },
};
`;

/** A source that emits the body of each request. */
export const HELLO_CODE = `export default {
  name: "Hello",
  version: "0.0.1",
  props: { http: "$.interface.http" },
  run(event) {
    console.log("a request arrived");
    this.$emit(event.body, { summary: "Hello " + (event.body?.name ?? "world") });
  },
};
`;

export interface FirstEvent {
  source: Schemas["Source"];
  echo: Schemas["Source"];
  webhook: Schemas["WebhookWithKey"];
}

/** The way of the first event: a source, a receiver, a webhook to it, and a subscription. `say` is called before each. */
export async function makeFirstEvent(say: (step: number) => void): Promise<FirstEvent> {
  say(0);
  const client = inAccount();
  const source = await client.sources.create({ name: `hello-${suffix()}`, component_code: HELLO_CODE });
  say(1);
  const echo = await client.sources.create({ name: `echo-${suffix()}`, component_code: ECHO_CODE });
  say(2);
  const url = `${echo.configured_props.http?.endpoint_url}/200`;
  const webhook = await client.webhooks.create({ url, name: "Echo receiver" });
  say(3);
  await client.subscriptions.create({ emitter_id: source.id, listener_id: webhook.id });
  say(4);
  return { source, echo, webhook };
}

/** Names need not be unique; slugs are. */
const suffix = () => Math.random().toString(36).slice(2, 6);
