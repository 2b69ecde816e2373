import { checkQuota } from "../../accounts/quota.ts";
import { checkConnections } from "../../connections/check.ts";
import { tryConnectProps } from "../../connections/connect-props.ts";
import { AppError, invalidField } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Component } from "../../models/component.ts";
import type { Calling } from "../../platform.ts";
import { propValuesForRun, type StoredProps } from "../../props/configure.ts";
import { boundProp, withAddedProps } from "../../props/dynamic-props.ts";
import type {
  CallRequest,
  CallResult,
  DescribedProp,
  Emit,
  HttpResponse,
  LogLine,
} from "../../sandbox/protocol.ts";
import { isAction } from "../code-traits.ts";
import {
  callAdditionalProps,
  configureFor,
  type MakingCode,
  makeProps,
  makingCode,
} from "../configure/call-additional-props.ts";
import { type GivenCode, loaderOf, namedFiles } from "../given-files.ts";
import type { GivenFiles } from "../read-files.ts";
import { readFiles } from "../stored-bundle.ts";
import { actionCall, withExports } from "./action-call.ts";
import { callOnce, inTrial, type TrialBuild, withTrialBuild } from "./build.ts";
import { type FilePlace, placeInFiles, placeInMessage } from "./place.ts";

export interface TryRequest {
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
  error: ({ code: string; message: string; stack: string } & FilePlace) | null;
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
export function tryCode(
  platform: Calling,
  ownerId: string,
  given: GivenCode,
  request: TryRequest,
): Promise<Tried> {
  const loader = loaderOf(platform, given);
  return inTrial(ownerId, () =>
    withTrialBuild(platform, ownerId, loader, async built => {
      const { result, response } = await runOnce(platform, ownerId, built, request);
      return shown(result, { response, before: request.db, files: namedFiles(loader, given) });
    }),
  );
}

/** As `tryCode`, of a component that is saved: nothing is built. */
export async function tryComponent(
  platform: Calling,
  ownerId: string,
  component: Component,
  request: TryRequest,
): Promise<Tried> {
  await checkQuota(platform, ownerId);
  const code = makingCode(platform, component);
  const { result, response } = await inTrial(ownerId, () => runOnce(platform, ownerId, code, request));
  const { files, entry } = await readFiles(platform, component);
  return shown(result, {
    response,
    before: request.db,
    files: files === null || entry === null ? null : { files, entry },
  });
}

async function runOnce(
  platform: Calling,
  ownerId: string,
  { bundle, description }: MakingCode,
  request: TryRequest,
): Promise<{ result: CallResult; response: HttpResponse | null }> {
  if (request.isSample && !description.hasSampleEmit) {
    throw invalidField("body", "sample_emit", "the component has no sampleEmit");
  }
  const given = request.configuredProps;
  const added = await addedFor(platform, ownerId, { bundle, description }, given);
  const props = withAddedProps(description.props, added);
  const stored = configureFor(description)(props, given);
  await checkConnections(platform, ownerId, props, stored);
  const connected = await tryConnectProps(platform, ownerId, { props, values: stored });
  if ("error" in connected) return { result: { ...NOT_CALLED, error: connected.error }, response: null };
  const oneCall = isAction(description)
    ? actionCall(platform.clock(), props, connected.values, request.event)
    : sourceCall(props, connected.values, request);
  let response: HttpResponse | null = null;
  const result = await callOnce(
    platform,
    ownerId,
    bundle,
    { ...oneCall, added: added.map(boundProp), db: request.db },
    {
      wallMs: Math.min(platform.config.sandbox.runMs, LIMITS.trialMs.value),
      use: { tokens: connected.tokens, by: "code on trial" },
      opened: connected.opened,
      onRespond: given => {
        response = given;
      },
    },
  );
  return { result: isAction(description) ? withExports(result) : result, response };
}

/** Returns the props that the code's `additionalProps` makes of the given ones. Throws as `makeProps` does. */
async function addedFor(
  platform: Calling,
  ownerId: string,
  code: MakingCode,
  given: unknown,
): Promise<DescribedProp[]> {
  if (!code.description.hasAdditionalProps) return [];
  const configured = (given ?? {}) as Record<string, unknown>;
  const made = await makeProps(code.description, { configured }, soFar =>
    callAdditionalProps(platform, ownerId, code, soFar),
  );
  return made.props;
}

function sourceCall(
  props: DescribedProp[],
  values: StoredProps,
  { event, isSample }: TryRequest,
): Pick<CallRequest, "call" | "event" | "props"> {
  const bound = propValuesForRun(props, values, { endpointUrl: null });
  return { call: isSample ? "sampleEmit" : "run", event, props: bound };
}

/** The result of code that was not called. */
const NOT_CALLED: CallResult = { emits: [], logs: [], durationMs: 0, cpuMs: 0, memoryBytes: 0 };

interface Around {
  response: HttpResponse | null;
  /** What `$.service.db` held. */
  before: Record<string, unknown>;
  files: GivenFiles | null;
}

function shown(result: CallResult, { response, before, files }: Around): Tried {
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
    error: error ? { ...error, ...placeInFiles(error.stack, files) } : null,
    db: JSON.stringify(db).length > SHOWN_BYTES ? null : db,
    durationMs,
    cpuMs,
  };
}

/** What is wrong with code that can't be saved. */
export interface CodeError extends FilePlace {
  /** Where in the component it is, such as `props.timer.type`; the field of the request for the code as a whole. */
  path: string;
  message: string;
}

/**
 * Describes code without storing it: returns what it is, or everything that is wrong with it. Throws `rate-limited` and
 * `unavailable`, as `saveComponent` does.
 */
export async function describeCode(
  platform: Calling,
  ownerId: string,
  given: GivenCode,
): Promise<{ built: Omit<TrialBuild, "bundle"> } | { errors: CodeError[] }> {
  const loader = loaderOf(platform, given);
  try {
    return {
      built: await inTrial(ownerId, () =>
        withTrialBuild(platform, ownerId, loader, async ({ description, packages }) => ({
          description,
          packages,
        })),
      ),
    };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid") throw error;
    const fields =
      error.fields.length > 0 ? error.fields : [{ path: loader.field.path, message: error.message }];
    const files = namedFiles(loader, given);
    return {
      errors: fields.map(({ path, message }) => ({ path, message, ...placeInMessage(message, files) })),
    };
  }
}
