import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createDial } from "../../src/egress/dial.ts";
import type { Privileges } from "../../src/sandbox/privileges.ts";
import { type SpawnOptions, spawnChild } from "../../src/sandbox/spawn.ts";

/** Ways in which the start of a sandbox fails after it got its user id. */
const FAILURES: Record<string, (options: SpawnOptions) => SpawnOptions> = {
  "the code's file is gone": options => ({ ...options, modulePath: `${options.modulePath}-gone` }),
  "its folder can't be created": options => ({ ...options, hostFolder: `${options.hostFolder}/gone` }),
  "the system can't start a process": options => options,
};

describe("the start of a sandbox that fails", () => {
  let folder: string;
  let used: Set<number>;
  let options: SpawnOptions;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "spawn-test-"));
    const modulePath = join(folder, "module.mjs");
    await writeFile(modulePath, "");
    used = new Set();
    const ids = {
      first: 1,
      last: 2,
      acquire() {
        const id = [1, 2].find(free => !used.has(free));
        if (id === undefined) throw new Error("all user ids for sandboxes are in use");
        used.add(id);
        return id;
      },
      release: (id: number) => void used.delete(id),
      close: async () => undefined,
    };
    const command = () => ({
      file: join(folder, "no-such-program"),
      args: [],
      options: { stdio: "pipe" as const },
    });
    options = {
      privileges: { active: [], missing: [], ids, command, close: async () => undefined } as Privileges,
      hostFolder: folder,
      prelude: { main: "", importMap: "" } as SpawnOptions["prelude"],
      cacheFolder: undefined,
      modulePath,
      isShared: false,
      heapMb: 64,
      limits: {} as SpawnOptions["limits"],
      dial: createDial({ allow: [], blockedHosts: [], connectTimeoutMs: 1000 }),
    };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  for (const [how, broken] of Object.entries(FAILURES)) {
    it(`because ${how} frees its user id and leaves no file, however often`, async () => {
      const before = await readdir(folder, { recursive: true });
      for (let nth = 0; nth < 5; nth++) {
        const error = await spawnChild(broken(options)).then(
          () => undefined,
          (failure: Error) => failure,
        );
        expect(error).to.be.an("error");
        expect(error?.message).not.to.include("user ids");
      }
      expect([...used]).to.deep.equal([]);
      expect(await readdir(folder, { recursive: true })).to.deep.equal(before);
    });
  }
});
