import { expect } from "chai";
import type { DeliveryDetail } from "../../src/deliveries/schema.ts";
import { startReceiver } from "../support/receiver.ts";
import { startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Quiet", version: "0.0.1", run() {} };`;

describe("what a delivery sends", () => {
  it("is shown as it was received, without signatures and values of custom headers", async () => {
    const system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "50ms" });
    const receiver = await startReceiver(503, 200);
    try {
      const api = await system.user();
      const source = await api.createSource({ component_code: CODE });
      const webhook = await api.expect(201, "POST", "/webhooks", {
        query: { url: receiver.url },
        body: { headers: { authorization: "Bearer s3cret-value" } },
      });
      await api.subscribe(source.id, webhook.id, "größe");
      const event = { note: "long ".repeat(500) };
      await api.expect(202, "POST", `/sources/${source.id}/events`, { body: { event, name: "größe" } });
      const [row] = await until(async () => {
        const rows = await api.expect(200, "GET", "/deliveries", { query: { state: "delivered" } });
        return rows.length > 0 && rows;
      });
      const query = { expand: "event" };
      const detail: DeliveryDetail = await api.expect(200, "GET", `/deliveries/${row.id}`, { query });
      expect(detail.event).to.deep.equal(event);
      expect(detail.request).to.include({ method: "POST", url: receiver.url });
      expect(detail.attempts).to.have.length(2);
      for (const [i, attempt] of detail.attempts.entries()) {
        const { headers = {} } = receiver.requests[i] ?? {};
        expect(headers).to.include({
          ...detail.request?.headers,
          "webhook-timestamp": String(Math.floor(attempt.at_ms / 1000)),
          "x-headwater-attempt": String(attempt.number),
        });
        expect(headers).to.include.all.keys(detail.request?.secret_header_names ?? []);
        const shown = JSON.stringify(detail);
        for (const name of detail.request?.secret_header_names ?? []) {
          expect(shown, name).not.to.include(headers[name]);
        }
      }
      expect(detail.request?.secret_header_names).to.deep.equal([
        "webhook-signature",
        "x-pd-signature",
        "authorization",
      ]);
      expect(await api.expect(200, "GET", `/deliveries/${row.id}`)).not.to.have.property("event");
      await api.expect(204, "DELETE", `/webhooks/${webhook.id}`);
      expect((await api.expect(200, "GET", `/deliveries/${row.id}`)).request).to.equal(null);
    } finally {
      await receiver.close();
      await system.stop();
    }
  });
});
