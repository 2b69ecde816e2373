/**
 * A workflow engine small enough to read: it takes the events of one workflow from the `workflow-events` queue, gives
 * each to a function, and emits what that returns, or the error it threw. docs/jobs.md has the jobs' fields.
 *
 *   REDIS_URL=redis://… node examples/workflow-engine/engine.mjs p_…
 *
 * (The development start keeps its REDIS_URL in .data/dev.env.)
 */
import { pathToFileURL } from "node:url";
import { Queue, Worker } from "bullmq";

/**
 * @param {{ redisUrl: string, prefix?: string, workflowId: string, steps: (event: unknown) => unknown }} options
 * @returns how to stop it
 */
export async function startEngine({ redisUrl, prefix = "headwater", workflowId, steps }) {
  const connection = { url: redisUrl, maxRetriesPerRequest: null };
  const emissions = new Queue("emissions", { connection, prefix: `{${prefix}:emissions}` });
  const retried = { attempts: 12, backoff: { type: "exponential", delay: 500 } };
  const emit = (emission, hops) =>
    emissions.add("emissions", { emitter_id: workflowId, hops, ...emission }, retried);

  const run = async job => {
    const { event, event_id, emit_id, workflow_id, hops } = job.data;
    // One engine for many workflows would look its code up by this id.
    if (workflow_id !== workflowId) throw new Error(`no code for workflow ${workflow_id}`);
    // Derived, so that an event worked off twice emits once.
    const id = `${workflowId}-${emit_id}`;
    try {
      await emit({ emit_id: id, event: await steps(event) }, hops);
    } catch (error) {
      const ts = new Date().toISOString();
      const original_context = { id: event_id, ts, workflow_id, source_type: "event", verified: false };
      const told = { code: error.name, cellId: "steps", ts, stack: String(error.stack) };
      await emit(
        {
          emit_id: `${id}-error`,
          name: "$errors",
          event: { original_event: event, original_context, error: told },
        },
        hops,
      );
    }
  };
  const worker = new Worker("workflow-events", run, { connection, prefix: `{${prefix}:workflow-events}` });
  worker.on("error", error => console.error(error.message));
  emissions.on("error", error => console.error(error.message));
  await worker.waitUntilReady();
  return async () => {
    await worker.close();
    await emissions.close();
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [, , workflowId] = process.argv;
  if (!workflowId || !process.env.REDIS_URL) {
    console.error("usage: REDIS_URL=redis://… node examples/workflow-engine/engine.mjs p_…");
    process.exit(2);
  }
  const stop = await startEngine({
    redisUrl: process.env.REDIS_URL,
    workflowId,
    steps: event => ({ doubled: typeof event === "number" ? event * 2 : event }),
  });
  console.log(`workflow ${workflowId} runs; Ctrl-C ends it`);
  process.once("SIGINT", () => stop().then(() => process.exit(0)));
}
