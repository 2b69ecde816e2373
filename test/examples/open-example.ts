import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { bundleComponent } from "../../src/components/bundle.ts";
import { type DescribedComponent, describeComponent } from "../../src/components/describe.ts";
import { fromFile } from "../../src/components/load-modules.ts";
import { configureProps, propValuesForRun } from "../../src/props/configure.ts";
import type { CallResult, ComponentCall, HttpResponse } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { fixturePackages } from "../support/fixture-packages.ts";
import { openSharedSandboxes } from "../support/shared-sandboxes.ts";

/** Opens real sandboxes. Components can reach loopback, where the tests' servers listen. */
export function openTestSandboxes(): Promise<Sandboxes> {
  return openSharedSandboxes({
    limits: {
      wallMs: 30_000,
      heapMb: 256,
      maxEmits: 10_000,
      maxEmitBytes: 512 * 1024,
      maxLogBytes: 64 * 1024,
      maxDbBytes: 60 * 1024,
    },
    maxProcesses: 4,
    idleMs: 60_000,
    egress: { allow: ["127.0.0.1/32"], blockedHosts: [] },
  });
}

export interface Example {
  description: DescribedComponent;
  /** Calls the component with the db as the last call left it. Throws what the component threw. */
  call(call: ComponentCall, event: unknown): Promise<CallResult & { responses: HttpResponse[] }>;
}

/** Opens a component of examples/components as a source: bundled, described and configured. */
export async function openExample(
  sandboxes: Sandboxes,
  file: string,
  configured: Record<string, unknown>,
): Promise<Example> {
  const path = fileURLToPath(new URL(`../../examples/components/${file}`, import.meta.url));
  const { code } = await bundleComponent(fromFile(path), await fixturePackages());
  const bundle = { code, hash: createHash("sha256").update(code).digest("hex") };
  const description = await describeComponent(sandboxes, bundle);
  const endpointUrl = "http://127.0.0.1/in/x";
  const props = propValuesForRun(description.props, configureProps(description.props, configured), {
    endpointUrl,
  });
  let db: Record<string, unknown> = {};
  return {
    description,
    async call(call, event) {
      const responses: HttpResponse[] = [];
      const onRespond = (response: HttpResponse) => void responses.push(response);
      const result = await sandboxes.call(
        `${file}:${bundle.hash}`,
        bundle,
        { call, event, props, db },
        { onRespond },
      );
      if (result.error) throw new Error(result.error.stack);
      db = result.db ?? db;
      return { ...result, responses };
    },
  };
}
