import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { bundleComponent, type ComponentBundle } from "../../src/components/bundle.ts";
import { type DescribedComponent, describeComponent } from "../../src/components/describe.ts";
import { fromFile } from "../../src/components/load-modules.ts";
import { configureProps, propValuesForRun } from "../../src/props/configure.ts";
import { type DedupeMemory, dedupe, inOrder } from "../../src/runs/dedupe.ts";
import type { CallResult, ComponentCall, HttpResponse } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { fixturePackages } from "../support/fixture-packages.ts";

const FOLDER = fileURLToPath(new URL("../fixtures/components/", import.meta.url));
const ENDPOINT = "http://127.0.0.1/in/endpoint";

/** One call of a component and its expected result. Properties that are not set are not checked, except for errors. */
export interface Step {
  /** `run` by default. */
  call?: ComponentCall;
  event?: unknown;
  /** The events after ordering and dedupe. */
  emits?: unknown[];
  metadata?: object[];
  dropped?: number;
  /** `$.service.db` afterwards. */
  db?: Record<string, unknown>;
  logs?: [level: string, message: string][];
  /** The expected error; without it, the call must succeed. */
  error?: { code: string; message?: RegExp; stack?: RegExp };
}

/** One rule of docs/component-api.md, a fixture that uses it, and the expected result. */
export interface Case {
  /** The rule, in a few words. */
  rule: string;
  /** Path in test/fixtures/components. */
  file: string;
  configured?: Record<string, unknown>;
  /** Properties of the component's description. */
  described?: object;
  steps?: Step[];
}

export interface Fixture {
  bundle: ComponentBundle;
  description: DescribedComponent;
  call(
    call: ComponentCall,
    event: unknown,
  ): Promise<CallResult & { dropped: number; responses: HttpResponse[]; memory: Record<string, unknown> }>;
}

export const fixturePath = (file: string): string => join(FOLDER, file);

/** Bundles a fixture with everything it imports. */
export async function bundleFixture(file: string): Promise<ComponentBundle> {
  return bundleComponent(fromFile(fixturePath(file)), await fixturePackages());
}

/** Opens a fixture as a source: bundled, described and configured. Each call gets the state that the last one left. */
export async function openFixture(
  sandboxes: Pick<Sandboxes, "describe" | "call">,
  file: string,
  configured: Record<string, unknown> = {},
): Promise<Fixture> {
  const bundled = await bundleFixture(file);
  const bundle = { code: bundled.code, hash: createHash("sha256").update(bundled.code).digest("hex") };
  const description = await describeComponent(sandboxes, bundle);
  const props = propValuesForRun(description.props, configureProps(description.props, configured), {
    endpointUrl: ENDPOINT,
  });
  const key = `${file}:${JSON.stringify(configured)}`;
  let db: Record<string, unknown> = {};
  let memory: DedupeMemory = {};
  return {
    bundle: bundled,
    description,
    async call(call, event) {
      const responses: HttpResponse[] = [];
      const onRespond = (response: HttpResponse) => void responses.push(response);
      const result = await sandboxes.call(key, bundle, { call, event, props, db }, { onRespond });
      db = result.db ?? db;
      const deduped = dedupe(description, memory, inOrder(result.emits));
      memory = JSON.parse(JSON.stringify(deduped.memory));
      return { ...result, emits: deduped.kept, dropped: deduped.dropped, responses, memory: db };
    },
  };
}

/** Opens the fixture of a case and compares each step with its expected result. */
export async function checkCase(
  sandboxes: Pick<Sandboxes, "describe" | "call">,
  { file, configured, described, steps = [] }: Case,
): Promise<void> {
  const fixture = await openFixture(sandboxes, file, configured);
  if (described) expect(JSON.parse(JSON.stringify(fixture.description))).to.deep.include(described);
  for (const [index, step] of steps.entries()) {
    const result = await fixture.call(step.call ?? "run", step.event ?? null);
    checkStep(result, step, `step ${index + 1}`);
  }
}

function checkStep(result: Awaited<ReturnType<Fixture["call"]>>, step: Step, what: string): void {
  if (!step.error) expect(result.error?.stack, what).to.equal(undefined);
  else {
    expect(result.error?.code, `${what}: ${result.error?.stack}`).to.equal(step.error.code);
    if (step.error.message) expect(result.error?.message, what).to.match(step.error.message);
    if (step.error.stack) expect(result.error?.stack, what).to.match(step.error.stack);
  }
  if (step.emits)
    expect(
      result.emits.map(({ event }) => event),
      what,
    ).to.deep.equal(step.emits);
  if (step.metadata)
    expect(
      result.emits.map(({ metadata }) => metadata),
      what,
    ).to.deep.equal(step.metadata);
  if (step.dropped !== undefined) expect(result.dropped, `${what}: dropped`).to.equal(step.dropped);
  if (step.db) expect(result.memory, `${what}: db`).to.deep.equal(step.db);
  if (step.logs) {
    const shown = result.logs.slice(0, step.logs.length).map(({ level, message }) => [level, message]);
    expect(shown, what).to.deep.equal(step.logs);
  }
}
