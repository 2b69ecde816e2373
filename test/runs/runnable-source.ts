import { newId } from "../../src/lib/ids.ts";
import { Bundles, Components } from "../../src/models/component.ts";
import type { Source } from "../../src/models/source.ts";
import type { JobContext } from "../../src/queues/job-kinds.ts";
import type { SourceJob } from "../../src/queues/runs.ts";
import type { RunDeps } from "../../src/runs/run.ts";
import type { BatchOptions } from "../../src/sandbox/call-runner.ts";
import type { BatchRequest, CallResult, ComponentDescription } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { storeSource } from "../sources/source-row.ts";
import type { TestPlatform } from "../support/platform.ts";

/** Stores a component, without code of its own, and a source of it. */
export async function storeRunnableSource(
  platform: TestPlatform,
  overrides: Partial<Source> = {},
  described: Partial<ComponentDescription> = {},
): Promise<Source> {
  const id = newId("sc");
  await Bundles(platform.mongo).insertMany([{ _id: id, code: "export default { run() {} }" }]);
  await Components(platform.mongo).insertMany([
    {
      _id: id,
      owner_id: "u_1",
      user_id: "u_1",
      code: "export default {}",
      code_hash: id,
      bundle_hash: id,
      name: "Stored",
      version: "0.0.1",
      description: { name: "Stored", version: "0.0.1", props: [], hooks: [], hasRun: true, ...described },
      packages: {},
      uses_respond: false,
      published: false,
      created_at: 0,
      updated_at: 0,
    },
  ]);
  return await storeSource(platform, { component_id: id, ...overrides });
}

/** What a call of the component leads to. */
export const resultOf = (result: Partial<CallResult> = {}): CallResult => ({
  emits: [],
  logs: [],
  durationMs: 1,
  cpuMs: 1,
  memoryBytes: 0,
  ...result,
});

/** Returns the platform with a sandbox that calls this function instead of a component. */
export function withSandbox(
  platform: TestPlatform,
  call: (request: BatchRequest) => CallResult | Promise<CallResult> = () => resultOf(),
): RunDeps {
  const callBatch = async (_key: string, _bundle: unknown, request: BatchRequest, options: BatchOptions) => {
    options.onResult(0, await call(request));
    return 1;
  };
  const sandboxes = {
    callBatch,
    async call(key: string, bundle: unknown, { event, ...request }: BatchRequest & { event: unknown }) {
      const results: CallResult[] = [];
      const options = { startWithinMs: 0, onResult: (_: number, result: CallResult) => results.push(result) };
      await callBatch(key, bundle, { ...request, events: [event] }, options);
      return results[0];
    },
  } as unknown as Sandboxes;
  return { ...platform, sandboxes: async () => sandboxes };
}

/** What the worker of the `runs` queue passes to the handler of a job. */
export const jobOf = (
  platform: TestPlatform,
  sourceId: string,
  dueAtMs: number,
  jobId = `job-${dueAtMs}`,
): JobContext<SourceJob> => ({
  job: { source_id: sourceId },
  jobId,
  shard: 0,
  attemptsStarted: 1,
  dueAtMs,
  log: platform.log,
  signal: new AbortController().signal,
  updateJob: async () => undefined,
  isStopping: () => false,
});
