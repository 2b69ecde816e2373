import { isUtf8 } from "node:buffer";
import type { Emit, HttpResponse } from "../../../sandbox/protocol.ts";
import { withFrame } from "../../../sandbox/protocol.ts";
import type { Step } from "./case-file.ts";
import { differencesOf } from "./differences.ts";
import type { StepResult } from "./run-case.ts";

type Expected = NonNullable<Step["emits"]>[number];

/** Returns what a step did otherwise than is expected, one line each; what it does not say is not compared. */
export function faultsOf(step: Step, result: StepResult): string[] {
  const { http, response, db } = result;
  return [
    ...http.missing.map(request => `${request} is not recorded in this step: run with --record`),
    ...http.unused.map(request => `${request} is recorded and was not requested`),
    ...errorFaults(step, result),
    ...(step.emits ? differencesOf(step.emits, asExpected(step.emits, result.emits), "emits") : []),
    ...(step.response ? differencesOf(step.response, responseAs(step.response, response), "response") : []),
    ...(step.db ? differencesOf(step.db, db, "db") : []),
  ];
}

function errorFaults({ error: expected }: Step, { error }: StepResult): string[] {
  if (error === null) return expected === undefined ? [] : [`error: expected ${expected}, got none`];
  const text = `${error.code}: ${withFrame(error.message, error.stack)}`;
  if (expected === undefined) return [`it failed: ${text}`];
  return text.includes(expected) ? [] : [`error: expected ${expected}, got ${text}`];
}

const emitted = ({ event, metadata }: Emit): Expected => ({ event, ...metadata });

/** Of an event's metadata only what is expected of it; an event that is not expected is shown whole. */
const asExpected = (expected: Expected[], emits: Emit[]): unknown[] =>
  emits.map(emitted).map((found, at) => {
    const names = Object.keys(expected[at] ?? found);
    return Object.fromEntries(Object.entries(found).filter(([name]) => names.includes(name)));
  });

function responseAs(expected: NonNullable<Step["response"]>, response: HttpResponse | null): unknown {
  if (!response) return null;
  const found = { status: response.status, body: bodyOf(response, expected.body) };
  return Object.fromEntries(Object.entries(found).filter(([name]) => Object.hasOwn(expected, name)));
}

/** JSON if that is what is expected, else the text. */
function bodyOf({ bodyBase64 }: HttpResponse, expected: unknown): unknown {
  const bytes = Buffer.from(bodyBase64, "base64");
  if (!isUtf8(bytes)) return bodyBase64;
  const text = bytes.toString("utf8");
  if (typeof expected === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns a step with what it did as what is expected of it from now on, where that is not said. */
export const recordedStep = (step: Step, { http, emits, error }: StepResult): Step => ({
  ...step,
  ...(http.recorded.length > 0 && { http: http.recorded }),
  ...(step.emits === undefined && { emits: emits.map(emitted) }),
  ...(step.error === undefined && error !== null && { error: `${error.code}: ${error.message}` }),
});
