// runs-long: npm test has test/compatibility/saving.test.ts and test/compatibility/events.test.ts
import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { rejection } from "../components/rejection.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Case, checkCase, openFixture } from "./fixture.ts";
import { reading, startTideApi, type TideApi } from "./tide-api.ts";

const CASES: Case[] = [
  {
    rule: "additionalProps, description and unknown keys do not fail, and sampleEmit is not called by a source",
    file: "shape/everything.mjs",
    configured: { level: "high" },
    described: {
      key: "shape-everything",
      name: "Everything",
      description: "All keys a source may have, and some it may not",
      version: "1.2.3",
      type: "source",
      dedupe: "last",
      hooks: ["deploy", "activate", "deactivate"],
      hasRun: true,
      hasSampleEmit: true,
      props: [
        { name: "db", type: "$.service.db" },
        { name: "level", type: "string", reloadProps: true },
      ],
    },
    steps: [{ emits: [] }],
  },
  {
    rule: "without run, the trigger's event itself is emitted",
    file: "shape/no-run.mjs",
    described: { hasRun: false },
    steps: [{ event: { method: "GET" }, emits: [{ method: "GET" }] }],
  },
  {
    rule: "defineComponent needs no import, and returns the component",
    file: "shape/defined.mjs",
    described: { name: "Defined" },
    steps: [{ emits: ["function"] }],
  },
  {
    rule: "this is one flat object: values, bound methods, $emit; new for each call",
    file: "shape/flat-this.mjs",
    configured: { word: "ho" },
    steps: [
      { emits: ["ho-ho", ["ho-ho", 7, "undefined", "undefined", "undefined", "undefined"], { leftover: 1 }] },
      { emits: ["ho-ho", ["ho-ho", 7, "undefined", "undefined", "undefined", "undefined"], { leftover: 1 }] },
    ],
  },
  {
    rule: "hooks can be borrowed with bind or spread from another object; $emit works in them",
    file: "shape/borrowed-hooks.mjs",
    configured: { who: "tide" },
    described: { hooks: ["deploy", "activate", "deactivate"], hasRun: false },
    steps: [
      { call: "deploy", emits: [{ deploy: "tide" }], db: {} },
      { call: "activate", emits: [{ deploy: "tide" }, { activate: "hello tide" }], db: { active: true } },
      { call: "deactivate", emits: [{ wasActive: true }], db: {} },
    ],
  },
  {
    rule: "relative imports: without extension, a folder, JSON, .js for .ts, a namespace, CommonJS, at run time",
    file: "shape/imports.mjs",
    steps: [{ emits: [["extensionless", "extensionless", 2, "typed", 1, 2, 3, "Bern", "late"]] }],
  },
  {
    rule: "empty keys count as absent; an empty prop removes an inherited one",
    file: "shape/empty-keys.mjs",
    configured: { kept: "k" },
    described: {
      props: [{ name: "kept", type: "string" }],
      hooks: [],
    },
    steps: [{ emits: [["k", "undefined"]] }],
  },
  {
    rule: "CommonJS and ES module syntax in one file, __dirname",
    file: "shape/mixed.js",
    steps: [{ emits: [["mixed", 32, "/"]] }],
  },
  {
    rule: "import attributes, top-level await, circular imports",
    file: "shape/modern.mjs",
    steps: [{ emits: [["Bern", "ready", "there and back"]] }],
  },
  {
    rule: "TypeScript beyond types: namespaces, parameter properties, abstract classes, satisfies",
    file: "shape/full-typescript.ts",
    steps: [{ emits: [[3, 2]] }],
  },
  {
    rule: "npm packages without a package.json, with a version in the specifier",
    file: "shape/npm-versions.mjs",
    steps: [{ event: { a: { b: 5 } }, emits: [[5, 7_200_000, "2.1.2", "2.1.3"]] }],
  },
  {
    rule: "CommonJS: module.exports, require, an npm package, bind, intervalSeconds on the prop",
    file: "harbor/sources/new-ship.js",
    configured: { berth: 4, harbor: { $auth: { api_key: "k" } } },
    described: {
      key: "harbor-new-ship",
      props: [
        { name: "harbor", type: "app", app: "harbor" },
        { name: "db", type: "$.service.db" },
        { name: "berth", type: "integer", label: "Berth Number" },
        { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 300 } },
      ],
      hooks: ["activate"],
    },
    steps: [
      { call: "activate", emits: [{ from: "common", berth: 4 }] },
      {
        event: { timestamp: 7 },
        emits: [{ mark: "00dd1b35010445c12f2c089c606df9fa4947a7c9", at: 7, every: 300 }],
      },
    ],
  },
  {
    rule: "CommonJS can require an app that is an ES module",
    file: "harbor/sources/requires-esm.js",
    configured: { channel: "9", beacon: { $auth: { name: "sea" } } },
    described: {
      props: [
        { name: "beacon", type: "app", app: "beacon" },
        { name: "channel", type: "string", label: "Channel" },
      ],
    },
    steps: [{ emits: ["hello sea on 9"] }],
  },
  {
    rule: "TypeScript: @pipedream/types, enums, type imports, files without extension",
    file: "lighthouse/sources/new-signal/new-signal.ts",
    configured: { color: "red", lighthouse: { $auth: { token: "t" } } },
    described: {
      key: "lighthouse-new-signal",
      dedupe: "greatest",
      props: [
        { name: "lighthouse", type: "app", app: "lighthouse" },
        { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 900 } },
        { name: "color", type: "string", label: "Color", options: ["red", "white"] },
      ],
    },
    steps: [{ emits: [1, 2].map(id => ({ id, color: "red", token: "t" })) }, { emits: [], dropped: 2 }],
  },
];

