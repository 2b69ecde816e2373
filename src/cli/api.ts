import { type Command, InvalidArgumentError } from "commander";
import type { JsonText } from "../lib/json-text.ts";
import { parseJsonOption, readJsonText, UsageError } from "./input.ts";
import { print, printJson } from "./output.ts";
import { type RemoteTools, remoteAction } from "./remote/remote-command.ts";

const HELP = `
PATH is one of the API (docs/rest-api.md), with its query: /webhooks, or /deliveries?state=failed&limit=5. What is printed is the
response's data; of a list, the page with its page_info, whose end_cursor is the next page's \`after\`.
A POST has an idempotency key, so that one that fails in passing is sent again without being done twice.

  headwater api get /users/me
  headwater api post /workflows --data '{"name": "shop"}'
  headwater api put /webhooks/wh_… --data @changes.json
  headwater api delete "/subscriptions/sub_…"`;

const METHODS = ["get", "post", "put", "delete"] as const;
type Method = (typeof METHODS)[number];

/** `headwater api`: any request of the API, with the server and key of the other commands. */
export function apiCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("api")
    .description("send a request of the API, and print what it returns as JSON")
    .argument("<method>", METHODS.join(", "), parseMethod)
    .argument("<path>", "below /v1, such as /sources/dc_…", parsePath)
    .option("--data <json>", "body of a post or a put: JSON, @FILE, or - for the standard input")
    .addHelpText("after", HELP);
  remoteAction<{ data?: string }>(command, tools, async ({ client, options }, method = "", path = "") => {
    const body = await bodyOf(method, options.data);
    // The compiler knows the paths of openapi.json; this one may have a query, and is for the server to check.
    const result = await client.request(method as "post", path as "/workflows", { body: body as never });
    if (typeof result === "string") print(result);
    else if (result !== undefined) printJson(result);
  });
}

function parseMethod(text: string): Method {
  const method = METHODS.find(one => one === text.toLowerCase());
  if (method === undefined) throw new InvalidArgumentError(`must be one of ${METHODS.join(", ")}`);
  return method;
}

/** Parses a path below `/v1`; with `/v1`, as documents write it, it is the same one. */
function parsePath(text: string): string {
  if (!text.startsWith("/")) throw new InvalidArgumentError("must begin with a slash: /users/me");
  if (/^\/(v1\/)?(live|sources\/[^/]+\/sse)(\?|$)/.test(text))
    throw new InvalidArgumentError("is a stream, which headwater source events --follow prints");
  if (/[{}#]/.test(text)) throw new InvalidArgumentError("must have ids in place of {id}, and no #");
  return text.replace(/^\/v1(?=\/)/, "");
}

/** Returns the body as it is written: numbers keep all of their digits. */
async function bodyOf(method: string, data: string | undefined): Promise<string | undefined> {
  if (data === undefined) return undefined;
  if (method !== "post" && method !== "put") throw new UsageError("--data: goes with post and put");
  return (await readData(data)).text;
}

async function readData(data: string): Promise<JsonText> {
  if (data === "-" || data === "@-") return await readJsonText("-");
  if (data.startsWith("@")) return await readJsonText(data.slice(1));
  try {
    return parseJsonOption(data);
  } catch (error) {
    throw new UsageError(`--data: ${(error as Error).message}`);
  }
}
