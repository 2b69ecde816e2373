import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { type System, startSystem } from "../../support/system.ts";
import { installedOrSkip } from "./installed.ts";
import { startKeyProxy } from "./key-proxy.ts";

const run = promisify(execFile);
const SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js";

/** What the suite has found at one scenario, as it writes it to a file. */
interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  errorMessage?: string;
  details?: { untestable?: boolean };
}

/** Scenarios that say nothing of this server, and why. They run with the others, and each must still be one of the suite's. */
const LEFT_OUT: [RegExp, string][] = [
  [/^tools-call-|^elicitation-|^json-schema-2020-12$/, "calls tools that a server has only for the suite"],
  [/^input-required-result-/, "calls tools that a server has only for the suite"],
  [/^http-custom-header-server-validation$/, "needs a tool with x-mcp-header"],
  [/^resources-(read-|templates-read)/, "reads resources that a server has only for the suite"],
  [/^prompts-get-/, "gets prompts that a server has only for the suite"],
  [/^completion-complete$/, "the server declares no completions"],
  [/^logging-set-level$/, "the server declares no logging"],
  [/^resources-(un)?subscribe$/, "the server declares no subscriptions of resources"],
  [/^tasks-/, "the server declares no tasks, an extension"],
];
/** Checks that ask for a session, which a server of an older revision may have and this one has not. */
const OF_SESSIONS = /^server-sse-(multiple-streams|polling)-session$/;
/** What the suite itself can't say without tools of its own is not a failure. */
const isFailed = ({ id, status, details }: Check) =>
  (status === "FAILURE" || status === "WARNING") && !details?.untestable && !OF_SESSIONS.test(id);
const isLeftOut = (scenario: string) => LEFT_OUT.some(([names]) => names.test(scenario));

/** The official conformance suite of the protocol, unchanged, with all that a revision requires of a server. */
describe("mcp, for the conformance suite,", () => {
  let packages: string;
  let folder: string;
  let system: System;
  let proxy: Awaited<ReturnType<typeof startKeyProxy>>;
  before(async function () {
    packages = installedOrSkip(this, "MCP_CLIENTS");
    folder = await mkdtemp(join(tmpdir(), "headwater-conformance-"));
    system = await startSystem({ RATE_LIMITS: "api:0" }, { workers: false });
    const api = await system.user();
    proxy = await startKeyProxy(new URL("/mcp", api.baseUrl), api.apiKey);
  });
  after(async () => {
    await proxy?.close();
    await system?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** Runs all scenarios of a revision; returns what each has found. */
  async function runSuite(revision: string): Promise<Map<string, Check[]>> {
    const output = join(folder, revision);
    const options = ["--url", proxy.url, "--requirements", revision, "--output-dir", output];
    const printed = await run(process.execPath, [join(packages, SUITE), "server", ...options], {
      maxBuffer: 64 * 1024 * 1024,
    }).catch(({ stdout, stderr }) => ({ stdout, stderr }));
    const found = new Map<string, Check[]>();
    const names = await readdir(output).catch(() => expect.fail(printed.stdout + printed.stderr));
    for (const name of names) {
      const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
      found.set(scenario, JSON.parse(await readFile(join(output, name, "checks.json"), "utf8")));
    }
    return found;
  }

  const REVISIONS: Record<string, string[]> = {
    "2026-07-28": ["server-stateless", "tools-list", "caching", "http-header-validation"],
    "2025-11-25": ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
  };
  for (const [revision, some] of Object.entries(REVISIONS)) {
    it(`does what revision ${revision} requires`, async () => {
      const found = await runSuite(revision);
      const judged = [...found].filter(([scenario]) => !isLeftOut(scenario));
      for (const scenario of some) {
        const isProven = found.get(scenario)?.some(({ status }) => status === "SUCCESS");
        expect(isProven, `${scenario} has succeeded`).to.equal(true);
      }
      const failed = judged.flatMap(([scenario, checks]) =>
        checks
          .filter(isFailed)
          .map(({ id, errorMessage, details }) => ({ scenario, id, errorMessage, details })),
      );
      expect(failed).to.deep.equal([]);
    });
  }

  it("leaves out no scenario that the suite has no more", async () => {
    const { stdout } = await run(process.execPath, [join(packages, SUITE), "list", "--server"]);
    for (const [names, why] of LEFT_OUT) {
      const isThere = stdout.split(/\s+/).some(word => names.test(word));
      expect(isThere, `${names}: ${why}`).to.equal(true);
    }
  });
});
