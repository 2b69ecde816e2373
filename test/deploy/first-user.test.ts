import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { root } from "../support/built.ts";
import { type System, startSystem } from "../support/system.ts";

const run = promisify(execFile);

describe("deploy/first-user.mjs", () => {
  let system: System;
  let folder: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    folder = await mkdtemp(join(tmpdir(), "headwater-first-user-"));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await system?.stop();
  });

  const firstUser = (...args: string[]) =>
    run(process.execPath, [join(root, "deploy/first-user.mjs"), ...args], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        MONGODB_URL: system.web.config.mongodbUrl,
        REDIS_URL: system.web.config.redisUrl,
        REDIS_PREFIX: system.web.config.redisPrefix,
        SECRETS_KEY: Buffer.alloc(32, 1).toString("base64"),
      },
    });
  const linkIn = (text: string) => /^Dashboard \(.*\): (http\S+#link=(hwl_\S+))$/m.exec(text)?.[2];

  it("makes a user once, keeps its key for its owner alone, and prints a link that signs in at each run", async () => {
    const { origin } = new URL(system.baseUrl);
    const first = await firstUser(folder, origin);
    expect(first.stdout).to.match(/^Created the user dev@localhost\.$/m);
    const key = await readFile(join(folder, "api-key"), "utf8");
    expect(first.stdout).to.not.include(key);
    expect((await stat(join(folder, "api-key"))).mode & 0o777).to.equal(0o600);

    const second = await firstUser(folder, origin);
    expect(second.stdout).to.not.include("Created");
    expect(await readFile(join(folder, "api-key"), "utf8")).to.equal(key);
    const link = linkIn(second.stdout);
    expect(link).to.not.equal(linkIn(first.stdout));
    const signedIn = await fetch(`${system.baseUrl}/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ link }),
    });
    expect(signedIn.status).to.equal(201);
  });

  it("says what is wrong if the user is there and its key is not", async () => {
    const other = await mkdtemp(join(folder, "other-"));
    const { stdout } = await firstUser(other, new URL(system.baseUrl).origin);
    expect(stdout).to.match(/^No link to sign in: headwater: .*user/m);
  });
});
