import { type CallOptions, headwater, type Schemas } from "./client";
import type { Resource } from "./resource";

export type Summary = Schemas["EventSummary"];
export type Kind = "emit" | "error" | "log";

/** What a summary is, by its channel. */
export const kindOf = ({ metadata: { name } }: Summary): Kind =>
  name === "$errors" ? "error" : name === "$logs" ? "log" : "emit";

const LISTS = { emit: "events", error: "errors", log: "logs" } as const;

/** Reads what a source keeps of one kind, the newest first. */
export async function readSummaries(
  id: string,
  kind: Kind,
  query: { expand?: "event"; limit?: number; after?: string },
  call?: CallOptions,
): Promise<Summary[]> {
  return (await headwater.sources[LISTS[kind]](id, query, call)).data;
}

/** Returns the whole event of a summary whose data was cut. Cursors are event ids, and the page starts behind its cursor. */
export async function wholeEvent(summary: Summary): Promise<Summary> {
  const [ms = "0", sequence = "0"] = summary.id.split("-");
  const query = { expand: "event" as const, limit: 1, after: `${ms}-${Number(sequence) + 1}` };
  const [found] = await readSummaries(summary.metadata.emitter_id, kindOf(summary), query);
  return found?.id === summary.id ? found : summary;
}

/** What a summary's event is, without the envelope of its kind. */
export const payloadOf = ({ event }: Pick<Summary, "event">): unknown =>
  "raw_event" in event ? event.raw_event : event;

/** The run that emitted an event, whose emit id begins with the run's; undefined if it was published. */
export const runIdOf = (emitId: string): string | undefined => /^(run_[0-9A-Za-z]{16})-/.exec(emitId)?.[1];

type Detail = Schemas["SourceDetail"];
export type SourceResource = Resource<Detail>;

/**
 * Changes a source that was read just now, and returns it as it is then. A request that says nothing of `active` switches the
 * source on (docs/rest-api.md#sources), so that it says what was read, unless that is what is changed.
 */
export async function updateSource(
  { id, active }: Pick<Detail, "id" | "active">,
  changes: Parameters<typeof headwater.sources.update>[1],
  call?: CallOptions,
): Promise<Detail> {
  await headwater.sources.update(id, { active, ...changes }, call);
  return await headwater.sources.get(id);
}
