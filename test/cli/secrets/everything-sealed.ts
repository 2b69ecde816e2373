import { setApp } from "../../../src/connections/apps/apps.ts";
import { storePending } from "../../../src/connections/consent/ticket.ts";
import { newToken } from "../../../src/lib/ids.ts";
import type { System } from "../../support/system.ts";

const CODE = `export default { name: "Kept", version: "0.0.1",
  props: { token: { type: "string", secret: true, reloadProps: true }, http: "$.interface.http" },
  additionalProps() { return { city: { type: "string", optional: true } }; },
  run(event) { this.$emit({ token: this.token, body: event.body }); } };`;

/** Ids of what a test has stored. */
export interface Stored {
  source: string;
  webhook: string;
  connection: string;
}

/** Stores something in every place that is sealed, through the API where there is one. */
export async function storeEverything(system: System, url: string): Promise<Stored> {
  const { web } = system;
  const api = await system.user({ plan: "paid" });
  const component = await api.expect(201, "POST", "/components", { body: { component_code: CODE } });
  const configured_props = { token: "s3cret" };
  const form = { body: { configured_props } };
  const { dynamic_props_id } = await api.expect(200, "POST", `/components/${component.id}/props`, form);
  // Another one, which no source takes.
  await api.expect(200, "POST", `/components/${component.id}/props`, form);
  const source = await api.createSource({
    ...{ name: "kept", component_id: component.id, configured_props, dynamic_props_id },
  });
  const hook = { url, headers: { "x-token": "t0ken" } };
  const webhook = await api.expect(201, "POST", "/webhooks", { body: hook });
  await api.expect(200, "POST", `/webhooks/${webhook.id}/rotate_signing_key`);
  await api.subscribe(source.id, webhook.id);
  const stream = { url: "redis://:pass@127.0.0.1:1", stream: "events" };
  await api.expect(201, "POST", "/destinations", { body: { redis_stream: stream } });
  const fields = { app: "other", name: "Mine", fields: { key: "k3y" } };
  const connection = await api.expect(201, "POST", "/connections", { body: fields });
  const slug = `app_${api.userId.slice(2).toLowerCase()}`;
  await setApp(web, {
    ...{ slug, clientId: "client", clientSecret: "cl1ent", tokenAuth: "post" },
    ...{ authorizeUrl: "https://app.example/authorize", tokenUrl: "https://app.example/token" },
  });
  await api.expect(201, "POST", "/connections/consents", { body: { app: slug } });
  await storePending(web, {
    request: {
      connectionId: "apn_1",
      ownerId: "u_1",
      userId: "u_1",
      app: slug,
      name: "x",
      isReconnect: false,
    },
    challenge: { state: newToken(), verifier: newToken() },
    browserHash: "",
  } as Parameters<typeof storePending>[1]);
  await api.expect(201, "POST", "/webhooks", { body: { url }, headers: { "idempotency-key": "once" } });
  return { source: source.id, webhook: webhook.id, connection: connection.id };
}
