/**
 * A minimal workflow engine. It reads the events of one workflow from the `workflow-events` queue, calls a function
 * with each, and emits the value that the function returns or the error that it throws. docs/jobs.md describes the
 * jobs.
 *
 *   REDIS_URL=redis://… node examples/workflow-engine/engine.mjs p_…
 *
 * (`npm start` writes its REDIS_URL to .data/dev.env.)
 */
import { pathToFileURL } from "node:url";
import { Queue, Worker } from "bullmq";

/**
 * @param {{ redisUrl: string, prefix?: string, workflowId: string, steps: (event: unknown) => unknown }} options
 * @returns the function that stops it
 */
export async function startEngine({ redisUrl, prefix = "headwater", workflowId, steps }) {
  const connection = { url: redisUrl, maxRetriesPerRequest: null };
  const emissions = new Queue("emissions", { connection, prefix: `{${prefix}:emissions}` });
  const retries = { attempts: 12, backoff: { type: "exponential", delay: 500 } };
  const emit = (emission, { hops, trace }) =>
    emissions.add("emissions", { emitter_id: workflowId, hops, trace, ...emission }, retries);

  const run = async job => {
    const { event, event_id, emit_id, workflow_id } = job.data;
    // An engine for several workflows would find the code by this id.
    if (workflow_id !== workflowId) throw new Error(`no code for workflow ${workflow_id}`);
    // Derived from the event, so that an event that is handled twice emits once.
    const id = `${workflowId}-${emit_id}`;
    try {
      await emit({ emit_id: id, event: await steps(event) }, job.data);
    } catch (error) {
      const ts = new Date().toISOString();
      const original_context = { id: event_id, ts, workflow_id, source_type: "event", verified: false };
      const described = { code: error.name, cellId: "steps", ts, stack: String(error.stack) };
      await emit(
        {
          emit_id: `${id}-error`,
          name: "$errors",
          event: { original_event: event, original_context, error: described },
        },
        job.data,
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
  console.log(`workflow ${workflowId} is running; press Ctrl-C to stop it`);
  process.once("SIGINT", () => stop().then(() => process.exit(0)));
}
