import { type Command, Option } from "commander";
import type { Headwater, LiveMessage } from "../../../clients/typescript/src/index.ts";
import type { BodyFormat } from "../../lib/body-formats.ts";
import { eventScore } from "../../lib/ids.ts";
import { isSigningKey, newSigningKey, SIGNING_KEY_RULE } from "../../webhooks/signing-keys.ts";
import { UsageError } from "../input.ts";
import { note, plain, print, printJsonLine, timeOf } from "../output.ts";
import { openEgress, type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { formatOption } from "../resources/format-option.ts";
import { EMITTERS, findEmitterId, NamedArgument } from "../resources/names.ts";
import { stopSignal } from "../run.ts";
import type { Forwarded, WholeEvent } from "./forward.ts";

interface Options {
  to: string;
  channel?: string;
  since?: string;
  secret?: string;
  format?: BodyFormat;
  json?: boolean;
}

const HELP = `
Each event is sent once, in order, with the headers, the signatures and the very body of a delivery; nothing is recorded, and
real webhooks get the event too. A signing key is made and printed, unless HEADWATER_LISTEN_SECRET has one. A lost connection
goes on behind the last event, as long as the server keeps it (100 events). Ctrl-C ends it, and prints where it ended.

  headwater listen orders --to http://127.0.0.1:3000/hook
  headwater listen orders --to http://127.0.0.1:3000/hook --since 1700000000000-0`;

export function listenCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("listen")
    .description("send the events of a source or workflow to a local address as they happen, signed")
    .addArgument(new NamedArgument("<source>", "source (id or name slug) or workflow (id or name)", EMITTERS))
    .requiredOption("--to <url>", "where they are sent, such as http://127.0.0.1:3000/hook")
    .option("--channel <name>", "only this channel, $errors or $logs (default: all but these two)")
    .option("--since <event id>", "begin with what is still stored behind this event")
    .addOption(new Option("--secret <whsec>", "sign with this key").env("HEADWATER_LISTEN_SECRET"))
    .addOption(formatOption("the body of requests, as of a webhook with this format").default("json"))
    .option("--json", "print one line of JSON for each event")
    .addHelpText("after", HELP);
  remoteAction<Options>(command, tools, async ({ client, options }, source = "") => {
    // A variable that is empty is not set.
    const { secret, ...others } = options;
    const given = secret ? { ...others, secret } : others;
    checkOptions(given);
    await listen(client, await findEmitterId(client, source), given);
  });
}

function checkOptions({ to, since, secret }: Options): void {
  const isUrl = URL.canParse(to) && /^https?:$/.test(new URL(to).protocol);
  if (!isUrl) throw new UsageError(`--to: ${to} is not an http or https URL`);
  if (since !== undefined && eventScore(since) === null) {
    throw new UsageError("--since: must be an event id such as 1700000000000-0");
  }
  if (secret !== undefined && !isSigningKey(secret)) {
    throw new UsageError(`HEADWATER_LISTEN_SECRET: ${SIGNING_KEY_RULE}`);
  }
}

async function listen(client: Headwater, emitterId: string, options: Options): Promise<void> {
  const signingKey = options.secret ?? newSigningKey();
  const signal = stopSignal();
  const egress = await openEgress();
  if (options.secret === undefined) showKey(signingKey, options);
  const listener = new Listener(client, { ...options, egress, signingKey, signal });
  try {
    const lastEventId = options.since;
    const watched = { emitters: [emitterId], signal, ...(lastEventId !== undefined && { lastEventId }) };
    for await (const message of client.watch(watched)) await listener.handle(message);
  } finally {
    await egress.close();
    if (listener.last !== null)
      note(`The last event was ${listener.last}: --since ${listener.last} goes on behind it.`);
  }
}

function showKey(signingKey: string, { json }: Options): void {
  if (json) printJsonLine({ signing_key: signingKey });
  else print(`Signing key of this listener: ${signingKey}`);
}

interface Target extends Options {
  egress: import("../../egress/agent.ts").Egress;
  signingKey: string;
  signal: AbortSignal;
}

/** Sends what it is handed, and prints what became of it. */
class Listener {
  /** The id of the last event that was sent. */
  last: string | null = null;
  readonly #client: Headwater;
  readonly #target: Target;
  #isFirst = true;

  constructor(client: Headwater, target: Target) {
    this.#client = client;
    this.#target = target;
  }

  async handle(message: LiveMessage): Promise<void> {
    if (message.type === "ready") return this.#showReady();
    if (!("summary" in message) || !this.#isWanted(message)) return;
    const { wholeEvent } = await import("./forward.ts");
    const event = await wholeEvent(this.#client, message.summary);
    if (event === null)
      return note(`${message.summary.id}: not sent, because its payload is no longer stored`);
    await this.#send(event);
  }

  async #send(event: WholeEvent): Promise<void> {
    const { forward, messageId } = await import("./forward.ts");
    const { to, signal, json } = this.#target;
    const result = await forward({ ...this.#target, url: to }, event);
    // Whether it arrived is not known.
    if (signal.aborted) return;
    this.last = event.id;
    if (json)
      printJsonLine({ event_id: event.id, channel: event.channel, webhook_id: messageId(event), ...result });
    else print(lineOf(event, result));
  }

  #showReady(): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    note(isFirst ? `Ready: events go to ${this.#target.to}. Ctrl-C ends it.` : "Connected again.");
  }

  #isWanted(message: LiveMessage & { summary: { id: string; metadata: { name: string } } }): boolean {
    const { channel, since } = this.#target;
    const { id, metadata } = message.summary;
    // A resumed stream begins a little earlier.
    if (since !== undefined && (eventScore(id) ?? 0) <= (eventScore(since) ?? 0)) return false;
    return channel === undefined ? message.type === "emit" : metadata.name === channel;
  }
}

function lineOf({ id, channel }: WholeEvent, { status, ms, error }: Forwarded): string {
  const name = channel === "" ? "" : ` [${plain(channel)}]`;
  return `${timeOf(Date.now())} ${id}${name} → ${plain(status === null ? (error ?? "") : String(status))} in ${ms} ms`;
}
