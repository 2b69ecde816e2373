import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { codeOf } from "../docs/page-code.ts";
import { root } from "../support/built.ts";
import { startReceiver } from "../support/receiver.ts";
import { skipBecause } from "../support/skip.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const GUIDE = "docs/guides/cloudevents.md";
/** Without the formatter, which is a program of its own. */
const CONFIG = '{ "post_hooks": [] }';

describe("a Python client that is generated from openapi.json", () => {
  let system: System;
  let folder: string;
  const bin = process.env.PYTHON_PACKAGES ?? "";

  before(async function () {
    if (bin === "") {
      return skipBecause(this, "it needs packages that npm run test:python installs");
    }
    folder = await mkdtemp(join(tmpdir(), "headwater-python-"));
    system = await startSystem();
  });
  after(async () => {
    await system?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  it("is made without a warning, and leads from a source's code to a verified delivery", async () => {
    await writeFile(join(folder, "config.json"), CONFIG);
    const options = ["--config", join(folder, "config.json"), "--meta", "none", "--fail-on-warning"];
    const made = await run(join(bin, "openapi-python-client"), [
      "generate",
      ...options,
      ...["--path", join(root, "openapi.json"), "--output-path", join(folder, "headwater_client")],
    ]).catch(({ stdout, stderr }) => expect.fail(stdout + stderr));
    expect(made.stdout + made.stderr).not.to.match(/warning/i);

    const { apiKey } = await system.user({ plan: "paid" });
    const { stdout } = await run(join(bin, "python"), [join(root, "test/clients/python/main_job.py")], {
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: folder,
        PYTHONDONTWRITEBYTECODE: "1",
        HEADWATER_URL: system.baseUrl,
        HEADWATER_API_KEY: apiKey,
      },
    });
    expect(JSON.parse(stdout)).to.deep.equal({
      payload: { hello: "wörld" },
      isOurs: true,
      attempts: 1,
      nextAttempt: null,
      missing: 404,
    });
  });

  it("reads deliveries in both modes of CloudEvents as the guide says", async () => {
    const api = await system.user();
    const receiver = await startReceiver();
    const event = { order: 42, note: "größe" };
    const channel = 'größe 100% "new"';
    try {
      const flow = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
      const deliveries = [];
      for (const format of ["cloudevents", "cloudevents-binary"]) {
        const body = { url: receiver.url, format };
        const webhook = await api.expect(201, "POST", "/webhooks", { body });
        const subscription = await api.subscribe(flow.id, webhook.id, channel);
        const published = { event, name: channel };
        await api.expect(202, "POST", `/workflows/${flow.id}/events`, { body: published });
        const sent = await until(() => receiver.requests[deliveries.length]);
        await api.expect(204, "DELETE", `/subscriptions/${subscription.id}`);
        deliveries.push({ signing_key: webhook.signing_key, headers: sent.headers, body: sent.raw });
      }
      await writeFile(join(folder, "cloud_events.py"), codeOf(GUIDE, "cloud_events.py"));
      await writeFile(join(folder, "deliveries.json"), JSON.stringify(deliveries));
      const script = join(root, "test/clients/python/read_cloud_events.py");
      const { stdout } = await run(join(bin, "python"), [script, join(folder, "deliveries.json")], {
        env: { PATH: process.env.PATH, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" },
      });
      const read = { type: channel, source: `urn:headwater:${flow.id}`, specversion: "1.0", data: event };
      const [structured, binary] = JSON.parse(stdout);
      expect(structured).to.deep.include(read);
      expect(binary).to.deep.include(read);
    } finally {
      await receiver.close();
    }
  });
});
