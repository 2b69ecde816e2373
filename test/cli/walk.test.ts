import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { read } from "../docs/repository.ts";
import { programOf } from "../support/built.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";

/** The first shell block of the page. */
const walk = /^```sh\n(.*?)^```/ms.exec(read("docs/cli.md"))?.[1] ?? "";

describe("the walk of docs/cli.md", () => {
  let system: System;
  let receiver: Receiver;
  let folder: string;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver(200);
    folder = await mkdtemp(join(tmpdir(), "headwater-walk-"));
    await mkdir(join(folder, "bin"));
    const program = programOf("src/cli/main.ts", { built: "bin/headwater" });
    const words = [process.execPath, ...program].map(word => `'${word}'`).join(" ");
    await writeFile(join(folder, "bin/headwater"), `#!/bin/sh\nexec ${words} "$@"\n`);
    await chmod(join(folder, "bin/headwater"), 0o755);
  });
  after(async () => {
    await receiver.close();
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("leads from a sign-in link to a delivered event, with a profile and nothing of the stores", async () => {
    const api = await system.user();
    const { url: link } = await api.expect(201, "POST", "/sign_in_links");
    const child = spawn("bash", ["-euo", "pipefail", "-c", walk], {
      // Not the project: a command that reads files of it would find none.
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        LINK: link,
        HOOK: receiver.url,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", chunk => {
      stdout += chunk;
    });
    child.stderr.on("data", chunk => {
      stderr += chunk;
    });
    const code = await new Promise(resolve => child.once("close", resolve));
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout).to.match(/^Signed in to http.* as user\d+/);
    expect(stdout)
      .to.match(/^20\S+Z \d+-\d+ said hello$/m)
      .and.to.match(/^20\S+Z info +greeted$/m);
    expect(stdout).to.match(/^delivery +dlv_\w+ → wh_\w+: delivered$/m);
    expect(stdout.trimEnd()).to.match(/Deleted profile .*\.$/);
    expect(receiver.requests.map(({ raw }) => JSON.parse(raw))).to.deep.equal([{ hello: "world" }]);
    expect(await readdir(join(folder, ".config/headwater"))).to.deep.equal(["profiles.json"]);
  });
});
