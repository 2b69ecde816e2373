import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { Api } from "../../support/api.ts";
import { type Received, type Receiver, type Reply, startReceiver } from "../../support/receiver.ts";
import { exchange, modern } from "../mcp.ts";

export const newSecret = (bytes = 32): string => `whsec_${randomBytes(bytes).toString("base64")}`;

/** An agent's callback: a server that accepts challenges and keeps what it is notified with. */
export interface Callback {
  receiver: Receiver;
  url: string;
  /** The challenges that it got. */
  challenges: Received[];
  /** What it was notified with. */
  events: Received[];
  /** Control bodies, such as the end of its subscription. */
  controls: Received[];
  close: () => Promise<void>;
}

/** Responds to a challenge with `echo` of it, to an event with `reply`. */
export async function startCallback({
  echo = right,
  reply = 200,
}: {
  echo?: (challenge: string) => Reply;
  reply?: Reply;
} = {}): Promise<Callback> {
  const [challenges, events, controls]: Received[][] = [[], [], []];
  const receiver = await startReceiver(request => {
    const body = JSON.parse(request.raw);
    if (body.type === "verification") {
      challenges?.push(request);
      return echo(body.challenge);
    }
    if (typeof body.type === "string") {
      controls?.push(request);
      return 200;
    }
    events?.push(request);
    return reply;
  });
  return {
    receiver,
    url: `${receiver.url}?mcp_event_subscription=1`,
    challenges: challenges ?? [],
    events: events ?? [],
    controls: controls ?? [],
    close: () => receiver.close(),
  };
}

export const right = (challenge: string): Reply => ({ status: 200, body: JSON.stringify({ challenge }) });

/** Calls a method and returns its result, or its error. */
export async function call(
  api: Api,
  method: string,
  params: Record<string, unknown> = {},
  path = "/mcp",
  meta: Record<string, unknown> = {},
) {
  const { json, status, text } = await exchange(api, { ...modern(method, params, { meta }), path });
  if (json?.result === undefined && json?.error === undefined) throw new Error(`${status}: ${text}`);
  return json as {
    // biome-ignore lint/suspicious/noExplicitAny: each method has another result
    result?: any;
    error?: { code: number; message: string; data?: Record<string, unknown> };
  };
}

export interface Subscription {
  name: string;
  arguments?: Record<string, unknown>;
  url: string;
  secret?: string;
  more?: Record<string, unknown>;
  path?: string;
}

/** Subscribes as a host does. */
export const subscribe = (
  api: Api,
  { name, url, secret = newSecret(), more, path, ...given }: Subscription,
) =>
  call(
    api,
    "events/subscribe",
    {
      name,
      ...(given.arguments && { arguments: given.arguments }),
      delivery: { mode: "webhook", url, secret },
      ...more,
    },
    path,
  );

export const unsubscribe = (api: Api, { name, url, path, ...given }: Subscription) =>
  call(
    api,
    "events/unsubscribe",
    { name, ...(given.arguments && { arguments: given.arguments }), delivery: { url } },
    path,
  );

/** Verifies a request with a library that no one here wrote, and returns its body. */
export const verified = (secret: string, { raw, headers }: Received) =>
  // biome-ignore lint/suspicious/noExplicitAny: each test expects another event
  new Webhook(secret).verify(raw, headers as Record<string, string>) as any;
