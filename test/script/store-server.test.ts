import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "chai";
import { isOurs } from "../../script/lib/processes.mjs";
import { redisKind, redisProgram } from "../../script/lib/redis.mjs";
import { type StoreHandle, startOrAdopt } from "../../script/lib/store-server.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("a store server of a start", () => {
  let folder: string;
  let kind: ReturnType<typeof redisKind>;
  const held: StoreHandle[] = [];
  const open = () => startOrAdopt(kind, { folder, hold: handle => held.push(handle) });

  before(async () => {
    kind = redisKind({ program: await redisProgram({ root, say: () => {} }), firstPort: 0 });
  });

  beforeEach(() => {
    // With a blank in the path, because the scripts read command lines back.
    folder = mkdtempSync(join(tmpdir(), "headwater store-"));
  });

  afterEach(async () => {
    await Promise.all(held.splice(0).map(handle => handle.stop(5000)));
    rmSync(folder, { recursive: true, force: true });
  });

  it("starts, accepts connections, and is gone after its stop", async () => {
    const handle = await open();
    expect(handle.adopted).to.equal(false);
    expect(await kind.isUp(handle.port)).to.equal(true);
    await handle.stop(5000);
    expect(handle.isAlive()).to.equal(false);
    expect(await kind.isUp(handle.port)).to.equal(false);
    expect(existsSync(join(folder, "redis.pid"))).to.equal(false);
  });

  it("is adopted by the next start if the script that started it was killed", async () => {
    const first = await startInKilledProcess(folder);
    const handle = await open();
    expect(handle).to.include({ adopted: true, pid: first.pid, port: first.port });
    await handle.stop(5000);
    expect(handle.isAlive()).to.equal(false);
  });

  it("is not confused with another process that now has its process id", async () => {
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    try {
      writeFileSync(join(folder, "redis.pid"), `${other.pid}\n`);
      const handle = await open();
      expect(handle.adopted).to.equal(false);
      expect(other.exitCode).to.equal(null);
      expect(isOurs(other.pid ?? 0, [process.execPath])).to.equal(true);
    } finally {
      other.kill("SIGKILL");
    }
  });

  it("reports in one line why it did not start", async () => {
    const broken = {
      ...kind,
      args: (given: Parameters<typeof kind.args>[0]) => [...kind.args(given), "--nonsense", "1"],
    };
    const error = await startOrAdopt(broken, { folder, hold: () => {} }).catch((reason: Error) => reason);
    expect(error).to.be.instanceOf(Error);
    expect((error as Error).message).to.match(/^Redis did not start: .+ \(see .+redis\.log\)$/);
  });
});

/** Starts the server from another process, which kills itself with SIGKILL right after that. */
function startInKilledProcess(folder: string): Promise<{ pid: number; port: number }> {
  const lib = (name: string) => JSON.stringify(pathToFileURL(join(root, "script/lib", name)).href);
  const code = `
    const { redisKind, redisProgram } = await import(${lib("redis.mjs")});
    const { startOrAdopt } = await import(${lib("store-server.mjs")});
    const program = await redisProgram({ root: ".", say: () => {} });
    const folder = ${JSON.stringify(folder)};
    const { pid, port } = await startOrAdopt(redisKind({ program, firstPort: 0 }), { folder, hold: () => {} });
    process.stdout.write(JSON.stringify({ pid, port }), () => process.kill(process.pid, "SIGKILL"));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", chunk => {
    output += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("close", () =>
      output ? resolve(JSON.parse(output)) : reject(new Error("the process started no server")),
    );
  });
}
