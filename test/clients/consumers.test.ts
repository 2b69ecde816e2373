// runs-long: npm test has test/clients/package.test.ts

import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { buildClient } from "../../script/lib/client.mjs";
import { root } from "../support/built.ts";
import { type LanguageServer, openLanguageServer } from "./language-server.ts";

const run = promisify(execFile);

const CODE = `import { Headwater, NotFoundError, type Webhook } from "@headwater/client";
import { verify, WebhookError } from "@headwater/client/webhooks";

const headwater = new Headwater({ url: "http://127.0.0.1:1", apiKey: "hw_none" });
export async function story(): Promise<string> {
  const { data } = await headwater.webhooks.list({ limit: 5 });
  const one = await headwater.webhooks.get("wh_1");
  const source = await headwater.sources.get("dc_1");
  const shown: Webhook = one;
  return data.map(row => row.header_names).join() + shown.rate_limit_per_second + source.next_tick_at_ms;
}
console.log([Headwater, NotFoundError, verify, WebhookError].map(each => typeof each).join());
`;

/** How projects compile: what package.json says, and the compiler's options. */
const PROJECTS: [what: string, type: "module" | "commonjs", options: string[]][] = [
  ["ES modules of Node", "module", ["--module", "nodenext"]],
  ["a bundler's ES modules", "module", ["--module", "esnext", "--moduleResolution", "bundler"]],
  ["CommonJS of Node, as NestJS has", "commonjs", ["--module", "node16"]],
  ["CommonJS of today's Node", "commonjs", ["--module", "nodenext"]],
  [
    "plain CommonJS, as most projects with Express",
    "commonjs",
    ["--module", "commonjs", "--moduleResolution", "bundler"],
  ],
];

describe("a project that uses the client", () => {
  let folder: string;
  let server: LanguageServer;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-consumers-"));
    const installed = join(folder, "node_modules/@headwater/client");
    await mkdir(installed, { recursive: true });
    await buildClient(root, join(installed, "dist"));
    await copyFile(join(root, "clients/typescript/package.json"), join(installed, "package.json"));
    await mkdir(join(folder, "node_modules/@types"), { recursive: true });
    await symlink(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
    await symlink(join(root, "node_modules/undici-types"), join(folder, "node_modules/undici-types"));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(
      join(folder, "tsconfig.json"),
      '{ "compilerOptions": { "module": "nodenext", "strict": true } }',
    );
    await writeFile(join(folder, "use.ts"), CODE);
    server = await openLanguageServer(folder);
  });
  after(async () => {
    server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [i, [what, type, options]] of PROJECTS.entries()) {
    it(`compiles and runs: ${what}`, async () => {
      const project = join(folder, `project-${i}`);
      await mkdir(project);
      await writeFile(join(project, "package.json"), JSON.stringify({ type }));
      await writeFile(join(project, "use.ts"), CODE);
      const compiler = join(root, "node_modules/typescript/bin/tsc");
      const flags = ["--strict", "--target", "es2022", "--types", "node", "--ignoreConfig", ...options];
      await run(process.execPath, [compiler, ...flags, "use.ts"], { cwd: project }).catch(({ stdout }) =>
        expect.fail(stdout),
      );
      const { stdout } = await run(process.execPath, ["use.js"], { cwd: project });
      expect(stdout).to.equal("function,function,function,function\n");
    });
  }

  const HOVERS: [text: string, shown: RegExp][] = [
    ["list({", /List<Webhook>[\s\S]*Lists the webhooks of the organization/],
    ['get("wh_1")', /Promise<Webhook>[\s\S]*Fetches a webhook/],
    ['get("dc_1")', /Promise<.*SourceDetail>[\s\S]*Fetches a source/],
    ["header_names", /header_names[\s\S]*Names of/],
    ["rate_limit_per_second", /rate_limit_per_second/],
    ["next_tick_at_ms", /number \| null[\s\S]*When its timer is due next/],
  ];
  for (const [text, shown] of HOVERS) {
    it(`sees in the editor what this is: ${text}`, async () => {
      expect(await server.hover("use.ts", text)).to.match(shown);
    });
  }

  it("gets the description of every field that the document describes", async () => {
    const document = JSON.parse(await readFile(join(root, "openapi.json"), "utf8"));
    const lost: string[] = [];
    const fields = Object.entries(document.components.schemas as Record<string, Described>).flatMap(
      ([name, { properties = {} }]) =>
        Object.entries(properties)
          .filter(([, { description }]) => description)
          .map(([field, { description = "" }]) => ({ name, field, description })),
    );
    expect(fields.length).to.be.greaterThan(100);
    // A field is read by its name, at which the editor shows the description.
    const lines = fields.map(
      ({ name, field }, i) => `export const v${i} = (one: ${name}) => one.${field}; //${i}.`,
    );
    const names = [...new Set(fields.map(({ name }) => name))].join(", ");
    const text = [`import type { ${names} } from "@headwater/client";`, ...lines].join("\n");
    await writeFile(join(folder, "fields.ts"), text);
    for (const [i, { name, field, description }] of fields.entries()) {
      const shown = await server.hover("fields.ts", `${field}; //${i}.`);
      if (!shown.includes(description.slice(0, 15))) lost.push(`${name}.${field}`);
    }
    expect(lost).to.deep.equal([]);
  });
});

interface Described {
  properties?: Record<string, { description?: string }>;
}
