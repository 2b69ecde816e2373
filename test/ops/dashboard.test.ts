import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { filesOf, read } from "../docs/repository.ts";
import { root } from "../support/built.ts";
import { type System, startSystem } from "../support/system.ts";

const SHELL_BYTES = 45 * 1024;
const assets = join(root, "dist/dashboard/assets");

describe("the dashboard's files", () => {
  let system: System;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());

  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, system.baseUrl), { headers, redirect: "manual" });

  /** With a host of the caller's choice, and without decompression. */
  const askRaw = (path: string, headers: Record<string, string>) =>
    new Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
      request(new URL(path, system.baseUrl), { headers }, response => {
        response.resume();
        resolve({ status: response.statusCode ?? 0, headers: response.headers });
      })
        .on("error", reject)
        .end();
    });

  const scripts = (html: string) =>
    [...html.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");

  it("are one page for every path, which is asked for again each time", async () => {
    for (const path of ["/dashboard", "/dashboard/", "/dashboard/sources/dc_0000000000000001?org=o_1"]) {
      const page = await ask(path);
      expect(page.status, path).to.equal(200);
      expect(page.headers.get("content-type")).to.match(/^text\/html/);
      expect(page.headers.get("cache-control")).to.equal("no-cache");
      const again = await askRaw(path, { "if-none-match": page.headers.get("etag") ?? "" });
      expect(again.status).to.equal(304);
    }
  });

  it("allow scripts and styles of their own folder only, and nothing that becomes HTML", async () => {
    const { host } = new URL(system.baseUrl);
    const policy = (await ask("/dashboard")).headers.get("content-security-policy") ?? "";
    const directives = policy.split("; ");
    expect(directives).to.include.members([
      "default-src 'none'",
      `script-src ${host}/dashboard/assets/`,
      `style-src ${host}/dashboard/assets/`,
      "connect-src 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(policy).not.to.include("unsafe");
    // A host that is none adds nothing to the policy.
    const odd = await askRaw("/dashboard", { host: "a b; script-src *" });
    expect(odd.headers["content-security-policy"]).to.include(
      `script-src 'self' ${host}/dashboard/assets/; `,
    );
  });

  it("are allowed at the public address, too, behind a proxy that sends another host", async () => {
    const { host } = new URL(system.baseUrl);
    const { headers } = await askRaw("/dashboard", { host: "web.internal:3000" });
    const directives = String(headers["content-security-policy"]).split("; ");
    for (const name of ["script-src", "style-src"]) {
      expect(directives).to.include(`${name} web.internal:3000/dashboard/assets/ ${host}/dashboard/assets/`);
    }
  });

  it("are compressed and never change, as their names do", async () => {
    const paths = scripts(await (await ask("/dashboard")).text());
    expect(paths.length).to.be.greaterThan(1);
    for (const path of paths) {
      expect(path).to.match(/-[A-Z0-9]{8}\.(js|css)$/);
      const { headers } = await askRaw(path, { "accept-encoding": "gzip, br" });
      expect(headers["cache-control"]).to.equal("public, max-age=31536000, immutable");
      expect(headers.vary).to.include("Accept-Encoding");
      expect(headers["content-type"]).to.match(/^text\/(javascript|css); charset=utf-8$/);
    }
    const [style = ""] = paths.filter(path => path.endsWith(".css"));
    const encodingFor = async (accepted: string) =>
      (await askRaw(style, { "accept-encoding": accepted })).headers["content-encoding"];
    expect(await encodingFor("gzip, br")).to.equal("br");
    expect(await encodingFor("gzip")).to.equal("gzip");
    expect(await encodingFor("identity")).to.equal(undefined);
  });

  it("are no others", async () => {
    for (const path of ["missing.js", "..%2Findex.html", "app.js.map", ""]) {
      expect((await ask(`/dashboard/assets/${path}`)).status, path).to.equal(404);
    }
    expect((await fetch(new URL("/dashboard", system.baseUrl), { method: "POST" })).status).to.equal(404);
    expect((await ask("/dashboards")).status).to.equal(404);
  });

  it("are not on the host of the endpoints", async () => {
    const separate = await startSystem({ INGRESS_URL: "http://in.test" }, { workers: false });
    try {
      const { port } = new URL(separate.baseUrl);
      const status = await new Promise(resolve =>
        request(
          { port, host: "127.0.0.1", path: "/dashboard", headers: { host: `in.test:${port}` } },
          response => {
            response.resume();
            resolve(response.statusCode);
          },
        ).end(),
      );
      expect(status).to.equal(404);
    } finally {
      await separate.stop();
    }
  });

  it("begin with at most 45 KB, compressed by gzip", async () => {
    const html = await (await ask("/dashboard")).text();
    const files = scripts(html).map(path => readFileSync(join(assets, path.split("/").at(-1) ?? "")));
    const bytes = [Buffer.from(html), ...files].reduce((sum, file) => sum + gzipSync(file).length, 0);
    expect(bytes).to.be.lessThan(SHELL_BYTES);
  });

  it("make no HTML of text", () => {
    const sources = filesOf("dashboard").filter(file => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"));
    expect(sources.length).to.be.greaterThan(30);
    for (const file of sources) {
      expect(read(file), file).not.to.match(
        /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|\beval\(/,
      );
    }
  });
});
