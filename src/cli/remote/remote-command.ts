import { type Command, Option } from "commander";
import {
  ApiError,
  ConnectionError,
  Headwater,
  HeadwaterError,
  type HeadwaterOptions,
} from "../../../clients/typescript/src/index.ts";
import type { Egress } from "../../egress/agent.ts";
import { AppError, type ErrorCode } from "../../lib/errors.ts";
import { version } from "../../lib/versions.ts";
import { UsageError } from "../input.ts";
import { sayIfSlow } from "../output.ts";
import { type Access, accessOf, type Choice, type DevelopmentStart, readProfiles } from "./access.ts";

/** What commands for any server need of this machine. */
export interface RemoteTools {
  /** Returns the folder of the user's settings. */
  configFolder: () => Promise<string>;
  /** Returns the address and key of this project's `npm start`, if there is one. */
  developmentStart: () => Promise<DevelopmentStart>;
}

/** The server of a command, and what it was called with. */
export interface Remote<Options> {
  client: Headwater;
  access: Access;
  options: Options;
}

interface AccessOptions {
  url?: string;
  key?: string;
  profile?: string;
  org?: string;
}

/** Adds the options that choose a server. */
export function accessOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--profile <name>", "server and key, as headwater login kept them").env("HEADWATER_PROFILE"),
    )
    .addOption(new Option("--url <api>", "address of the server").env("HEADWATER_URL"))
    .addOption(new Option("--key <key>", "API key").env("HEADWATER_API_KEY"))
    .addOption(new Option("--org <id>", "o_…: the organization whose things are meant"));
}

/**
 * Gives a command the options that choose a server, and an action that gets a client of it and the command's arguments; errors are those
 * of `withRemote`.
 */
export function remoteAction<Options = object>(
  command: Command,
  tools: RemoteTools,
  work: (remote: Remote<Options>, ...given: string[]) => Promise<void>,
): Command {
  return accessOptions(command).action((...given: unknown[]) =>
    withRemote<Options>(given.at(-1) as Command, tools, remote =>
      work(remote, ...(given.slice(0, -2) as string[])),
    ),
  );
}

/**
 * Does work with the server that a command with `accessOptions` means. An error of the client becomes an AppError of one line.
 */
export async function withRemote<Options = object>(
  command: Command,
  tools: RemoteTools,
  work: (remote: Remote<Options>) => Promise<void>,
): Promise<void> {
  const access = await chooseAccess(command, tools);
  try {
    await work({ client: clientFor(access), access, options: command.opts() as Options });
  } catch (error) {
    throw explain(error, access.url);
  }
}

/** Returns the server and key that a command with `accessOptions` means. Throws AppError `invalid`. */
export async function chooseAccess(command: Command, tools: RemoteTools): Promise<Access> {
  const profiles = await readProfiles(await tools.configFolder());
  return accessOf(choiceOf(command), profiles, await tools.developmentStart());
}

/** Returns what a command with `accessOptions` was given, behind it or before all commands. */
export function choiceOf(command: Command): Choice {
  const from = (source: string) => ({
    url: givenTo(command, "url", source),
    key: givenTo(command, "key", source),
    profile: givenTo(command, "profile", source),
  });
  return { option: from("cli"), environment: from("env"), orgId: givenTo(command, "org", "cli") };
}

/** Returns an option that chooses a server; what is nearer to the command's arguments counts. */
export function givenTo(command: Command, name: keyof AccessOptions, source = "cli"): string | undefined {
  const given = [command, rootOf(command)].find(one => one.getOptionValueSource(name) === source);
  return given?.opts<AccessOptions>()[name] || undefined;
}

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent));

const ACCESS = ["url", "key", "profile", "org"] as const satisfies (keyof AccessOptions)[];

/** Throws UsageError if a server was chosen before a command that has no use for it. */
export function rejectUnusedAccess(program: Command, command: Command): void {
  const unused = ACCESS.find(
    name =>
      program.getOptionValueSource(name) === "cli" &&
      !command.options.some(option => option.attributeName() === name),
  );
  if (unused !== undefined) throw new UsageError(`--${unused}: ${command.name()} has no such option`);
}

/** Which program asks, for the server's log. */
export const USER_AGENT = `Headwater/${version}`;

/** Every address may be meant: it is chosen by the person at this machine. */
export const ANY_ADDRESS = ["0.0.0.0/0", "::/0"];
const CONNECT_MS = 10_000;

/** Opens what sends requests to the addresses that a person at this machine names. */
export async function openEgress(): Promise<Egress> {
  const { createEgress } = await import("../../egress/agent.ts");
  return createEgress({
    allow: ANY_ADDRESS,
    blockedHosts: [],
    connectTimeoutMs: CONNECT_MS,
    userAgent: USER_AGENT,
  });
}

/**
 * Returns a client for a server and its key, with further options of it; `isSlow`: its requests wait for something, of which
 * a person need not be told. Nothing is sent before the first call.
 */
export function clientFor(
  { url, apiKey, orgId }: Pick<Access, "url" | "apiKey" | "orgId">,
  { isSlow = false, ...options }: Pick<HeadwaterOptions, "maxWaitMs"> & { isSlow?: boolean } = {},
): Headwater {
  return new Headwater({
    ...options,
    url,
    apiKey,
    ...(orgId !== undefined && { orgId }),
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("user-agent", USER_AGENT);
      const response = fetch(input, { ...init, headers });
      return isSlow ? response : sayIfSlow(url, response);
    },
  });
}

/** The codes that are the same on both sides; others count as `invalid`. */
const CODES = new Set<string>([
  "unauthenticated",
  "forbidden",
  "limit-reached",
  "not-found",
  "conflict",
  "precondition-failed",
  "too-large",
  "rate-limited",
  "unavailable",
  "timeout",
] satisfies ErrorCode[]);

/** Returns an error of the client as one line for a person: which server, what it said, and what to do. */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof ApiError) {
    const code = CODES.has(error.code) ? (error.code as ErrorCode) : "invalid";
    return new AppError(code, `${url} returned ${error.status}: ${sentenceOf(error)}`, { cause: error });
  }
  if (error instanceof ConnectionError) {
    const reason = withoutRequest(error.message).replace(/^no response \((.*)\)$/s, "$1");
    return new AppError("unavailable", `no response from ${url}: ${reason}`, { cause: error });
  }
  if (error instanceof HeadwaterError) {
    return new AppError("invalid", `${url}: ${withoutRequest(error.message)}`, { cause: error });
  }
  return error;
}

function sentenceOf({ status, detail: said, requestId, code }: ApiError): string {
  const detail = code === "" ? "without a reason; is it a Headwater server?" : said;
  if (status === 401) return `${detail}; run headwater login`;
  return status >= 500 && requestId !== null
    ? `${detail} (request ${requestId} in the server's log)`
    : detail;
}

/** The client's messages begin with the request: `GET /v1/sources: `. */
const withoutRequest = (message: string) => message.replace(/^[A-Z]+ \/\S*: /, "");
