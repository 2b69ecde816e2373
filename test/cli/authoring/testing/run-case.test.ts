// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how a case refers to the environment
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { FIRST_CASES, TEMPLATES, type Template } from "../../../../src/cli/authoring/templates.ts";
import { type Case, readCases } from "../../../../src/cli/authoring/testing/case-file.ts";
import { casesPathOf } from "../../../../src/cli/authoring/testing/cases-path.ts";
import { faultsOf, recordedStep } from "../../../../src/cli/authoring/testing/check-step.ts";
import { Exchanges } from "../../../../src/cli/authoring/testing/exchanges.ts";
import { maskedProps, openProps } from "../../../../src/cli/authoring/testing/masks.ts";
import { runCase } from "../../../../src/cli/authoring/testing/run-case.ts";
import { onlyExchanges } from "../../../../src/cli/authoring/testing/test-component.ts";
import { bundleComponent } from "../../../../src/components/bundle.ts";
import { describeComponent } from "../../../../src/components/describe.ts";
import { fromCode, fromFile, type ModuleLoader } from "../../../../src/components/load-modules.ts";
import { createEgress } from "../../../../src/egress/agent.ts";
import type { Sandboxes } from "../../../../src/sandbox/sandboxes.ts";
import { fixturePackages } from "../../../support/fixture-packages.ts";
import { type Receiver, startReceiver } from "../../../support/receiver.ts";
import { openSharedSandboxes } from "../../../support/shared-sandboxes.ts";

const GALLERY = fileURLToPath(new URL("../../../../gallery", import.meta.url));

/** Asks by whatever its props say, and emits what came of it. */
const ASKS = `import https from "node:https";
import net from "node:net";
export default { name: "Asks", version: "0.0.1",
  props: { how: "string", url: "string", token: { type: "string", secret: true, optional: true } },
  async run(event) {
    if (this.how === "fetch") {
      const response = await fetch(this.url, { method: event.body ? "POST" : "GET", body: event.body && JSON.stringify(event.body),
        headers: { authorization: "Bearer " + this.token } });
      this.$emit({ status: response.status, url: response.url, text: await response.text() });
    } else if (this.how === "https") {
      const response = await new Promise((done, failed) => https.get(this.url + "?t=" + this.token, done).on("error", failed));
      let text = "";
      for await (const chunk of response) text += chunk;
      this.$emit({ status: response.statusCode, text });
    } else if (this.how === "clock") this.$emit({ now: new Date().toISOString().slice(0, 16), year: new Date(0).getUTCFullYear() });
    else await new Promise((done, failed) => net.connect(5432, this.url, done).on("error", failed));
  } };`;
const THINGS = "https://api.example.com/things";

