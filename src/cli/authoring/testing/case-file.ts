import { readFile, writeFile } from "node:fs/promises";
import type { ErrorObject } from "ajv";
import { type Static, Type } from "typebox";
import { AppError } from "../../../lib/errors.ts";
import { newAjv } from "../../../lib/schemas.ts";

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_CASES = 100;
const MAX_STEPS = 50;
const MAX_EXCHANGES = 200;

const closed = { additionalProperties: false };
const Json = Type.Unknown();

/** One request of a component, and what the service responded. A body is JSON or a text; `base64` one that is neither. */
const Exchange = Type.Object(
  {
    request: Type.Object(
      {
        method: Type.Optional(Type.String({ pattern: "^[A-Z]{1,20}$" })),
        url: Type.String({ minLength: 1 }),
        body: Type.Optional(Json),
      },
      closed,
    ),
    response: Type.Object(
      {
        status: Type.Integer({ minimum: 200, maximum: 599 }),
        headers: Type.Optional(Type.Record(Type.String(), Type.String())),
        body: Type.Optional(Json),
        base64: Type.Optional(Type.String()),
      },
      closed,
    ),
  },
  closed,
);
export type Exchange = Static<typeof Exchange>;

/** An event that is expected; what is left out of its metadata is not compared. */
const Expected = Type.Object(
  {
    event: Json,
    id: Type.Optional(Type.Union([Type.String(), Type.Number()])),
    name: Type.Optional(Type.String()),
    summary: Type.Optional(Type.String()),
    ts: Type.Optional(Type.Number()),
  },
  closed,
);

const Step = Type.Object(
  {
    call: Type.Optional(
      Type.Union([
        Type.Literal("run"),
        Type.Literal("deploy"),
        Type.Literal("activate"),
        Type.Literal("deactivate"),
        Type.Literal("sampleEmit"),
      ]),
    ),
    event: Type.Optional(Json),
    tick: Type.Optional(Type.String({ minLength: 1 })),
    http: Type.Optional(Type.Array(Exchange, { maxItems: MAX_EXCHANGES })),
    emits: Type.Optional(Type.Array(Expected)),
    error: Type.Optional(Type.String({ minLength: 1 })),
    response: Type.Optional(
      Type.Object({ status: Type.Optional(Type.Integer()), body: Type.Optional(Json) }, closed),
    ),
    db: Type.Optional(Type.Record(Type.String(), Json)),
  },
  closed,
);
export type Step = Static<typeof Step>;

const Case = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    now: Type.Optional(Type.String({ minLength: 1 })),
    props: Type.Optional(Type.Record(Type.String(), Json)),
    db: Type.Optional(Type.Record(Type.String(), Json)),
    steps: Type.Array(Step, { minItems: 1, maxItems: MAX_STEPS }),
  },
  closed,
);
export type Case = Static<typeof Case>;

/** What a component is tested with (docs/testing-components.md). */
const Cases = Type.Object({ cases: Type.Array(Case, { minItems: 1, maxItems: MAX_CASES }) }, closed);
export type Cases = Static<typeof Cases>;

const validate = newAjv({ allErrors: true, strict: false }).compile<Cases>(Cases);

/** Reads the cases of a component. Throws AppError `invalid` that names the file and the fields which are wrong. */
export async function readCases(path: string): Promise<Cases> {
  const invalid = (message: string) => new AppError("invalid", `${path}: ${message}`);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    const isAbsent = error.code === "ENOENT";
    throw invalid(
      isAbsent ? "there is no such file; docs/testing-components.md says what is in it" : error.message,
    );
  });
  if (Buffer.byteLength(text) > MAX_BYTES) throw invalid(`has more than ${MAX_BYTES / 1024 ** 2} MB`);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw invalid(`is not JSON: ${(error as Error).message}`);
  }
  if (!validate(given)) throw invalid((validate.errors ?? []).slice(0, 5).map(problemOf).join("; "));
  for (const [place, time] of timesOf(given)) {
    if (Number.isNaN(Date.parse(time)))
      throw invalid(`${place} must be a time, such as 2026-11-29T08:00:00Z`);
  }
  return given;
}

/** Writes what was recorded into the file of the cases. */
export const writeCases = (path: string, cases: Cases): Promise<void> =>
  writeFile(path, `${JSON.stringify(cases, null, 2)}\n`);

function problemOf({ instancePath, message = "", params }: ErrorObject): string {
  const place = instancePath.slice(1).replaceAll("/", ".") || "it";
  const unknown = (params as { additionalProperty?: string }).additionalProperty;
  return unknown === undefined ? `${place} ${message}` : `${place} has no field ${unknown}`;
}

function timesOf({ cases }: Cases): [place: string, time: string][] {
  return cases.flatMap(({ now, steps }, at) => [
    ...(now === undefined ? [] : [[`cases.${at}.now`, now] as [string, string]]),
    ...steps.flatMap(({ tick }, step) =>
      tick === undefined ? [] : [[`cases.${at}.steps.${step}.tick`, tick] as [string, string]],
    ),
  ]);
}
