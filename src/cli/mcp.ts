import { createInterface } from "node:readline";
import type { Command } from "commander";
import { CODES, HEADERS, META, NAMED_BY } from "../mcp/protocol.ts";
import { note, print, printJsonLine } from "./output.ts";
import type { Access } from "./remote/access.ts";
import { accessOptions, chooseAccess, type RemoteTools, USER_AGENT } from "./remote/remote-command.ts";

const HELP = `
For hosts that start a program and speak with it over its input and output. The key stays in the profile of headwater login, and
out of the host's settings. The server says which tools there are (docs/agents.md).

  claude mcp add headwater -- headwater mcp --profile production

With --write, an agent may also publish, run, retry, deploy, pause, subscribe and delete, if the key has full access and the server's
operator allows it (MCP=write).`;

/** Passes messages of an agent's host on to a server, and back. */
export function mcpCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("mcp")
    .description("let an agent on this machine read over the Model Context Protocol")
    .option("--write", "let it change things, too")
    .addHelpText("after", HELP);
  accessOptions(command).action(async ({ write = false }: { write?: boolean }, self: Command) => {
    const access = await chooseAccess(self, tools);
    const underWay = new Set<Promise<void>>();
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() === "") continue;
      const passed = pass({ ...access, write }, line).finally(() => underWay.delete(passed));
      underWay.add(passed);
    }
    await Promise.all(underWay);
  });
}

/** A server, and whether the tools that change things are wanted too. */
interface Asked extends Access {
  write: boolean;
}

/** The parts of a message that its headers repeat. */
interface Message {
  jsonrpc?: string;
  id?: string | number;
  method?: string;
  params?: { [name: string]: unknown; _meta?: Record<string, unknown> };
}

async function pass(access: Asked, line: string): Promise<void> {
  const message = parse(line);
  const failed = (reason: string) => {
    if (message?.id === undefined) note(reason);
    else printJsonLine({ jsonrpc: "2.0", id: message.id, error: { code: CODES.internal, message: reason } });
  };
  try {
    const response = await send(access, line, headersOf(message));
    const text = await response.text();
    // A website or a proxy may respond in place of the server, and a host waits for what it asked.
    const isAsked = message?.id !== undefined && message.method !== undefined;
    if (parse(text)?.jsonrpc !== undefined) print(text);
    else if (!response.ok) failed(`${access.url} returned ${response.status}${detailOf(text)}`);
    else if (isAsked) failed(`${access.url} returned ${response.status}, and no message`);
  } catch (error) {
    const { cause } = error as Error;
    failed(
      `no response from ${access.url}: ${cause instanceof Error ? cause.message : (error as Error).message}`,
    );
  }
}

/** The server judges what a message is; a host that sends no JSON is told by it. */
function parse(line: string): Message | null {
  try {
    return JSON.parse(line) as Message | null;
  } catch {
    return null;
  }
}

function endpointOf({ url, orgId, write }: Asked): string {
  const query = new URLSearchParams({
    ...(orgId !== undefined && { org_id: orgId }),
    ...(write && { write: "1" }),
  });
  return `${url}/mcp${query.size > 0 ? `?${query}` : ""}`;
}

const send = (asked: Asked, body: string, headers: Record<string, string>) =>
  fetch(endpointOf(asked), {
    method: "POST",
    headers: {
      ...headers,
      authorization: `Bearer ${asked.apiKey}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "user-agent": USER_AGENT,
    },
    body,
  });

/** Returns the headers of a modern message; an older one needs none. */
function headersOf(message: Message | null): Record<string, string> {
  const { method = "", params } = message ?? {};
  const version = params?._meta?.[META.version];
  if (typeof version !== "string") return {};
  const name = params?.[NAMED_BY[method] ?? ""];
  return {
    [HEADERS.version]: version,
    [HEADERS.method]: method,
    ...(typeof name === "string" && { [HEADERS.name]: inHeader(name) }),
  };
}

const inHeader = (text: string): string =>
  /^[\x21-\x7e]+$/.test(text) ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;

/** What a problem says. */
function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    return typeof detail === "string" ? `: ${detail}` : "";
  } catch {
    return "";
  }
}