describe("the test of a component", () => {
  let sandboxes: Sandboxes;
  let exchanges: Exchanges;
  before(async () => {
    exchanges = await Exchanges.open();
    sandboxes = await openSharedSandboxes({
      limits: {
        ...{ wallMs: 30_000, heapMb: 256, maxEmits: 100, maxEmitBytes: 512 * 1024 },
        ...{ maxLogBytes: 64 * 1024, maxDbBytes: 60 * 1024 },
      },
      ...{ maxProcesses: 2, idleMs: 60_000 },
      egress: { allow: [], blockedHosts: [], resolve: onlyExchanges },
    });
  });
  after(async () => {
    await sandboxes?.close();
    await exchanges?.close();
  });

  async function benchOf(loader: ModuleLoader, asked = exchanges) {
    const { code } = await bundleComponent(loader, await fixturePackages());
    const bundle = { code, hash: createHash("sha256").update(code).digest("hex") };
    const description = await describeComponent(sandboxes, bundle);
    return { sandboxes, exchanges: asked, bundle, description };
  }
  async function faultsIn(loader: ModuleLoader, one: Omit<Case, "name">): Promise<string[]> {
    const faults: string[] = [];
    const masked = { name: "a case", ...one, props: maskedProps(one.props ?? {}) };
    await runCase(await benchOf(loader), masked, (step, result) => faults.push(...faultsOf(step, result)));
    return faults;
  }
  const asks = (how: string, step: Case["steps"][number], props: object = {}) =>
    faultsIn(fromCode(ASKS), { props: { how, url: THINGS, ...props }, steps: [step] });

  for (const kind of Object.keys(TEMPLATES) as Template[]) {
    it(`finds that a new component of the kind ${kind} does what its first case says`, async () => {
      for (const one of FIRST_CASES[kind]) {
        expect(await faultsIn(fromCode(TEMPLATES[kind]("New", "new")), one)).to.deep.equal([]);
      }
    });
  }

  it("finds that the gallery's components do what their cases say @long", async () => {
    const files = readdirSync(GALLERY, { recursive: true, encoding: "utf8" }).filter(path =>
      path.endsWith(".mjs"),
    );
    const all = readdirSync(GALLERY, { recursive: true, encoding: "utf8" });
    const tested = files.filter(path => all.includes(casesPathOf(path)));
    expect(tested).not.to.deep.equal([]);
    for (const path of tested.map(one => join(GALLERY, one))) {
      for (const one of (await readCases(casesPathOf(path))).cases) {
        expect(await faultsIn(fromFile(path), one), `${path}: ${one.name}`).to.deep.equal([]);
      }
    }
  });

  it("responds to fetch and to node:https as was recorded, through redirects @long", async () => {
    const http = [
      { request: { url: THINGS }, response: { status: 302, headers: { location: "/elsewhere" } } },
      { request: { url: "https://api.example.com/elsewhere" }, response: { status: 200, body: [1] } },
    ];
    const event = { status: 200, url: "https://api.example.com/elsewhere", text: "[1]" };
    expect(await asks("fetch", { http, emits: [{ event }] })).to.deep.equal([]);
    const asked = { request: { url: `${THINGS}?t=masked_KEY` }, response: { status: 200, body: "hello" } };
    const props = { token: "${KEY}" };
    const emits = [{ event: { status: 200, text: "hello" } }];
    expect(await asks("https", { http: [asked], emits }, props)).to.deep.equal([]);
  });

  it("says which requests are not recorded, were not made, or have another body", async () => {
    const http = [{ request: { method: "POST", url: THINGS, body: { n: 2 } }, response: { status: 200 } }];
    const faults = await asks("fetch", { event: { body: { n: 1 } }, http });
    expect(faults[0]).to.equal(`POST ${THINGS} is not recorded in this step: run with --record`);
    expect(faults[1]).to.equal(`POST ${THINGS} is recorded and was not requested`);
    expect(faults[2]).to.match(
      /^it failed: TypeError: POST \S+ is not recorded in this step.* \(at component\.js:/,
    );
    expect(faults).to.have.length(3);
  });

  it("reaches nothing else: no name, no address, and not this machine @long", async () => {
    for (const url of ["db.example.com", "93.184.215.14", "127.0.0.1", "localhost"]) {
      const [fault] = await asks("net", {}, { url });
      expect(fault, url).to.match(
        /^it failed: Error: connect EACCES .*(can't be reached in a test|not a public address)/,
      );
    }
  });

  it("says what differs of events, db, errors and responses, and compares only what is expected", async () => {
    const code = `export default { name: "Emits", version: "0.0.1", props: { http: "$.interface.http", db: "$.service.db" },
      run(event) {
        if (event.fails) throw new RangeError("too far");
        this.db.set("n", (this.db.get("n") ?? 0) + 1);
        this.http.respond({ status: 201, body: { ok: true } });
        this.$emit({ a: { b: [1, 2] } }, { id: "x", summary: "S" });
      } };`;
    const event = { a: { b: [1, 2] } };
    const right = {
      emits: [{ event, id: "x" }],
      db: { n: 1 },
      response: { status: 201, body: { ok: true } },
    };
    expect(await faultsIn(fromCode(code), { steps: [right, { db: { n: 2 } }] })).to.deep.equal([]);
    const wrong = {
      emits: [{ event: { a: { b: [1, 3] } }, summary: "T" }],
      db: {},
      response: { status: 200 },
    };
    expect(await faultsIn(fromCode(code), { steps: [wrong] })).to.deep.equal([
      "emits[0].event.a.b[1]: expected 3, got 2",
      'emits[0].summary: expected "T", got "S"',
      "response.status: expected 200, got 201",
      "db.n: expected nothing, got 1",
    ]);
    const failing = { event: { fails: true } };
    expect(
      await faultsIn(fromCode(code), { steps: [{ ...failing, error: "RangeError: too far" }] }),
    ).to.deep.equal([]);
    const [unexpected] = await faultsIn(fromCode(code), { steps: [failing] });
    expect(unexpected).to.match(/^it failed: RangeError: too far \(at component\.js:\d+:\d+\)$/);
    const [none] = await faultsIn(fromCode(code), { steps: [{ error: "RangeError" }] });
    expect(none).to.equal("error: expected RangeError, got none");
  });

  it("lets the clock begin when a case says", async () => {
    const step = { emits: [{ event: { now: "2030-01-02T03:04", year: 1970 } }] };
    const one = { now: "2030-01-02T03:04:00Z", props: { how: "clock", url: THINGS }, steps: [step] };
    expect(await faultsIn(fromCode(ASKS), one)).to.deep.equal([]);
  });

  describe("records", () => {
    const KEY = "a/key with+signs";
    let service: Receiver;
    let recording: Exchanges;
    let origin: string;
    const egress = createEgress({ allow: ["127.0.0.1"], blockedHosts: [], connectTimeoutMs: 5000 });
    before(async () => {
      service = await startReceiver();
      origin = new URL(service.url).origin;
      recording = await Exchanges.open(egress);
    });
    after(async () => {
      await recording?.close();
      await egress.close();
      await service?.close();
    });

    it("what the service responds, without secrets, and then needs it no more", async () => {
      service.script(({ raw }) => ({
        status: 200,
        headers: { "set-cookie": "session=s3cret", "content-type": "application/json", etag: '"1"' },
        body: JSON.stringify({ said: raw, key: KEY, access_token: "ghp_new" }),
      }));
      const props = { how: "fetch", url: `${origin}/?key=\${KEY}`, token: "${KEY}" };
      const bench = await benchOf(fromCode(ASKS), recording);
      const opened = openProps(props, bench.description.props, name => (name === "KEY" ? KEY : undefined));
      const steps: Case["steps"] = [];
      const one = { name: "one", props: opened.props, steps: [{ event: { body: { key: KEY } } }] };
      await runCase(bench, one, (step, { http, emits, ...rest }) =>
        steps.push(recordedStep(step, { ...rest, ...opened.mask({ http, emits }) })),
      );
      expect(service.requests[0]?.headers.authorization, "the real one").to.equal(`Bearer ${KEY}`);
      const { event: _, ...recorded } = steps[0] ?? {};
      const text = JSON.stringify(recorded);
      for (const secret of [KEY, encodeURIComponent(KEY), "s3cret", "ghp_new"])
        expect(text).not.to.include(secret);
      expect(recorded.http?.[0]).to.deep.equal({
        request: { method: "POST", url: `${origin}/?key=masked_KEY`, body: { key: "masked_KEY" } },
        response: {
          status: 200,
          headers: { "content-type": "application/json", etag: '"1"' },
          body: { said: '{"key":"masked_KEY"}', key: "masked_KEY", access_token: "masked" },
        },
      });
      const replayed = {
        props,
        steps: [{ ...recorded, event: { body: { key: "masked_KEY" } }, emits: undefined }],
      };
      expect(await faultsIn(fromCode(ASKS), replayed as Omit<Case, "name">)).to.deep.equal([]);
    });

    it("nothing whose secret is in the file, or not in the environment", async () => {
      const { description } = await benchOf(fromCode(ASKS));
      const open = (token: string) => openProps({ token }, description.props, () => undefined);
      expect(() => open("ghp_plain")).to.throw('props.token is secret: write "${NAME}"');
      expect(() => open("${ABSENT}")).to.throw("the environment has no ABSENT");
    });
  });
});
