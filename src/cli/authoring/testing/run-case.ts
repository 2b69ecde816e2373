import { createHash } from "node:crypto";
import { withStatement } from "../../../components/bundle.ts";
import { isAction } from "../../../components/code-traits.ts";
import { configureFor } from "../../../components/configure/call-additional-props.ts";
import type { DescribedComponent } from "../../../components/describe.ts";
import { actionCall, withExports } from "../../../components/trial/action-call.ts";
import { AppError } from "../../../lib/errors.ts";
import { hasHttpInterface, propValuesForRun, type StoredProps, timerOf } from "../../../props/configure.ts";
import { boundProp, withAddedProps } from "../../../props/dynamic-props.ts";
import { timerEvent } from "../../../props/timer.ts";
import { effectsOf, emptyMemory, type Memory } from "../../../runs/memory.ts";
import type { BundleText } from "../../../sandbox/bundle.ts";
import type { CallOptions } from "../../../sandbox/call-runner.ts";
import type { CallError, CallRequest, DescribedProp, Emit, HttpResponse } from "../../../sandbox/protocol.ts";
import type { Sandboxes } from "../../../sandbox/sandboxes.ts";
import { slashed } from "../../../sources/source.ts";
import { addedFor } from "../../dev/load.ts";
import type { Case, Step } from "./case-file.ts";
import type { Exchanges, StepExchanges } from "./exchanges.ts";
import { recordedHttp } from "./recorded-http.ts";

/** What a source under test has as its address. */
const ENDPOINT = "https://headwater.example/in/test";
const HOOK_MS = 60_000;

/** What is tested, and where. */
export interface Bench {
  sandboxes: Sandboxes;
  exchanges: Exchanges;
  description: DescribedComponent;
  bundle: BundleText;
}

/** What a step did. */
export interface StepResult {
  emits: Emit[];
  response: HttpResponse | null;
  error: CallError | null;
  db: Record<string, unknown>;
  http: StepExchanges;
}

/** A component with the props of a case, and what it remembers between the steps. */
interface Opened {
  bench: Bench;
  bundle: BundleText;
  props: DescribedProp[];
  added: DescribedProp[];
  values: StoredProps;
  options: CallOptions;
  nowMs: number;
}

/**
 * Runs the steps of a case one after the other, each with the memory that the one before it left, and calls `onStep` after each. Throws
 * AppError `invalid` for props that can't be configured and for a step that the component can't make.
 */
export async function runCase(
  bench: Bench,
  { now, props = {}, db = {}, steps }: Case,
  onStep: (step: Step, result: StepResult) => void,
): Promise<void> {
  const opened = await openCase(bench, props, now === undefined ? undefined : Date.parse(now));
  let memory: Memory = { ...emptyMemory(), db };
  for (const step of steps) {
    bench.exchanges.begin(step.http ?? []);
    let response: HttpResponse | null = null;
    const key = `test:${opened.bundle.hash}`;
    const result = await bench.sandboxes.call(key, opened.bundle, requestOf(opened, step, memory), {
      ...opened.options,
      ...((step.call ?? "run") !== "run" && { wallMs: HOOK_MS }),
      onRespond: given => {
        response = given;
      },
    });
    const effects = effectsOf(bench.description, memory, result);
    memory = effects.memory;
    const emits = isAction(bench.description) ? withExports(result).emits : effects.emits;
    const http = bench.exchanges.end();
    onStep(step, { emits, response, error: result.error ?? null, db: memory.db, http });
  }
  bench.sandboxes.drop(`test:${opened.bundle.hash}`);
}

async function openCase(bench: Bench, given: StoredProps, now: number | undefined): Promise<Opened> {
  const { description, exchanges, sandboxes } = bench;
  const { port } = exchanges;
  const code = withStatement(bench.bundle.code, recordedHttp(port, now));
  const bundle = { code, hash: createHash("sha256").update(code).digest("hex") };
  exchanges.begin([]);
  const added = await addedFor({ sandboxes }, { bundle, description }, given);
  const props = withAddedProps(description.props, added);
  const values = configureFor(description)(props, given);
  const options = { opened: [{ host: "127.0.0.1", port }] };
  return { bench, bundle, props, added, values, options, nowMs: now ?? Date.now() };
}

function requestOf(opened: Opened, step: Step, { db }: Memory): CallRequest {
  const { bench, props, values, added, nowMs } = opened;
  const { description } = bench;
  const shared = { added: added.map(boundProp), db };
  if (isAction(description)) {
    if (step.call !== undefined) throw new AppError("invalid", `an action has no ${step.call}`);
    return { ...actionCall(nowMs, props, values, step.event ?? {}), ...shared };
  }
  const { call = "run" } = step;
  const endpoint = hasHttpInterface(props) ? ENDPOINT : null;
  const bound = propValuesForRun(props, values, slashed(endpoint, description.addsSlash));
  return { call, event: call === "run" ? eventOf(opened, step) : null, props: bound, ...shared };
}

function eventOf({ props, values }: Opened, { event, tick }: Step): unknown {
  if (tick === undefined) return event ?? {};
  const timer = timerOf(props, values);
  if (!timer) throw new AppError("invalid", "a step has a tick, and the component no timer");
  return timerEvent(timer, Date.parse(tick));
}
