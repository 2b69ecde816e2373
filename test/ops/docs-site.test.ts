import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import MiniSearch, { type Options } from "minisearch";
import { PROBLEMS } from "../../src/http/problem.ts";
import { filesOf } from "../docs/repository.ts";
import { root } from "../support/built.ts";
import { type System, startSystem } from "../support/system.ts";

const paths = Object.keys(JSON.parse(readFileSync(join(root, "dist/docs/site.json"), "utf8")));
/** Links of a page, without the tags' other attributes. */
const hrefs = (html: string) => [...html.matchAll(/<a\b[^>]*\bhref="([^"]*)"/g)].map(([, href = ""]) => href);
const unescaped = (text: string) => text.replaceAll("&amp;", "&").replaceAll("&quot;", '"');
const idsOf = (html: string) => new Set([...html.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id));

describe("the documentation at /docs", () => {
  let system: System;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());

  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, system.baseUrl), { headers, redirect: "manual" });

  /** Without decompression. */
  const askRaw = (path: string, headers: Record<string, string>) =>
    new Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
      request(new URL(path, system.baseUrl), { headers }, response => {
        response.resume();
        resolve({ status: response.statusCode ?? 0, headers: response.headers });
      })
        .on("error", reject)
        .end();
    });

  it("has a page, and its Markdown, for every document", async () => {
    const documents = filesOf("docs").filter(file => file.endsWith(".md") && file !== "docs/README.md");
    for (const file of documents) {
      const path = `/${file.replace(/\.md$/, "")}`;
      expect(paths).to.include.members([path, `${path}.md`]);
    }
    expect(paths).to.include.members([
      "/docs",
      "/docs/errors",
      "/docs/decisions",
      "/docs/overview",
      "/docs/deploy",
    ]);
  });

  it("responds to every path with what its end says, under a strict policy", async () => {
    const { host } = new URL(system.baseUrl);
    for (const path of paths) {
      const response = await ask(path);
      expect(response.status, path).to.equal(200);
      const type = response.headers.get("content-type");
      // A file that is linked is shown as it is.
      const isFile = path.startsWith("/docs/files/") && type === "text/plain; charset=utf-8";
      const isMarkdown = path === "/llms.txt" || path.endsWith(".md");
      if (!isFile) expect(type, path).to.equal(`text/${isMarkdown ? "markdown" : "html"}; charset=utf-8`);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy.split("; ")).to.include.members([
        "default-src 'none'",
        `script-src ${host}/docs/assets/`,
        `style-src ${host}/docs/assets/`,
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]);
      expect(policy).not.to.include("unsafe");
      const text = await response.text();
      if (!isMarkdown && !isFile) expect(text, path).not.to.match(/<script>|<style|\sstyle="|\son\w+="/);
    }
  });

  it("has no link, in any page, that leads nowhere", async () => {
    const pages = new Map<string, { html: string; ids: Set<string | undefined> }>();
    for (const path of paths.filter(one => !one.endsWith(".md"))) {
      const response = await ask(path);
      const html = response.headers.get("content-type")?.startsWith("text/html") ? await response.text() : "";
      pages.set(path, { html, ids: idsOf(html) });
    }
    // What the server has beside the site.
    const others = new Set(["/docs/api", "/dashboard", "/v1/openapi.json", ...paths]);
    const lost: string[] = [];
    let links = 0;
    for (const [path, { html, ids }] of pages) {
      for (const href of hrefs(html).map(unescaped)) {
        if (/^(https?|mailto):/.test(href)) continue;
        links += 1;
        const target = new URL(href, `http://site${path}`);
        const page = target.pathname === path ? { ids } : pages.get(target.pathname);
        const id = decodeURIComponent(target.hash.slice(1));
        const isThere =
          id === "" ? others.has(target.pathname) : page?.ids.has(id) || target.pathname === "/docs/api";
        if (!isThere) lost.push(`${path}: ${href}`);
      }
    }
    expect(links).to.be.greaterThan(5000);
    expect(lost).to.deep.equal([]);
    for (const path of ["/docs/api", "/dashboard", "/v1/openapi.json"])
      expect((await ask(path)).status).to.equal(200);
  });

  it("has no link, in the Markdown of any page, that leads nowhere", async () => {
    const others = new Set(["/v1/openapi.json", ...paths]);
    const lost: string[] = [];
    for (const path of paths.filter(one => one.endsWith(".md") && !one.includes("/files/"))) {
      const text = (await (await ask(path)).text()).replaceAll(/^```.*?^```/gms, "");
      for (const [, href = ""] of text.matchAll(/(?<!!)\[[^\]]*\]\(([^()\s]+)\)/g)) {
        if (/^[a-z]+:/.test(href)) continue;
        if (!others.has(new URL(href, `http://site${path}`).pathname)) lost.push(`${path}: ${href}`);
      }
    }
    expect(lost).to.deep.equal([]);
  });

  it("explains every kind of problem at the anchor that its type links to", async () => {
    const ids = idsOf(await (await ask("/docs/errors")).text());
    for (const code of Object.keys(PROBLEMS)) expect([...ids]).to.include(code);
  });

  it("lists its pages for programs at /llms.txt", async () => {
    const text = await (await ask("/llms.txt")).text();
    expect(text).to.match(/^# Headwater\n\n> \w/);
    const listed = [...text.matchAll(/\]\((\S+)\)/g)].map(([, path = ""]) => path);
    expect(listed.length).to.be.greaterThan(25);
    expect(paths).to.include.members(listed);
  });

  it("finds a word with the index that pages load", async () => {
    const html = await (await ask("/docs/start")).text();
    const [, index = ""] = /data-index="([^"]+)"/.exec(html) ?? [];
    const response = await ask(new URL(index, "http://site/docs/start").pathname);
    const { options, index: kept } = (await response.json()) as { options: Options; index: never };
    const [best] = MiniSearch.loadJS(kept, options).search("retry schedule", {
      combineWith: "AND",
      boost: { heading: 4 },
    });
    expect(paths).to.include(`/docs${String(best?.at).split("#")[0]}`);
    expect(JSON.stringify(best)).to.match(/retry/i);
  });

  it("is compressed; pages are asked for again each time, and assets never", async () => {
    const encodingFor = async (accepted: string) =>
      (await askRaw("/docs/start", { "accept-encoding": accepted })).headers["content-encoding"];
    expect(await encodingFor("gzip, br")).to.equal("br");
    expect(await encodingFor("gzip")).to.equal("gzip");
    expect(await encodingFor("identity")).to.equal(undefined);
    const page = await ask("/docs/start");
    expect(page.headers.get("cache-control")).to.equal("no-cache");
    const again = await askRaw("/docs/start", { "if-none-match": page.headers.get("etag") ?? "" });
    expect(again.status).to.equal(304);
    const [, style = ""] = /<link rel="stylesheet" href="([^"]+)"/.exec(await page.text()) ?? [];
    const asset = await askRaw(`/docs/${style}`, { "accept-encoding": "br" });
    expect([asset.status, asset.headers["content-encoding"], asset.headers["content-type"]]).to.deep.equal([
      200,
      "br",
      "text/css; charset=utf-8",
    ]);
    expect(asset.headers["cache-control"]).to.equal("public, max-age=31536000, immutable");
  });

  it("has nothing else", async () => {
    for (const path of [
      "/docs/none",
      "/docs/start.html",
      "/docs/..%2Fsite.json",
      "/docs/site.json",
      "/docs/assets/none.js",
      "/docs/assets/",
    ]) {
      expect((await ask(path)).status, path).to.equal(404);
    }
    const slash = await ask("/docs/");
    expect([slash.status, slash.headers.get("location")]).to.deep.equal([302, "../docs"]);
    expect((await fetch(new URL("/docs", system.baseUrl), { method: "POST" })).status).to.equal(404);
  });
});
