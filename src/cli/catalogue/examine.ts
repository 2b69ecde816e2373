import { setTimeout as delay } from "node:timers/promises";
import {
  type Headwater,
  InvalidError,
  NotFoundError,
  type Schemas,
} from "../../../clients/typescript/src/index.ts";
import type { Outcome, StepName } from "./report.ts";
import { endsAll, failureOf, RunFailedError, type TimeLimit } from "./state.ts";
import type { GivenProps, MadeUp } from "./values.ts";

/** A component to examine. */
export interface Candidate {
  at: string;
  /** By which the props file may have it, besides its key. */
  names: string[];
  /** Where the server finds it. */
  url: string;
  /** The name that its source or action gets. */
  name: string;
}

export interface ExamineTools {
  client: Headwater;
  time: TimeLimit;
  props: GivenProps;
  /** Null without `--accounts`. */
  madeUp: MadeUp | null;
  /** Deletes what was made; its errors are its own. */
  remove: (made: Made) => Promise<void>;
  /** Makes a server's message readable: without the address that a local file had. */
  readable: (text: string) => string;
}

/** What an examination left on the server, by id. */
export interface Made {
  component?: string;
  source?: string;
  action?: string;
}

/** How often it begins again because the same code, at another place, was deleted in between. */
const MOST_TRIES = 3;
const POLL_MS = 300;

/**
 * Saves, deploys and runs a component, deletes it again, and returns how far it came. Throws only what ends the whole
 * examination, such as a server that does not respond.
 */
export async function examine(candidate: Candidate, tools: ExamineTools): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    const made: Made = {};
    try {
      const found = await examineOnce(candidate, made, tools);
      if (found !== "again" || tries >= MOST_TRIES) {
        return found === "again" ? lost(candidate) : found;
      }
    } finally {
      await tools.remove(made);
    }
  }
}

const lost = ({ at }: Candidate): Outcome => ({
  ...untried(at),
  described: { result: "failed", cause: "was deleted by somebody else while it was examined" },
});

const untried = (at: string): Outcome => ({
  at,
  key: null,
  described: { result: "not_tried" },
  deployed: { result: "not_tried" },
  ran: { result: "not_tried" },
});

async function examineOnce(
  candidate: Candidate,
  made: Made,
  tools: ExamineTools,
): Promise<Outcome | "again"> {
  const outcome = untried(candidate.at);
  let step: StepName = "described";
  let accounts: string[] = [];
  try {
    const component = await save(candidate, made, tools);
    Object.assign(outcome, { key: component.key, described: { result: "ok" } });
    step = "deployed";
    const { event, values: given } = tools.props.of([...candidate.names, component.key]);
    const values = { ...tools.madeUp?.valuesOf(component.configurable_props), ...given };
    accounts = appsWithoutAccount(component, values);
    const deployed = await deploy(component.id, { name: candidate.name, values, made }, tools);
    outcome.deployed = { result: "ok" };
    step = "ran";
    await run(deployed, event, tools);
    outcome.ran = { result: "ok" };
  } catch (error) {
    if (endsAll(error)) throw error;
    if (step === "deployed" && error instanceof NotFoundError) return "again";
    const failure = failureOf(error, accounts, tools.readable);
    if (failure === undefined) throw error;
    outcome[step] = failure;
  }
  return outcome;
}

/** The names of app props without a value, which deploy all the same. */
const appsWithoutAccount = (
  { configurable_props }: Schemas["Component"],
  values: Record<string, unknown>,
): string[] =>
  configurable_props
    .filter(({ name, type, optional }) => type === "app" && !optional && values[name] === undefined)
    .map(({ name }) => name);

async function save({ url }: Candidate, made: Made, { client, time }: ExamineTools) {
  const component = await time.spend(signal => client.components.create({ component_url: url }, { signal }));
  made.component = component.id;
  return component;
}

type Deployed = { source: Schemas["Source"] } | { actionId: string };

/** Deploys it as a source; the server says so if it is an action. */
async function deploy(
  componentId: string,
  { name, values, made }: { name: string; values: Record<string, unknown>; made: Made },
  { client, time }: ExamineTools,
): Promise<Deployed> {
  const body = { component_id: componentId, configured_props: values };
  try {
    const source = await time.spend(signal => client.sources.create({ ...body, name }, { signal }));
    made.source = source.id;
    return { source };
  } catch (error) {
    if (!isAction(error)) throw error;
  }
  const { id } = await time.spend(signal => client.destinations.create({ name, action: body }, { signal }));
  made.action = id;
  return { actionId: id };
}

const isAction = (error: unknown): boolean =>
  error instanceof InvalidError &&
  error.errors.some(({ path, message }) => path === "component_id" && message.startsWith("is an action"));

/** What `run` of a source without a timer receives if the props file has no event. */
const REQUEST = { method: "POST", path: "/", query: {}, headers: {}, bodyRaw: "{}", body: {} };

async function run(deployed: Deployed, event: unknown, { client, time }: ExamineTools): Promise<void> {
  if ("actionId" in deployed) {
    const { error } = await time.spend(signal => client.destinations.test(deployed.actionId, { signal }));
    if (error !== null) throw new RunFailedError(error);
    return;
  }
  const { id } = deployed.source;
  const given = event ?? (hasTimer(deployed.source) ? undefined : REQUEST);
  const body = given === undefined ? {} : { event: given };
  const { run_id } = await time.spend(signal => client.sources.run(id, body, { signal }));
  const { outcome, error } = await time.spend(signal => endOf(client, { id, run_id }, signal));
  if (error !== null) throw new RunFailedError(`${error.code}: ${error.message}`);
  if (outcome !== "ok") throw new RunFailedError(outcome);
}

const hasTimer = ({ configured_props }: Schemas["Source"]): boolean =>
  Object.values(configured_props).some(value => {
    const { cron, interval_seconds } = (value ?? {}) as Record<string, unknown>;
    return typeof cron === "string" || typeof interval_seconds === "number";
  });

/** Returns the record of a run once it is there. */
async function endOf(client: Headwater, { id, run_id }: { id: string; run_id: string }, signal: AbortSignal) {
  for (;;) {
    const { data } = await client.sources.runs(id, { limit: 100 }, { signal });
    const found = data.find(run => run.id === run_id);
    if (found) return found;
    await delay(POLL_MS, undefined, { signal });
  }
}
