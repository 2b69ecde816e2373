import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { rawAddress } from "../../src/components/fetch-modules.ts";
import { Components } from "../../src/models/component.ts";
import type { Api, Problem } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

const APP = 'export default { type: "app", app: "acme", propDefinitions: { city: { type: "string" } } };\n';
const SOURCE = `import acme from "../../acme.app.mjs";
export default { name: "Fetched", version: "0.0.1", key: "acme-fetched", props: { acme, http: "$.interface.http",
  city: { propDefinition: [acme, "city"] } }, run() { this.$emit(this.city); } };\n`;

describe("a component from component_url", () => {
  let system: System;
  let server: Server;
  let origin: string;
  let api: Api;
  let files: Record<string, string | ((response: import("node:http").ServerResponse) => void)>;
  before(async () => {
    server = createServer((request, response) => {
      const found = files[request.url ?? ""];
      if (typeof found === "function") return found(response);
      response.writeHead(found === undefined ? 404 : 200, { "content-type": "text/plain" }).end(found);
    });
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // ::1 is not included: the tests use it as an address that is not allowed.
    system = await startSystem({ EGRESS_ALLOW: "127.0.0.1/32" }, { workers: false });
    api = await system.user();
  });
  beforeEach(() => {
    files = { "/components/acme/acme.app.mjs": APP, "/components/acme/sources/new/new.mjs": SOURCE };
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
    await system.stop();
  });

  const ENTRY = "/components/acme/sources/new/new.mjs";
  const save = (body: Record<string, unknown>, path = "/components") =>
    api.request<{ data: Record<string, string> } & Problem>("POST", path, { body });

  async function rejectionOf(component_url: string): Promise<string> {
    const before = await Components(system.web.mongo).countDocuments();
    for (const path of ["/components", "/sources"]) {
      const { status, body } = await save({ component_url }, path);
      expect(status, `${path} ${component_url}`).to.equal(400);
      expect(body.errors?.map(error => error.path)).to.deep.equal(["component_url"]);
    }
    expect(await Components(system.web.mongo).countDocuments()).to.equal(before);
    return (await save({ component_url })).body.detail;
  }

  it("has no control characters and no blanks around it, also where it is only metadata", async () => {
    const component_code = 'export default { name: "Meta", version: "1", run() {} };';
    const { id: component_id } = (await save({ component_code })).body.data;
    for (const end of ["\r\n", "\n", "\t", "\0", " "]) {
      const component_url = origin + ENTRY + end;
      await rejectionOf(component_url);
      for (const [path, body, field] of [
        ["/components", { component_url, component_code }, "component_url"],
        ["/sources", { component_url, component_code }, "component_url"],
        ["/sources", { component_url, component_id }, "component_url"],
        ["/destinations", { action: { component_url } }, "action.component_url"],
        ["/destinations", { action: { component_url, component_id } }, "action.component_url"],
      ] as const) {
        const response = await save(body, path);
        expect(response.status, `${path} ${JSON.stringify(body)}`).to.equal(400);
        expect(response.body.errors?.map(error => error.path)).to.deep.equal([field]);
      }
    }
  });

  it("may have a percent sign in its path that encodes nothing", async () => {
    const code = 'import x from "./b%zz.mjs"; export default { name: "P" + x, version: "1", run() {} };';
    Object.assign(files, { "/100%/a%.mjs": code, "/100%/b%zz.mjs": "export default 1;" });
    const { status, body } = await save({ component_url: `${origin}/100%/a%.mjs` });
    expect([status, body.data?.name]).to.deep.equal([201, "P1"]);
    files = {};
    expect(await rejectionOf(`${origin}/%`)).to.include("nothing was found");
  });

  it("is stored as fetched, with a hash of all files it imports", async () => {
    const { body } = await save({ component_url: origin + ENTRY });
    expect(body.data).to.include({ code: SOURCE, component_url: origin + ENTRY, key: "acme-fetched" });
    const imported = `\0../../acme.app.mjs\0${Buffer.byteLength(APP)}\0${APP}`;
    expect(body.data.code_hash).to.equal(createHash("sha256").update(SOURCE).update(imported).digest("hex"));
  });

  it("is the same component while its files are the same, and a new one if an imported file changes", async () => {
    const ids = async () => (await save({ component_url: origin + ENTRY })).body.data.id;
    const [first, again] = [await ids(), await ids()];
    expect(again).to.equal(first);
    files["/components/acme/acme.app.mjs"] = `${APP}// changed\n`;
    expect(await ids()).not.to.equal(first);
    files["/components/acme/acme.app.mjs"] = APP;
    expect(await ids(), "the first component again").to.equal(first);
  });

  it("can be the code of a source; component_code takes precedence, and the address is kept", async () => {
    const fetched = await save(
      { component_url: origin + ENTRY, configured_props: { city: "Bern" } },
      "/sources",
    );
    expect(fetched.status).to.equal(201);
    expect(fetched.body.data.name).to.equal("fetched");
    const component_code = 'export default { name: "Given", version: "0.0.1" };';
    const both = await save({ component_code, component_url: `${origin}/not-fetched.mjs` });
    expect(both.body.data).to.include({
      name: "Given",
      code: component_code,
      component_url: `${origin}/not-fetched.mjs`,
    });
  });

  it("is rejected if the address has no file, no code, too much code or broken code", async () => {
    files["/gone.mjs"] = response => void response.writeHead(410).end();
    files["/failing.mjs"] = response => void response.writeHead(500).end("export default {}");
    files["/teapot.mjs"] = response => void response.writeHead(204).end();
    files["/page.mjs"] = response =>
      void response.writeHead(200, { "content-type": "Text/HTML" }).end("<html>");
    files["/large.mjs"] = `export default {}; //${"x".repeat(1024 * 1024)}`;
    files["/endless.mjs"] = response => {
      response.writeHead(200);
      const more = () => void (response.writable && response.write(Buffer.alloc(256 * 1024, "/"), more));
      more();
    };
    files["/broken-off.mjs"] = response => {
      response.writeHead(200, { "content-length": 1000 });
      response.write("export default {", () => response.destroy());
    };
    files["/reset.mjs"] = response => void response.destroy();
    files["/no-component.mjs"] = "export default 7;";
    files["/lonely.mjs"] = 'import "./nowhere.mjs"; export default {};';
    files["/up.mjs"] = 'import "../../../../etc/passwd"; export default {};';
    files["/other-host.mjs"] = 'import "https://example.org/x.mjs"; export default {};';
    const rejected: [string, RegExp][] = [
      ["/absent.mjs", /nothing was found/],
      ["/gone.mjs", /nothing was found/],
      ["/failing.mjs", /responded with status 500/],
      ["/teapot.mjs", /responded with status 204/],
      ["/page.mjs", /is a web page/],
      ["/large.mjs", /exceeds 1 MB/],
      ["/endless.mjs", /exceeds 1 MB/],
      ["/broken-off.mjs", /broken-off\.mjs/],
      ["/reset.mjs", /could not be fetched/],
      ["/lonely.mjs", /"\.\/nowhere\.mjs"/],
      ["/up.mjs", /passwd/],
      ["/other-host.mjs", /https:\/\/example\.org\/x\.mjs/],
    ];
    for (const [path, message] of rejected) expect(await rejectionOf(origin + path)).to.match(message);
    const none = await save({ component_url: `${origin}/no-component.mjs` });
    expect(none.status).to.equal(400);
  });

  it("is never fetched from private addresses, the platform's stores or other protocols, nor through redirects to these", async () => {
    const redirects: Record<string, string> = {
      "/to-v6.mjs": `http://[::1]:${new URL(origin).port}${ENTRY}`,
      "/to-store.mjs": "http://127.0.0.1:6390/",
      "/to-metadata.mjs": "http://169.254.169.254/latest/meta-data/",
      "/to-file.mjs": "file:///etc/passwd",
    };
    for (const [path, location] of Object.entries(redirects)) {
      files[path] = response => void response.writeHead(302, { location }).end();
    }
    const store = new URL(system.web.config.redisUrl);
    for (const url of [
      `http://[::1]:${new URL(origin).port}${ENTRY}`,
      `http://localhost.localdomain.invalid${ENTRY}`,
      "http://10.0.0.1/x.mjs",
      "http://169.254.169.254/latest/meta-data/",
      `http://${store.host}/x.mjs`,
      "ftp://127.0.0.1/x.mjs",
      "//127.0.0.1/x.mjs",
      "data:text/javascript,export default {}",
      "http://user:word@127.0.0.1/x.mjs",
      ...Object.keys(redirects).map(path => origin + path),
    ]) {
      expect(await rejectionOf(url), url).not.to.match(/name: "Fetched"|word@/);
    }
  });

  it("is fetched as the raw file if the address is GitHub's page of a file", () => {
    const raw: [string, string][] = [
      ["https://github.com/o/r/blob/main/a/b.mjs", "https://raw.githubusercontent.com/o/r/main/a/b.mjs"],
      ["https://github.com/o/r/raw/v1.2/b.mjs", "https://raw.githubusercontent.com/o/r/v1.2/b.mjs"],
      [
        "https://github.com/o/r/blob/main/%C3%BC%20b.mjs",
        "https://raw.githubusercontent.com/o/r/main/%C3%BC%20b.mjs",
      ],
      ["https://github.com/o/r/tree/main/a", "https://github.com/o/r/tree/main/a"],
      [
        "https://github.com.evil.example/o/r/blob/main/b.mjs",
        "https://github.com.evil.example/o/r/blob/main/b.mjs",
      ],
      ["https://example.org/o/r/blob/main/b.mjs", "https://example.org/o/r/blob/main/b.mjs"],
    ];
    for (const [page, file] of raw) expect(rawAddress(new URL(page)).href).to.equal(file);
  });
});
