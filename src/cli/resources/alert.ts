import { Argument, type Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { fields, show, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { jsonOption, listCommand } from "./list.ts";

type AlertMail = Schemas["AlertSettings"]["mail"];

const WHEN = ["digest", "each", "off"] as const satisfies AlertMail[];

/** What an account should know of, and whether it is mailed (docs/alerts.md). */
export function alertCommands(program: Command, tools: RemoteTools): void {
  const alert = program.command("alert").description("see what you should know of, and how you are told");
  listCommand(alert, tools, {
    description: "list the last alerts of the account",
    read: (client, page) => client.alerts.list(page),
    columns: {
      time: ({ indexed_at_ms }) => timeOf(indexed_at_ms),
      type: ({ event }) => (event as { type?: unknown }).type,
      message: ({ metadata }) => metadata.summary,
    },
  });
  const mail = alert
    .command("mail")
    .description("show when alerts are mailed to you, or change it")
    .addArgument(new Argument("[when]", "at most once an hour, each by itself, or not at all").choices(WHEN));
  remoteAction<{ json?: boolean }>(jsonOption(mail), tools, async ({ client, options }, when) => {
    const settings = await (when === undefined
      ? client.alerts.settings()
      : client.alerts.updateSettings({ mail: when as AlertMail }));
    show(settings, options, ({ mail, email, is_mail_sent }) =>
      fields({ mail, to: email, sent: is_mail_sent ? "yes" : "not by this server" }),
    );
  });
}
