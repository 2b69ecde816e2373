import { randomUUID } from "node:crypto";
import { type Command, InvalidArgumentError } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import type { JsonText } from "../../lib/json-text.ts";
import { PRESETS, type Preset } from "../../verify/presets.ts";
import type { VerifyRule } from "../../verify/schema.ts";
import { CantSign, signRequest, type Unsigned } from "../../verify/sign.ts";
import { askSecret, parseJsonOption, readTextFile, UsageError } from "../input.ts";
import { plain, show } from "../output.ts";
import type { RemoteTools } from "../remote/remote-command.ts";
import { type JsonOption, jsonOption } from "./list.ts";
import { commandOn, type Subject, thingAction } from "./subject.ts";

type Source = Schemas["SourceDetail"];

interface Options extends JsonOption {
  signed?: Preset;
  secret?: string;
  data: JsonText;
}

const DEFAULT_DATA = '{"id": "evt_test", "type": "test"}';
/** How long an endpoint may take, whose component perhaps responds itself. */
const WAIT_MS = 65_000;

/** Adds `send`, which tries a source that verifies its requests as its provider would (docs/verify.md#try-it). */
export function sendCommand(
  group: Command,
  tools: RemoteTools,
  subject: Subject<Source, Schemas["Source"]>,
): void {
  const description = "send a request to its endpoint, signed as a provider signs";
  const command = commandOn(group, "send", subject, description)
    .option("--signed <preset>", "how it is signed: github, stripe, … (docs/verify.md#presets)", parsePreset)
    .option("--secret <file>", "file with the secret; - is the standard input; without it, it is asked for")
    .option("--data <json>", "body of the request", parseJsonOption, parseJsonOption(DEFAULT_DATA));
  thingAction<Source, Options>(jsonOption(command), tools, subject, async (source, { options }) => {
    const { signed } = options;
    if (!signed) throw new UsageError("--signed: says how the request is signed, such as --signed github");
    const url = endpointOf(source);
    if (url === null) throw new AppError("invalid", `${source.name} (${source.id}) has no endpoint`);
    const secret = await readSecret(options.secret, signed.secret);
    const request = {
      ...{ method: "POST", url, headers: { "content-type": "application/json" } },
      ...{ body: Buffer.from(options.data.text), id: `msg_${randomUUID()}` },
    };
    const response = await send(signedBy(signed.rule, secret, request));
    show(response, options, ({ status, body }) => `${status} ${plain(body)}`);
    if (response.status >= 400) process.exitCode = 1;
  });
}

function signedBy(rule: VerifyRule, secret: string, request: Unsigned): Unsigned {
  try {
    return signRequest(rule, secret, request, Date.now());
  } catch (error) {
    throw error instanceof CantSign ? new AppError("invalid", error.message) : error;
  }
}

function parsePreset(name: string): Preset {
  const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
  if (!preset) throw new InvalidArgumentError(`must be one of ${Object.keys(PRESETS).join(", ")}`);
  return preset;
}

/** A file ends with a line break, which is not part of the secret; a key as PEM has several lines. */
async function readSecret(file: string | undefined, what: string): Promise<string> {
  if (file === undefined) return askSecret(`Secret (${what}): `, "--secret");
  return (await readTextFile(file)).replace(/\r?\n$/, "");
}

/** Returns the address at which a source receives requests; null if it has none. */
export function endpointOf({ configured_props }: Pick<Source, "configured_props">): string | null {
  for (const value of Object.values(configured_props)) {
    const { endpoint_url } = (value ?? {}) as Record<string, unknown>;
    if (typeof endpoint_url === "string") return endpoint_url;
  }
  return null;
}

async function send({ method, url, headers, body }: Unsigned) {
  try {
    const response = await fetch(url, {
      method,
      headers,
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(WAIT_MS),
    });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    throw new AppError("unavailable", `${new URL(url).origin} can't be reached: ${(error as Error).message}`);
  }
}
