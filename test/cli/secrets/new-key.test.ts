// runs-long: npm test has test/cli/secrets/reseal.test.ts

import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { createSecrets } from "../../../src/store/secrets.ts";
import { type Lab, openLab, PROCESSES } from "../../faults/lab.ts";
import { startLoad } from "../../faults/load.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { findSealedTexts } from "../../support/sealed-texts.ts";
import { until } from "../../support/until.ts";
import { headwater } from "../command.ts";

describe("a new SECRETS_KEY under load", function () {
  this.timeout(600_000);
  let lab: Lab;
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
    // No process is killed here, and one that a busy machine holds up must not lose its jobs to another.
    lab = await openLab({ env: { TIMEOUTS: "stalled:30s,attempt:30s" } });
  });
  after(async () => {
    await lab?.close();
    await receiver?.close();
  });

  /** Restarts all processes with these keys, one after the other. */
  async function restart(keys: string): Promise<void> {
    for (const name of PROCESSES) {
      expect(await lab.stop(name), name).to.equal(0);
      lab.spawn(name, { SECRETS_KEY: keys });
      await lab.ready(name);
    }
  }

  /** Publishes an event, and checks that it arrives with the webhook's header and under its signing key. */
  async function isDelivered(signingKey: string, hello: string): Promise<void> {
    const { published } = lab.emitters;
    await lab.api.expect(202, "POST", `/workflows/${published}/events`, { body: { event: { hello } } });
    const { headers, raw } = await until(() => receiver.requests.find(one => one.raw.includes(hello)), {
      what: `the event ${hello}`,
    });
    expect(headers["x-token"]).to.equal("t0ken");
    expect(new Webhook(signingKey).verify(raw, headers as Record<string, string>)).to.deep.equal({ hello });
  }

  it("is brought in without a lost or doubled event, and then nothing needs the old one", async () => {
    const old = lab.env.SECRETS_KEY ?? "";
    const fresh = randomBytes(32).toString("base64");
    const { api } = lab;
    const hook = { url: receiver.url, headers: { "x-token": "t0ken" } };
    const create = () => {
      const headers = { "idempotency-key": "once" };
      return api.expect(201, "POST", "/webhooks", { body: hook, headers });
    };
    const webhook = await create();
    const { id, signing_key } = webhook;
    await api.subscribe(lab.emitters.published, id);

    const load = startLoad(lab, "new-key");
    await restart(`${old},${fresh}`);
    load.allow(0.3);
    await restart(`${fresh},${old}`);
    load.allow(0.6);
    const reseal = (keys: string) => headwater(["secrets", "reseal"], { ...lab.env, SECRETS_KEY: keys });
    const { code, stdout, stderr } = await reseal(`${fresh},${old}`);
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout).to.match(/^done: .*the old key can be removed/m);
    load.allow(0.8);
    await restart(fresh);
    // It also checks that no event came under a second id. A busy machine may repeat a request, under the same one.
    expect((await load.finish()).lost).to.deep.equal([]);

    await isDelivered(signing_key, "with the new key alone");
    expect(await create(), "the response that is kept for an Idempotency-Key").to.deep.equal(webhook);
    const [beginning] = createSecrets([Buffer.from(fresh, "base64")]).beginnings;
    const others = (await findSealedTexts(lab.platform)).filter(({ text }) => !text.startsWith(beginning));
    expect(others).to.deep.equal([]);
    expect((await reseal(fresh)).stdout).to.match(/^done: nothing needs a key other than the one/m);
  });
});
