import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { bundleComponent } from "../../../components/bundle.ts";
import { describeComponent } from "../../../components/describe.ts";
import { fromFile } from "../../../components/load-modules.ts";
import { EgressError } from "../../../egress/egress-error.ts";
import { AppError } from "../../../lib/errors.ts";
import { openSandboxes } from "../../../sandbox/host.ts";
import type { ReadVariable } from "../../apply/schema.ts";
import { type LocalSettings, openLocalServices } from "../../dev/local-services.ts";
import { note, plain, print } from "../../output.ts";
import { type Case, type Cases, readCases, writeCases } from "./case-file.ts";
import { casesPathOf } from "./cases-path.ts";
import { faultsOf, recordedStep } from "./check-step.ts";
import { Exchanges } from "./exchanges.ts";
import { maskedProps, openProps } from "./masks.ts";
import { type Bench, runCase, type StepResult } from "./run-case.ts";

export interface TestOptions {
  /** The component's file. */
  file: string;
  /** The file of its cases; by default the one beside it. */
  cases?: string | undefined;
  /** Only the case of this name. */
  only?: string | undefined;
  /** Asks the services, and writes what they respond into the file. */
  isRecording: boolean;
  /** Networks that may be asked while recording, besides public addresses. */
  allow: readonly string[];
  variable: ReadVariable;
}

/** A component under test reaches the exchanges by their address, and nothing by a name. */
export async function onlyExchanges(host: string): Promise<string[]> {
  if (host === "127.0.0.1") return [host];
  const message = `${host} can't be reached in a test: only fetch, and request and get of node:http and node:https, are recorded`;
  throw new EgressError("blocked-address", message);
}

/**
 * Runs the cases of a component in the sandbox of every source, with recorded HTTP and without network, and prints what differs. Throws
 * AppError `invalid` if something does, or if the component or its cases can't be used.
 */
export async function testComponent(settings: LocalSettings, options: TestOptions): Promise<void> {
  const path = options.cases ?? casesPathOf(options.file);
  const cases = await readCases(path);
  const { only } = options;
  const chosen = cases.cases.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0) throw new AppError("invalid", `${path}: has no case ${only}`);
  const services = await openLocalServices(settings, options.allow);
  const exchanges = await Exchanges.open(options.isRecording ? services.egress : undefined);
  const sandboxes = await openSandboxes({
    limits: settings.limits,
    maxProcesses: 2,
    idleMs: 60_000,
    egress: { allow: [], blockedHosts: [], resolve: onlyExchanges },
  });
  try {
    const { code } = await bundleComponent(fromFile(resolve(options.file)), services.bundling);
    const bundle = { code, hash: createHash("sha256").update(code).digest("hex") };
    const description = await describeComponent(sandboxes, bundle);
    const bench = { sandboxes, exchanges, bundle, description };
    if (options.isRecording) await record(bench, { path, cases, chosen }, options.variable);
    else await check(bench, chosen);
  } finally {
    await sandboxes.close();
    await exchanges.close();
    await services.close();
  }
}

async function check(bench: Bench, cases: Case[]): Promise<void> {
  let failed = 0;
  for (const one of cases) {
    const faults = await faultsOfCase(bench, one);
    if (faults.length > 0) failed += 1;
    print(`${faults.length > 0 ? "failed" : "ok    "}  ${plain(one.name)}`);
    for (const fault of faults) print(`        ${plain(fault)}`);
  }
  if (failed > 0) throw new AppError("invalid", `${failed} of ${cases.length} cases failed`);
}

async function faultsOfCase(bench: Bench, one: Case): Promise<string[]> {
  const faults: string[] = [];
  let at = 0;
  try {
    await runCase(bench, { ...one, props: maskedProps(one.props ?? {}) }, (step, result) => {
      at += 1;
      faults.push(...faultsOf(step, result).map(fault => `step ${at} (${step.call ?? "run"}): ${fault}`));
    });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    faults.push(error.message.replaceAll("configured_props.", "props."));
  }
  return faults;
}

/** What a step did, without the secrets that it was done with. */
const maskedResult = (
  { http, emits, error, ...rest }: StepResult,
  mask: <T>(recorded: T) => T,
): StepResult => ({
  ...rest,
  ...mask({ http, emits, error }),
});

interface Recording {
  path: string;
  cases: Cases;
  chosen: Case[];
}

async function record(
  bench: Bench,
  { path, cases, chosen }: Recording,
  variable: ReadVariable,
): Promise<void> {
  const recorded = new Map<Case, Case>();
  for (const one of chosen) {
    const { props, mask } = openProps(one.props ?? {}, bench.description.props, variable);
    const steps: Case["steps"] = [];
    await runCase(bench, { ...one, props }, (step, result) => {
      steps.push(recordedStep(step, maskedResult(result, mask)));
    });
    recorded.set(one, { ...one, steps });
    const requests = steps.reduce((sum, { http = [] }) => sum + http.length, 0);
    print(`recorded  ${plain(one.name)}: ${requests} ${requests === 1 ? "request" : "requests"}`);
  }
  await writeCases(path, { ...cases, cases: cases.cases.map(one => recorded.get(one) ?? one) });
  note(`${path} was written. Read it before you share it: what a service said is in it.`);
}
