import { expect } from "chai";
import { folderBytes } from "../../src/lib/folders.ts";
import { GET_DENO, running } from "../sandbox/sandbox-fixture.ts";
import { until } from "../support/until.ts";
import { type Lab, openLab } from "./lab.ts";

const MB = 1024 * 1024;

describe("an escape through what deno stores for a component", () => {
  let lab: Lab;

  before(async () => {
    lab = await openLab({ maxProcesses: 16 });
    // The first sandboxes have no folder of deno's own, because the compiled prelude is not ready yet.
    await until(async () => (await lab.attempt("return 1")).emits.length === 1);
    lab.sandboxes.drop("attacker");
  });
  after(() => lab.close());
  afterEach(() => lab.expectUnharmed());

  it("can't read what another component has stored, in any way", async () => {
    const seen: unknown[] = [];
    for (const way of WAYS) {
      const store = `const storage = await (${way})(); await storage.put("http://x/secret", "of the other tenant"); return "stored"`;
      const read = `const storage = await (${way})(); return (await storage.match("http://x/secret")) ?? "nothing"`;
      const code = (text: string) =>
        running(`const AsyncFunction = (async () => {}).constructor;
          this.$emit(await new AsyncFunction(${JSON.stringify(text)})())`);
      await lab.attack(code(store));
      seen.push(...(await lab.attack(code(read))).emits.map(({ event }) => event));
    }
    expect(seen.filter(event => event !== "nothing")).to.deep.equal([]);
  });

  it("can't use more of the disk than its limit, in any way", async () => {
    for (const way of WAYS) {
      await lab.attack(
        running(`const storage = await (${way})();
          for (let n = 0; n < 30; n++) { await storage.put("http://x/" + n, "x".repeat(4e6)); await new Promise(r => setTimeout(r, 20)); }`),
      );
      expect(await folderBytes(lab.hostFolder), way).to.be.below(100 * MB);
    }
  });
});

/** Each returns something with `put` and `match` of texts by URL. */
const WAYS = [
  `async () => {
    const cache = await caches.open("shared");
    return { put: (url, text) => cache.put(url, new Response(text)), match: async url => (await cache.match(url))?.text() };
  }`,
  `async () => {
    ${GET_DENO}
    const { core } = Deno[Deno.internal];
    const id = await core.ops.op_cache_storage_open("shared");
    const cache = new Cache();
    return { put: (url, text) => cache.put(url, new Response(text)), match: async url => (await cache.match(url))?.text() };
  }`,
  `async () => {
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    const code = "const { parentPort } = require('worker_threads'); parentPort.on('message', async ([what, url, text]) => {" +
      "const cache = await caches.open('shared'); try { parentPort.postMessage(what === 'put' ? await cache.put(url, new Response(text)) : await (await cache.match(url))?.text()) } catch (e) { parentPort.postMessage(undefined) } })";
    const worker = new Worker(code, { eval: true });
    const ask = (...message) => new Promise((done, failed) => {
      worker.on("error", failed).once("message", done).postMessage(message);
    });
    return { put: (url, text) => ask("put", url, text), match: url => ask("match", url) };
  }`,
  `async () => {
    const storage = globalThis.localStorage ?? globalThis.sessionStorage;
    return { put: async (url, text) => storage.setItem(url, text), match: async url => storage.getItem(url) ?? undefined };
  }`,
];
