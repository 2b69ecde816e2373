import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromUrl, rawAddress } from "../../src/components/fetch-modules.ts";
import { fromFile } from "../../src/components/load-modules.ts";
import { createEgress, type Egress } from "../../src/egress/agent.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { importBundle, originOf } from "./import-bundle.ts";
import { rejection } from "./rejection.ts";

/** Of a million bytes each, more than all files may have together. */
const PARTS = Math.floor(LIMITS.modulesBytes.value / 1_000_000) + 1;

const TREE: Record<string, string> = {
  "components/acme/sources/new/new.mjs": `import app from "../../acme.app.mjs"; import { inner } from "./inner"; import event from "./test-event.json";
export default { name: "new", app, inner, event };`,
  "components/acme/sources/new/inner/index.mjs": `import app from "../../../acme.app.mjs"; export const inner = app.slug + "!";`,
  "components/acme/sources/new/test-event.json": `{"id": 1}`,
  "components/acme/acme.app.mjs": `export default { slug: "acme" };`,
  "components/acme/typed.ts": `import { app } from "./typed.app"; import { twice } from "./twice.js"; export default { name: app as string, two: twice(1) };`,
  "components/acme/typed.app.ts": `export const app: string = "typed";`,
  "components/acme/twice.ts": `export const twice = (a: number): number => a + a;`,
  "components/acme/fails.mjs": `import "./acme.app.mjs";\nexport default {\n  run() { throw new Error("boom"); },\n};`,
  "circle.mjs": `import { b } from "./circle-b.mjs"; export const a = 1; export default { b: () => b };`,
  "circle-b.mjs": `import { a } from "./circle.mjs"; export const b = () => a;`,
  "broken.mjs": `import "./broken-part.mjs"; export default {};`,
  "broken-part.mjs": `export const a = 1;\n  const = 1;`,
  "lonely.mjs": `import "./nowhere.mjs"; export default {};`,
  "chain-0.mjs": `import "./chain-1.mjs"; export default {};`,
  ...Object.fromEntries(
    Array.from({ length: LIMITS.modules.value }, (_, index) => [
      `chain-${index + 1}.mjs`,
      `import "./chain-${index + 2}.mjs";`,
    ]),
  ),
  "large.mjs": `export default {}; /*${"x".repeat(LIMITS.moduleBytes.value)}*/`,
  ...Object.fromEntries(
    Array.from({ length: PARTS }, (_, i) => [`part-${i}.mjs`, `/*${"x".repeat(1_000_000)}*/`]),
  ),
  "parts.mjs": `${Array.from({ length: PARTS }, (_, i) => `import "./part-${i}.mjs";`).join("\n")} export default {};`,
};

const SHARED: [string, string, Record<string, unknown>][] = [
  [
    "relative imports, folders and JSON",
    "components/acme/sources/new/new.mjs",
    { name: "new", app: { slug: "acme" }, inner: "acme!", event: { id: 1 } },
  ],
  ["TypeScript files without their extensions", "components/acme/typed.ts", { name: "typed", two: 2 }],
];

const REJECTED: [string, string, RegExp][] = [
  [
    "an import of a file that does not exist",
    "lonely.mjs",
    /lonely\.mjs imports "\.\/nowhere\.mjs": nothing was found at .*nowhere\.mjs/,
  ],
  ["an entry file that does not exist", "absent.mjs", /nothing was found at .*absent\.mjs/],
  ["a syntax error in an imported file, with its name", "broken.mjs", /broken-part\.mjs: line 2, column 9/],
  ["more than 64 files", "chain-0.mjs", /more than 64 files/],
  ["a file over 1 MB", "large.mjs", /exceeds 1 MB/],
  ["more than 5 MB in total", "parts.mjs", /exceed 5 MB/],
];

const cacheDir = tmpdir();

describe("a component from local files", () => {
  let folder: string;
  const bundle = (path: string) => bundleComponent(fromFile(join(folder, path)), { cacheDir });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-files-"));
    for (const [path, text] of Object.entries(TREE)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const [what, path, expected] of SHARED) {
    it(`accepts ${what}`, async () => {
      expect(await importBundle((await bundle(path)).code)).to.deep.equal(expected);
    });
  }

  it("has files named relative to the entry, in lists and stacks", async () => {
    const { modules } = await bundle("components/acme/sources/new/new.mjs");
    expect(modules).to.deep.equal(["new.mjs", "../../acme.app.mjs", "inner/index.mjs", "test-event.json"]);
    const { code } = await bundle("components/acme/fails.mjs");
    expect(originOf(code, "new Error")).to.deep.equal({ file: "fails.mjs", line: 3 });
  });

  it("can have circular imports", async () => {
    const { code } = await bundle("circle.mjs");
    expect((await importBundle(code)).b).to.be.a("function");
  });

  it("has the same hash if its files are in another place, and a different one if a file changes", async () => {
    const one = await bundle("components/acme/typed.ts");
    await mkdir(join(folder, "copy"));
    for (const name of ["typed.ts", "typed.app.ts", "twice.ts"]) {
      await writeFile(join(folder, "copy", name), TREE[`components/acme/${name}`] as string);
    }
    expect((await bundle("copy/typed.ts")).hash).to.equal(one.hash);
    await writeFile(join(folder, "copy/twice.ts"), "export const twice = (a: number): number => a * 2;");
    expect((await bundle("copy/typed.ts")).hash).not.to.equal(one.hash);
  });

  for (const [what, path, message] of REJECTED) {
    it(`rejects ${what}`, async () => {
      const error = await rejection(bundle(path));
      expect(error.code).to.equal("invalid");
      expect(error.message).to.match(message);
    });
  }
});

