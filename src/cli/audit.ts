import type { Command } from "commander";
import type { Schemas } from "../../clients/typescript/src/index.ts";
import { parseTime } from "./input.ts";
import { timeOf } from "./output.ts";
import { type RemoteTools, remoteAction } from "./remote/remote-command.ts";
import { firstRows, type ListOptions, listOptions, printRows } from "./resources/list.ts";

type Entry = Schemas["AuditEntry"];

interface AuditOptions extends ListOptions {
  action?: string;
  by?: string;
  thing?: string;
  since?: number;
  until?: number;
  installation?: true;
}

const HELP = `
  headwater audit --thing wh_…                     who changed this webhook
  headwater audit --action source.deleted --since 7d
  headwater audit --by headwater                   what the platform did by itself
  headwater audit --installation                   what operators did, for operators`;

/** A page of the API has so many rows at the most. */
const PAGE = 100;

/** Who changed what of the account, and from where (docs/rest-api.md#audit-log). */
export function auditCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("audit")
    .description("list who changed, replayed or deleted what, and from where")
    .option("--action <action>", "only this, such as webhook.updated")
    .option("--by <id>", "only by this user, API key or session; or operator, or headwater")
    .option("--thing <id>", "only what was done to this thing")
    .option("--since <time>", "only since a date, or a time ago such as 2h", text => parseTime(text))
    .option("--until <time>", "only until a date, or a time ago", text => parseTime(text))
    .option("--installation", "what operators did to the whole installation, for operators")
    .addHelpText("after", HELP);
  remoteAction<AuditOptions>(listOptions(command), tools, async ({ client, options }) => {
    const { limit, action, by, thing, since, until, installation } = options;
    const wanted = {
      limit: Math.min(limit, PAGE),
      ...(action !== undefined && { action }),
      ...(by !== undefined && { actor_id: by }),
      ...(thing !== undefined && { thing_id: thing }),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
    };
    const list = installation ? client.installationLog(wanted) : client.auditLog(wanted);
    printRows(await firstRows(list, limit), options, {
      time: ({ at_ms }) => timeOf(at_ms),
      who: whoOf,
      action: ({ action }) => action,
      thing: ({ thing }) => thing && (thing.name === null ? thing.id : `${thing.name} (${thing.id})`),
      fields: ({ fields, reason }) => reason ?? fields.join(", "),
      from: ({ address }) => address,
    });
  });
}

/** `anna, key "deploy script" (hw_0123…)`, `anna, session`, `headwater`. */
function whoOf({ actor: { kind, user_id, user_name, name, prefix } }: Entry): string {
  if (kind === "operator" || kind === "headwater") return kind;
  const user = user_name ?? user_id;
  if (kind === "session") return `${user}, session`;
  return `${user}, key${name === null ? "" : ` "${name}"`}${prefix === null ? "" : ` (${prefix}…)`}`;
}
