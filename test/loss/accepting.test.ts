// runs-long: npm test has test/store/connections/replicas.test.ts and test/accepted

import { expect } from "chai";
import { AcceptedWork } from "../../src/models/accepted.ts";
import type { Problem } from "../support/api.ts";
import { until } from "../support/until.ts";
import { type LossLab, openLossLab } from "./lab.ts";
import { openRedisPair, type RedisPair } from "./pair.ts";

describe("an event that is accepted", () => {
  describe("with DURABLE_INGRESS=replicas:1, while the replica hangs", () => {
    let pair: RedisPair;
    let lab: LossLab;
    before(async () => {
      pair = await openRedisPair();
      lab = await openLossLab({ REDIS_URL: pair.url, DURABLE_INGRESS: "replicas:1" });
    });
    after(async () => {
      await lab?.close();
      await pair?.close();
    });

    for (const to of ["workflow", "source"] as const) {
      it(`gets a 503 that says that it may be handled, and is: ${to}`, async () => {
        pair.replica.freeze();
        let problem: Problem;
        try {
          const response = await lab.post(to, `frozen-${to}`);
          expect(response.status).to.equal(503);
          expect(response.headers.get("retry-after")).to.equal("1");
          problem = (await response.json()) as Problem;
        } finally {
          pair.replica.thaw();
        }
        expect(problem.detail).to.match(
          /too few replicas of Redis hold this yet.*may be handled all the same/,
        );
        await until(() => lab.arrivals().has(`frozen-${to}`), { what: "the event" });
      });
    }

    it("is the same event if it is sent again with its Idempotency-Key", async () => {
      const again = { "idempotency-key": "again" };
      pair.replica.freeze();
      try {
        expect((await lab.post("workflow", "again", again)).status).to.equal(503);
      } finally {
        pair.replica.thaw();
      }
      await until(async () => (await lab.post("workflow", "again", again)).status === 202, { what: "202" });
      await lab.count();
      expect(lab.arrivals().get("again")).to.include({ requests: 1 });
    });
  });

  describe("with DURABLE_INGRESS=mongodb, by a process that dies before Redis has it", () => {
    for (const [to, failpoint] of [
      ["workflow", "emissions-kept"],
      ["source", "runs-kept"],
    ] as const) {
      it(`is handled all the same, once: ${to}`, async () => {
        const settings = { DURABLE_INGRESS: "mongodb", HEADWATER_FAILPOINT: failpoint };
        const lab = await openLossLab(settings);
        try {
          const sent = await lab.post(to, "orphan").then(
            ({ status }) => String(status),
            () => "no response",
          );
          expect(sent).to.equal("no response");
          await until(() => lab.arrivals().has("orphan"), { what: "the event" });
          await lab.count();
          expect(lab.arrivals().get("orphan")).to.include({ requests: 1 });
          expect(await AcceptedWork(lab.platform.mongo).countDocuments()).to.equal(0);
        } finally {
          await lab.close();
        }
      });
    }
  });
});