describe("a component from component_url", () => {
  let server: Server;
  let other: Server;
  let origin: string;
  let egress: Egress;
  const requested: string[] = [];
  const bundle = (path: string) => bundleComponent(fromUrl(`${origin}/${path}`, egress), { cacheDir });

  const listen = async (made: Server) => {
    await new Promise<void>(resolve => made.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
  };

  before(async () => {
    other = createServer((_request, response) => response.end("export default { name: 'elsewhere' };"));
    const elsewhere = await listen(other);
    const special: Record<string, { status: number; headers: Record<string, string>; body?: Buffer }> = {
      "moved.mjs": { status: 302, headers: { location: "/components/acme/typed.ts" } },
      "away.mjs": { status: 302, headers: { location: `${elsewhere}/x.mjs` } },
      "loop.mjs": { status: 302, headers: { location: "/loop.mjs" } },
      "to-file.mjs": { status: 302, headers: { location: "file:///etc/passwd" } },
      "page.mjs": {
        status: 200,
        headers: { "content-type": "text/html; charset=utf-8" },
        body: Buffer.from("<html>"),
      },
      "binary.mjs": { status: 200, headers: {}, body: Buffer.from([0xff, 0xfe, 0x00]) },
      "failing.mjs": { status: 503, headers: {} },
      "leaver.mjs": {
        status: 200,
        headers: {},
        body: Buffer.from(`import x from "./away.mjs"; export default { x };`),
      },
    };
    server = createServer((request, response) => {
      const path = (request.url ?? "/").slice(1);
      requested.push(path);
      const found = special[path];
      if (found) return response.writeHead(found.status, found.headers).end(found.body);
      const text = TREE[path];
      if (text === undefined) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/plain" }).end(text);
    });
    origin = await listen(server);
    egress = createEgress({ allow: ["127.0.0.1/32"], blockedHosts: [], connectTimeoutMs: 2000 });
  });
  after(async () => {
    await egress.close();
    for (const made of [server, other]) {
      made.closeAllConnections();
      await new Promise(resolve => made.close(resolve));
    }
  });

  for (const [what, path, expected] of SHARED) {
    it(`accepts ${what}`, async () => {
      expect(await importBundle((await bundle(path)).code)).to.deep.equal(expected);
    });
  }

  it("is fetched with one request for each file", async () => {
    requested.length = 0;
    await bundle("components/acme/sources/new/new.mjs");
    const found = requested.filter(path => path in TREE);
    expect(found).to.have.length(new Set(found).size);
  });

  it("is fetched through redirects, and its imports are relative to the final address", async () => {
    expect(await importBundle((await bundle("moved.mjs")).code)).to.deep.equal({ name: "typed", two: 2 });
    expect(await importBundle((await bundle("away.mjs")).code)).to.deep.equal({ name: "elsewhere" });
  });

  const rejected: [string, string, RegExp][] = [
    ...REJECTED,
    ["an import that leads to a different site", "leaver.mjs", /away\.mjs leads to a different site/],
    ["circular redirects", "loop.mjs", /loop\.mjs redirects more than 3 times/],
    ["a redirect to a file", "to-file.mjs", /redirects to file:/],
    ["a web page", "page.mjs", /page\.mjs is a web page/],
    ["a file that is not text", "binary.mjs", /binary\.mjs is not UTF-8 text/],
    ["a failing address", "failing.mjs", /failing\.mjs responded with status 503/],
  ];
  for (const [what, path, message] of rejected) {
    it(`rejects ${what} and names component_url`, async () => {
      const error = await rejection(bundle(path));
      expect([error.code, error.fields[0]?.path]).to.deep.equal(["invalid", "component_url"]);
      expect(error.message).to.match(message);
    });
  }

  for (const url of [
    "ftp://example.com/x.mjs",
    "file:///etc/passwd",
    "example.com/x.mjs",
    "http://user:word@example.com/x.mjs",
  ]) {
    it(`rejects ${url}`, async () => {
      const error = await rejection(bundleComponent(fromUrl(url, egress), { cacheDir }));
      expect(error.fields).to.deep.include({
        in: "body",
        path: "component_url",
        message: error.message.slice(15),
      });
    });
  }

  it("rejects an address that is not public", async () => {
    const guarded = createEgress({ allow: [], blockedHosts: [], connectTimeoutMs: 2000 });
    const error = await rejection(bundleComponent(fromUrl(`${origin}/circle.mjs`, guarded), { cacheDir }));
    expect(error.message).to.match(/could not be fetched: .*not a public address/);
    await guarded.close();
  });

  it("that does not respond in time is not the caller's mistake: the same request may succeed", async () => {
    for (const code of ["timeout", "local"] as const) {
      const request = () => Promise.reject(new EgressError(code, "example.com did not respond in time"));
      const error = await rejection(fromUrl("http://example.com/x.mjs", { request }).entry());
      expect(error).to.include({ code: "unavailable", retryAfterMs: 10_000 });
      expect(error.message).to.include("http://example.com/x.mjs could not be fetched");
    }
    const request = () => Promise.reject(new EgressError("reset", "the connection ended early"));
    expect(await rejection(fromUrl("http://example.com/x.mjs", { request }).entry())).to.include({
      code: "invalid",
    });
  });

  it("is fetched as the raw file from GitHub's page of a file", () => {
    expect(rawAddress(new URL("https://github.com/o/r/blob/main/components/a/a.mjs")).href).to.equal(
      "https://raw.githubusercontent.com/o/r/main/components/a/a.mjs",
    );
    expect(rawAddress(new URL("https://example.com/o/r/blob/main/a.mjs")).hostname).to.equal("example.com");
  });
});
