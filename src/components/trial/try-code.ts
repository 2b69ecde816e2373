import { checkConnections } from "../../connections/check.ts";
import { tryConnectProps } from "../../connections/connect-props.ts";
import { invalidField } from "../../lib/errors.ts";
import { newToken } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { actionPropsFor, configureActionProps } from "../../props/action-props.ts";
import { configureProps, propValuesForRun, type StoredProps } from "../../props/configure.ts";
import type {
  ActionExport,
  CallRequest,
  CallResult,
  DescribedProp,
  Emit,
  HttpResponse,
  LogLine,
} from "../../sandbox/protocol.ts";
import { isAction } from "../is-action.ts";
import { buildTrial, inTrial, type TrialDeps } from "./build.ts";
import { callOnce } from "./call-once.ts";
import { type Place, placeInStack } from "./place.ts";

export interface TryRequest {
  code: string;
  /** As a source's `configured_props`. */
  configuredProps?: unknown;
  /** What `run` receives. */
  event: unknown;
  /** True: `sampleEmit` is called in place of `run`, and receives no event. */
  isSample?: boolean;
  /** What `$.service.db` holds before. */
  db: Record<string, unknown>;
}

export interface Tried {
  emits: Emit[];
  /** How many more it emitted than are shown. */
  emitsLeftOut: number;
  logs: LogLine[];
  response: HttpResponse | null;
  error: ({ code: string; message: string; stack: string } & Place) | null;
  /** What `$.service.db` holds afterwards; null if that is too much to show. */
  db: Record<string, unknown> | null;
  durationMs: number;
  cpuMs: number;
}

const SHOWN_BYTES = LIMITS.trialShownBytes.value;

/**
 * Runs code once in a sandbox of its own, with this event or as `sampleEmit`, and returns all that it did; an action runs
 * as it would for this event. Nothing is stored: no source exists, what it emits goes nowhere, and its hooks are not called.
 * It counts as a run of the account. Throws `invalid` for code or props that could not be saved, `rate-limited` and
 * `unavailable`.
 */
export function tryCode(platform: TrialDeps, ownerId: string, request: TryRequest): Promise<Tried> {
  return inTrial(ownerId, () => runOnce(platform, ownerId, request));
}

async function runOnce(platform: TrialDeps, ownerId: string, request: TryRequest): Promise<Tried> {
  const { bundle, description } = await buildTrial(platform, ownerId, request.code);
  if (request.isSample && !description.hasSampleEmit) {
    throw invalidField("body", "sample_emit", "the component has no sampleEmit");
  }
  const { props } = description;
  const given = request.configuredProps;
  const stored = isAction(description) ? configureActionProps(props, given) : configureProps(props, given);
  await checkConnections(platform, ownerId, props, stored);
  const connected = await tryConnectProps(platform, ownerId, { props, values: stored });
  if ("error" in connected) return shown({ ...NOT_CALLED, error: connected.error }, null, request.db);
  const oneCall = isAction(description)
    ? actionCall(platform, props, connected.values, request)
    : sourceCall(props, connected.values, request);
  let response: HttpResponse | null = null;
  const { db } = request;
  const result = await callOnce(
    platform,
    ownerId,
    bundle,
    { ...oneCall, db },
    {
      wallMs: Math.min(platform.config.sandbox.runMs, LIMITS.trialMs.value),
      onRespond: given => {
        response = given;
      },
    },
  );
  return shown(isAction(description) ? withExports(result) : result, response, db);
}

type OneCall = Pick<CallRequest, "call" | "event" | "props">;

function sourceCall(props: DescribedProp[], values: StoredProps, { event, isSample }: TryRequest): OneCall {
  const bound = propValuesForRun(props, values, { endpointUrl: null });
  return { call: isSample ? "sampleEmit" : "run", event, props: bound };
}

/** An action's templates are filled in from the event (docs/actions.md). */
function actionCall(
  { clock }: TrialDeps,
  props: DescribedProp[],
  stored: StoredProps,
  { event }: TryRequest,
): OneCall {
  const context = { id: `trial-${newToken()}`, ts: new Date(clock()).toISOString(), test: true };
  const values = actionPropsFor(props, stored, { event, context });
  const bound = propValuesForRun(props, values, { endpointUrl: null });
  return { call: "action", event: { event, context }, props: bound };
}

/** Shows what an action exports as events of that name, and what it returns as one without. */
function withExports(result: CallResult): CallResult {
  const emits = result.emits.map(({ event }): Emit => {
    const { name, value } = event as ActionExport;
    return { event: value, metadata: name === undefined ? {} : { name } };
  });
  return { ...result, emits };
}

/** The result of code that was not called. */
const NOT_CALLED: CallResult = { emits: [], logs: [], durationMs: 0, cpuMs: 0, memoryBytes: 0 };

function shown(result: CallResult, response: HttpResponse | null, before: Record<string, unknown>): Tried {
  const { emits, error, logs, durationMs, cpuMs } = result;
  const shownEmits: Emit[] = [];
  let bytes = 0;
  for (const emit of emits) {
    bytes += JSON.stringify(emit).length;
    if (bytes > SHOWN_BYTES) break;
    shownEmits.push(emit);
  }
  const db = result.db ?? before;
  return {
    emits: shownEmits,
    emitsLeftOut: emits.length - shownEmits.length,
    logs,
    response,
    error: error ? { ...error, ...placeInStack(error.stack) } : null,
    db: JSON.stringify(db).length > SHOWN_BYTES ? null : db,
    durationMs,
    cpuMs,
  };
}