describe("compatibility: shape", () => {
  let sandboxes: Sandboxes;
  let tide: TideApi;

  before(async () => {
    sandboxes = await openTestSandboxes();
    tide = await startTideApi();
  });
  after(async () => {
    await sandboxes?.close();
    await tide?.close();
  });

  for (const one of CASES) it(`${one.rule} (${one.file})`, () => checkCase(sandboxes, one));

  it("Node built-ins: files below /tmp are private, the environment is empty (shape/built-ins.mjs)", async () => {
    const { call } = await openFixture(sandboxes, "shape/built-ins.mjs");
    const { emits, error } = await call("run", {});
    expect(error?.stack).to.equal(undefined);
    expect(emits[0]?.event).to.deep.equal({
      hash: "9dd4e461268c8034f5c8564e155c67a6",
      uuid: 36,
      file: "AB",
      exists: true,
      tmp: true,
      query: "a=1&a=2",
      host: "dh.example",
      inspected: "{ a: 1 }",
      unzipped: "packed",
      heard: "heard",
      buffer: "w7w=",
      env: 0,
      eol: "\n",
      timers: "timed",
      globals: Array.from({ length: 5 }, () => "function"),
    });
  });

  const rejected: [string, string, string, RegExp][] = [
    ["a component without a name", "shape/nameless.mjs", "name", /required/],
    ["a component without a version", "shape/versionless.mjs", "version", /required/],
  ];
  for (const [what, file, path, message] of rejected) {
    it(`${what} is rejected (${file})`, async () => {
      const error = await rejection(openFixture(sandboxes, file));
      expect(error.fields[0]).to.include({ in: "component", path });
      expect(error.message).to.match(message);
    });
  }

  describe("a polling source of six files, with @pipedream/platform (tidewatch/sources/new-reading)", () => {
    const FILE = "tidewatch/sources/new-reading/new-reading.mjs";
    const open = (token = tide.auth.oauth_access_token) =>
      openFixture(sandboxes, FILE, {
        station: "pier",
        tidewatch: { $auth: { ...tide.auth, oauth_access_token: token } },
      });

    it("backfills in deploy, then emits each new reading once", async () => {
      tide.readings = [4, 3, 2, 1].map(reading);
      const { call, bundle, description } = await open();
      expect(bundle.modules).to.deep.equal([
        "new-reading.mjs",
        "../common/polling.mjs",
        "../common/base.mjs",
        "../../tidewatch.app.mjs",
        "../../common/constants.mjs",
        "test-event.mjs",
      ]);
      expect(description).to.include({ key: "tidewatch-new-reading", dedupe: "unique", usesRespond: false });
      const deployed = await call("deploy", null);
      expect(deployed.error?.stack).to.equal(undefined);
      expect(deployed.emits.map(({ metadata }) => metadata)).to.deep.equal(
        [3, 4].map(n => ({ id: `r${n}`, summary: `New reading at pier: ${n}`, ts: Date.UTC(2024, 0, n) })),
      );
      tide.readings.unshift(reading(5));
      const { emits, memory } = await call("run", { timestamp: 1, interval_seconds: 900 });
      expect(emits.map(({ event }) => event)).to.deep.equal([{ id: "r5", level: 5 }]);
      expect(memory).to.deep.equal({ lastDate: Date.UTC(2024, 0, 5) });
      // The platform's axios leaves out parameters that are undefined.
      expect(tide.requests.at(-1)).to.equal("GET /readings?station=pier&page=1&per_page=2");
    });

    it("fails with the error of axios if its token is rejected", async () => {
      const { error } = await (await open("wrong")).call("run", {});
      expect(error?.code).to.match(/^AxiosError.* 401/);
      expect(error?.message).to.contain("no token");
    });
  });
});
