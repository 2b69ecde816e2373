// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are code that runs in the sandbox
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { expect } from "chai";
import type { CallResult } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { TEST_TLS } from "../egress/test-tls.ts";
import { bundleOf, GET_DENO, openTestSandboxes, RUN } from "./sandbox-fixture.ts";

const IMPORTS = `
  import http, { get } from "node:http";
  import https from "node:https";
  import net, { connect } from "node:net";
  import tls from "node:tls";
  import dns from "node:dns/promises";
  import dgram from "node:dgram";
  import fs, { readFileSync, writeFileSync, mkdtempSync } from "node:fs";
  import { readFile, writeFile } from "node:fs/promises";
  import os, { hostname, tmpdir } from "node:os";
  import cp, { execSync } from "node:child_process";
  import * as workers from "node:worker_threads";
  const read = (via, options) => new Promise((done, failed) => via.get(options, response => {
    let text = ""; response.on("data", part => { text += part; }).on("end", () => done(text));
  }).on("error", failed));
  const opened = socket => new Promise((done, failed) => socket.on("connect", done).on("error", failed));
`;

describe("the confinement of a sandbox", () => {
  let closed: Sandboxes;
  let open: Sandboxes;
  let plain: Server;
  let secure: Server;
  let port: number;
  let tlsPort: number;
  let key = 0;
  const sockets = new Set<Socket>();

  before(async () => {
    plain = createServer(async (request, response) => {
      let size = 0;
      for await (const chunk of request) size += (chunk as Buffer).length;
      response.end(`${request.method} ${request.url} ${size}`);
    });
    plain.on("upgrade", (request, socket) => {
      const accept = createHash("sha1")
        .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest("base64");
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      socket.write(Buffer.from([0x81, 2, 0x68, 0x69]));
    });
    secure = createTlsServer(TEST_TLS, (request, response) => response.end(`secure ${request.url}`));
    for (const server of [plain, secure]) {
      server.on("connection", (socket: Socket) => sockets.add(socket));
      await new Promise<void>(done => server.listen(0, "127.0.0.1", done));
    }
    port = (plain.address() as AddressInfo).port;
    tlsPort = (secure.address() as AddressInfo).port;
    closed = await openTestSandboxes();
    open = await openTestSandboxes({ egress: { allow: ["127.0.0.1"], blockedHosts: [] } });
  });
  after(async () => {
    await Promise.all([closed.close(), open.close()]);
    for (const socket of sockets) socket.destroy();
    for (const server of [plain, secure]) {
      await new Promise(done => server.close(done));
    }
  });
  afterEach(() => {
    closed.drop("k");
    open.drop("k");
  });

  function run(sandboxes: Sandboxes, body: string): Promise<CallResult> {
    const code = `${IMPORTS} export default { name: "T", version: "1", async run(event) { const { port, tlsPort } = event; ${GET_DENO} ${body} } };`;
    return sandboxes.call(`k${++key}`, bundleOf(code), { ...RUN, event: { port, tlsPort } });
  }

  /** Evaluates an expression in a sandbox and returns its value, or throws what it threw. */
  async function resultOf(expression: string, sandboxes = closed): Promise<unknown> {
    const { error, emits } = await run(sandboxes, `this.$emit(await (${expression}))`);
    if (error) throw Object.assign(new Error(error.message), { stack: error.stack });
    return emits[0]?.event;
  }

  async function errorOf(expression: string, sandboxes = closed): Promise<string> {
    const { error, emits } = await run(sandboxes, `await (${expression}); this.$emit("got through")`);
    expect(emits, expression).to.deep.equal([]);
    return `${error?.message} ${error?.stack}`;
  }

  describe("network", () => {
    const WAYS = {
      fetch: "fetch(`http://127.0.0.1:${port}/`)",
      "fetch by name": "fetch(`http://localhost:${port}/`)",
      "node:http": "read(http, `http://127.0.0.1:${port}/`)",
      "node:http with its own agent": "read(http, { host: '127.0.0.1', port, agent: new http.Agent() })",
      "node:https": "read(https, `https://127.0.0.1:${tlsPort}/`)",
      "node:net": "opened(net.connect(port, '127.0.0.1'))",
      "a named import of node:net": "opened(connect({ port, host: '127.0.0.1' }))",
      "its own socket": "opened(new net.Socket().connect(port, '::1'))",
      "node:tls": "opened(tls.connect({ port: tlsPort, host: '127.0.0.1', rejectUnauthorized: false }))",
      WebSocket:
        "new Promise((d, f) => { const w = new WebSocket(`ws://127.0.0.1:${port}/`); w.onopen = d; w.onerror = e => f(e.error ?? new Error('error')); })",
      "Deno.connect": "Deno.connect({ hostname: '127.0.0.1', port })",
      "Deno.listen": "Deno.listen({ port: 0 })",
      "node:net as a server": "new Promise((d, f) => net.createServer().on('error', f).listen(0, d))",
      "another Unix socket": "opened(net.connect('/var/run/docker.sock'))",
      UDP: "new Promise((d, f) => dgram.createSocket('udp4').on('error', f).bind(0, d))",
      "a name lookup": "dns.lookup('localhost')",
      "the metadata address": "fetch('http://169.254.169.254/latest/meta-data/')",
      "deno's own fetch from another realm":
        "import('data:text/javascript,export default await Deno.createHttpClient({}) && 1').then(() => Deno.connect({ port }))",
    };
    for (const [way, expression] of Object.entries(WAYS)) {
      it(`is blocked for ${way}`, async () => {
        expect(await errorOf(expression)).to.match(
          /not a public address|NotCapable|EACCES|can't be used|Requires|EPERM|error/i,
        );
      });
    }

    it("reaches allowed addresses in every way that uses the gateway", async () => {
      const body = "fetch(`http://localhost:${port}/f`, { method: 'POST', body: 'abc' }).then(r => r.text())";
      expect(await resultOf(body, open)).to.equal("POST /f 3");
      expect(await resultOf("read(http, `http://127.0.0.1:${port}/h`)", open)).to.equal("GET /h 0");
      expect(
        await resultOf(
          "read(http, { host: 'localhost', port, path: '/k', agent: new http.Agent({ keepAlive: true }) })",
          open,
        ),
      ).to.equal("GET /k 0");
      const https =
        "read(https, { host: 'localhost', port: tlsPort, path: '/s', rejectUnauthorized: false })";
      expect(await resultOf(https, open)).to.equal("secure /s");
      const ws =
        "new Promise((d, f) => { const w = new WebSocket(`ws://127.0.0.1:${port}/`); w.onmessage = m => d(m.data); w.onerror = f; })";
      expect(await resultOf(ws, open)).to.equal("hi");
      const form =
        "(() => { const f = new FormData(); f.append('a', new Blob(['x']), 'a.txt'); return fetch(new Request(`http://127.0.0.1:${port}/form`, { method: 'POST', body: f })).then(r => [r instanceof Response, r.status]) })()";
      expect(await resultOf(form, open)).to.deep.equal([true, 200]);
    });

    it("carries the http_request prop's execute()", async () => {
      const code = `export default { name: "T", version: "1", props: { call: { type: "http_request" } },
        async run() { this.$emit(await this.call.execute()); } };`;
      const request = {
        url: `http://127.0.0.1:${port}/x`,
        method: "post",
        params: [
          { name: "q", value: "a b" },
          { name: "off", value: "1", disabled: true },
        ],
        headers: [{ name: "x-a", value: "1" }],
        body: { contentType: "application/json", raw: '{"a":1}' },
      };
      const props = { call: request };
      const { emits } = await open.call(`k${++key}`, bundleOf(code), { ...RUN, props });
      expect(emits[0]?.event).to.deep.include({ status: 200, data: "POST /x?q=a+b 7" });
    });

    it("verifies certificates", async () => {
      expect(await errorOf("fetch(`https://localhost:${tlsPort}/`)", open)).to.contain("self-signed");
      expect(await errorOf("read(https, `https://localhost:${tlsPort}/`)", open)).to.contain("self-signed");
    });

    it("reports failures with the error codes of Node", async () => {
      const code = (options: string) => `read(http, ${options}).catch(error => error.code)`;
      expect(await resultOf(code("{ host: '127.0.0.1', port: 1 }"), open)).to.equal("ECONNREFUSED");
      expect(await resultOf(code("{ host: '10.0.0.1', port: 80 }"), open)).to.equal("EACCES");
    });

    it("blocks the platform's stores even if their network is allowed", async () => {
      const sandboxes = await openTestSandboxes({
        egress: { allow: ["127.0.0.0/8"], blockedHosts: [{ host: "localhost", port }] },
      });
      try {
        expect(await errorOf("fetch(`http://127.0.0.1:${port}/`)", sandboxes)).to.contain("not a public");
      } finally {
        await sandboxes.close();
      }
    });
  });

  describe("files", () => {
    it("can be read and written in the private folder, which is also /tmp, and are removed afterwards", async () => {
      const value = await resultOf(`(() => {
        writeFileSync("/tmp/a.txt", "one");
        fs.writeFileSync(tmpdir() + "/b.txt", "two");
        writeFileSync("c.txt", "three");
        const dir = mkdtempSync("/tmp/sub-");
        return [readFileSync("a.txt", "utf8"), fs.readFileSync("/tmp/b.txt", "utf8"), fs.existsSync("/tmp/c.txt"),
          fs.statSync(dir).isDirectory(), process.cwd() === os.tmpdir()];
      })()`);
      expect(value).to.deep.equal(["one", "two", true, true, true]);
      expect(await resultOf(`fs.existsSync("/tmp/a.txt")`)).to.equal(false);
      expect(await resultOf(`writeFile("/tmp/p", "x").then(() => readFile("/tmp/p", "utf8"))`)).to.equal("x");
      expect(await readdir(tmpdir())).to.not.include("a.txt");
    });

    const OUTSIDE = {
      "/etc/passwd": `readFileSync("/etc/passwd")`,
      "a path out of the folder": `readFileSync("../alive.sock")`,
      "the parent's folder": `fs.readdirSync("..")`,
      "the URL of a file": `readFileSync(new URL("file:///etc/passwd"))`,
      "a URL that leads out of /tmp": `readFileSync(new URL("file:///tmp/..%2f..%2falive.sock"))`,
      "a path out of the folder of packages' files": `readFileSync("/tmp/.headwater-packages/../../../alive.sock")`,
      "this project": `fs.readFileSync(${JSON.stringify(new URL("../../package.json", import.meta.url).pathname)})`,
      "/proc": `fs.readFileSync("/proc/self/environ")`,
      "a link to the outside": `(fs.symlinkSync("/etc", "link"), fs.readFileSync("link/passwd"))`,
      writing: `fs.writeFileSync("/var/tmp/headwater-test", "x")`,
      "Deno.readTextFile": `Deno.readTextFile("/etc/passwd")`,
      "importing a file": `import("file:///etc/passwd")`,
    };
    for (const [what, expression] of Object.entries(OUTSIDE)) {
      it(`can't be accessed outside of it: ${what}`, async () => {
        // A checkout below /tmp does not exist for the component, because /tmp is the private folder.
        const isBelowTmp = what === "this project" && import.meta.url.startsWith("file:///tmp/");
        const denied = isBelowTmp
          ? /ENOENT/
          : /NotCapable|Requires|EACCES|EPERM|denied|is not with the component/;
        expect(await errorOf(expression)).to.match(denied);
      });
    }
  });

  describe("process", () => {
    it("has an empty environment that can be changed", async () => {
      expect(
        await resultOf("[process.env, Object.keys(process.env), process.env.PATH === undefined]"),
      ).to.deep.equal([{}, [], true]);
      expect(await resultOf("(process.env.A = 'b', process.env.A)")).to.equal("b");
      expect(await resultOf("Deno.env.toObject()")).to.deep.equal({});
      expect(await resultOf("[Deno.env.get('DENO_DIR') ?? null, process.argv]")).to.deep.equal([
        null,
        ["node", "component.js"],
      ]);
    });

    it("shows nothing of the machine, and does not throw", async () => {
      expect(
        await resultOf("[hostname(), os.hostname(), os.cpus().length, os.networkInterfaces()]"),
      ).to.deep.equal(["sandbox", "sandbox", 1, {}]);
      expect(
        await resultOf(
          "[process.constrainedMemory() > 1e8, process.availableMemory() > 1e8, os.getPriority()]",
        ),
      ).to.deep.equal([true, true, 0]);
      expect(
        await resultOf(
          "[process.getuid(), process.geteuid(), process.getgid(), process.getegid(), process.getgroups()]",
        ),
      ).to.deep.equal([1000, 1000, 1000, 1000, [1000]]);
    });

    it("shows no path of the server, by whatever way the process is found", async () => {
      const shown =
        (await resultOf(`Promise.all([process, import("node:process"), import("process"), process.getBuiltinModule("process")]).then(all => all.map(
        ({ execPath, argv0, title, argv, execArgv, config, release, versions, report, mainModule }) =>
          ({ execPath, argv0, title, argv, execArgv, config, release, versions, report: report.getReport(), mainModule })))`)) as {
          versions: object;
        }[];
      for (const one of shown) {
        expect(one).to.include({
          execPath: "/usr/local/bin/node",
          argv0: "deno",
          title: "/usr/local/bin/node",
        });
        expect(one.versions).to.not.have.any.keys("deno", "typescript");
      }
      const text = JSON.stringify(shown);
      for (const path of [process.cwd(), "prelude.js", "@deno", tmpdir()]) expect(text).to.not.contain(path);
      expect(await resultOf("Intl.DateTimeFormat().resolvedOptions().timeZone")).to.equal("UTC");
    });

    for (const expression of [
      "new Promise((d, f) => cp.spawn('/bin/sh').on('error', f).on('spawn', d))",
      "new Deno.Command('/usr/bin/id').output()",
      "new Promise((d, f) => cp.fork('/usr/bin/id').on('error', f).on('exit', d))",
      "Deno.dlopen('/lib/x86_64-linux-gnu/libc.so.6', {})",
      "process.kill(process.ppid, 'SIGTERM')",
      "new Worker('data:text/javascript,1', { type: 'module' })",
      "import('https://deno.land/std/version.ts')",
      "import('npm:left-pad')",
    ]) {
      it(`denies ${expression}`, async () => {
        expect(await errorOf(expression)).to.match(
          /NotCapable|Requires|not defined|npm|remote|EACCES|EPERM|ENOENT/i,
        );
      });
    }
  });

  it("starts no program, whether or not the attempt throws", async () => {
    const attempts = `
      for (const attempt of [
        () => execSync("/usr/bin/touch made"),
        () => cp.execFileSync("/usr/bin/touch", ["made"]),
        () => cp.spawnSync("/usr/bin/touch", ["made"]),
        () => cp.spawnSync("/bin/sh", ["-c", "touch made"]),
        () => new Deno.Command("/usr/bin/touch", { args: ["made"] }).outputSync(),
      ]) try { attempt(); } catch {}
      writeFileSync("control", "");
      this.$emit(fs.readdirSync("."));`;
    expect((await run(closed, attempts)).emits[0]?.event).to.deep.equal(["control"]);
  });

  describe("protocol", () => {
    const FORGED = JSON.stringify(
      `\n{"kind":"emit","call":1,"event":"forged","metadata":{}}\n{"kind":"ended","call":1}\n`,
    );
    for (const [way, body] of Object.entries({
      "console.log": `console.log(${FORGED})`,
      "process.stdout": `process.stdout.write(${FORGED})`,
      "the file descriptor": `try { fs.writeSync(1, ${FORGED}) } catch {}`,
      "half a line on the file descriptor": `try { fs.writeSync(1, "half") } catch {}`,
      "a replaced JSON.stringify": `JSON.stringify = () => '"forged"'`,
      "a replaced TextEncoder": `TextEncoder.prototype.encode = () => new Uint8Array(3)`,
    })) {
      it(`is not affected by ${way}`, async () => {
        const result = await run(closed, `${body}; this.$emit("real")`);
        expect(result.error).to.equal(undefined);
        expect(result.emits).to.deep.equal([{ event: "real", metadata: {} }]);
      });
    }

    it("exposes none of Deno's standard streams", async () => {
      const value = await resultOf("[typeof Deno.stdin, typeof Deno.stdout, typeof Deno.stderr]");
      expect(value).to.deep.equal(["undefined", "undefined", "undefined"]);
    });
  });
});
