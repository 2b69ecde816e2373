import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { programOf } from "../support/built.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { skipBecause } from "../support/skip.ts";
import { environmentOf, spawnWorker, whenReady } from "./worker-process.ts";

const LISTER = fileURLToPath(new URL("./list-scripts.mjs", import.meta.url));

/** Packages, and files of ours, that most processes never use: what does load them at its first use. */
const LATER = [
  "@bull-board/api",
  "@bull-board/koa",
  "@esbuild",
  "@smithy/signature-v4",
  "amqplib",
  "ejs",
  "esbuild",
  "lodash",
  "npm",
  "proxy-chain",
  "typescript",
];

/** The source text of everything that a process has loaded when it is ready, in millions of characters. */
const MOST = { web: 10.7, all: 9.4 };

const packageOf = (url: string) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];

describe("a process of a small installation", () => {
  let platform: TestPlatform;
  let folder: string;
  before(async function () {
    // From the sources, the compiler would be in each process.
    if (programOf("src/server.ts").includes("tsx")) skipBecause(this, "dist/ is out of date");
    platform = await openTestPlatform({ ADMIN_PASSWORD: "a password of the board" });
    folder = mkdtempSync(join(tmpdir(), "headwater-loaded-"));
  });
  after(async () => {
    await platform?.destroy();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a process, stops it once it is ready, and returns what it had loaded. */
  async function loadedBy(name: string): Promise<[url: string, characters: number][]> {
    const file = join(folder, name);
    const worker = spawnWorker(name, {
      ...environmentOf(platform.config),
      ADMIN_PASSWORD: "a password of the board",
      PORT: "0",
      NODE_OPTIONS: `--import=${LISTER}`,
      SCRIPTS_FILE: file,
    });
    await whenReady(worker);
    worker.kill("SIGTERM");
    expect(await worker.ended).to.equal(0);
    return JSON.parse(readFileSync(file, "utf8"));
  }

  for (const [name, most] of Object.entries(MOST)) {
    it(`loads what few processes use when it is first needed: ${name} @long`, async () => {
      const loaded = await loadedBy(name);
      const packages = new Set(loaded.map(([url]) => packageOf(url)));
      expect(packages).to.include("bullmq").and.include("mongodb");
      expect([...packages].filter(one => LATER.includes(one ?? ""))).to.deep.equal([]);
      const characters = loaded.reduce((sum, [, length]) => sum + length, 0);
      expect(characters / 1e6, "look for a package that it needs later, or raise the limit").to.be.below(
        most,
      );
    });
  }
});
