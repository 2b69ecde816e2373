import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect } from "chai";
import { readConfig } from "../../src/config.ts";
import { allQueues, consumedQueues } from "../../src/queues/index.ts";
import { testConfig } from "../support/platform.ts";
import { environmentOf } from "../workers/worker-process.ts";

const all = readFileSync(new URL("../../workers/all.ts", import.meta.url), "utf8");
const procfile = readFileSync(new URL("../../Procfile", import.meta.url), "utf8");

describe("the list of queues", () => {
  for (const { name, concurrency } of consumedQueues) {
    it(`has a worker, of its own and in workers/all.ts, a Procfile line and a setting for ${name}`, async () => {
      const worker = await import(new URL(`../../workers/${name}.ts`, import.meta.url).href);
      expect(worker.start).to.be.a("function");
      expect(all).to.include(`from "./${name}.ts"`);
      expect(procfile).to.match(new RegExp(`^${name}: node .*dist/workers/${name}\\.js$`, "m"));
      expect(testConfig().concurrency[name]).to.equal(concurrency);
      const config = readConfig({ ...environmentOf(testConfig()), CONCURRENCY: `${name}:3` });
      expect(config.concurrency[name]).to.equal(3);
    });
  }

  it("names each queue, and each kind of job, once", () => {
    const names = allQueues.map(({ name }) => name);
    expect(names).to.have.length(new Set(names).size);
    for (const { name, jobs } of allQueues) {
      for (const [key, job] of Object.entries(jobs)) expect(job).to.include({ queue: name, name: key });
    }
  });

  it("has schemas that are valid, which no process checks when it starts", () => {
    const ajv = new Ajv({ strict: false });
    for (const { name, jobs } of allQueues) {
      for (const { schema } of Object.values(jobs)) {
        expect(ajv.validateSchema(schema), `${name}: ${ajv.errorsText()}`).to.equal(true);
      }
    }
  });

  it("covers every line of the Procfile except web and release", () => {
    const processes = [...procfile.matchAll(/^([a-z-]+):/gm)].map(([, process]) => process);
    expect(processes).to.have.members(["release", "web", ...consumedQueues.map(({ name }) => name)]);
  });
});
