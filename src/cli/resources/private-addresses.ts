import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { UsageError } from "../input.ts";
import { fields, show } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { type JsonOption, jsonOption } from "./list.ts";
import { commandOn } from "./subject.ts";

interface Options extends JsonOption {
  open?: string[];
  none?: boolean;
}

/** Adds the command with which operators open private addresses to the code of a connection (docs/connections.md#private-addresses). */
export function privateAddressesCommand(connection: Command, tools: RemoteTools): void {
  // No completion: the connection is mostly one of another account, which an operator does not list.
  const subject = { word: "connection", given: "apn_…, of any account", names: null };
  const command = commandOn(
    connection,
    "private-addresses",
    subject,
    "for operators: show, or replace, the private addresses that code with a connection may connect to",
  )
    .option(
      "--open <host:port>",
      "open this address, such as 10.0.0.5:5432, and close others; may be repeated",
      (one, earlier: string[] = []) => [...earlier, one],
    )
    .option("--none", "close all");
  remoteAction<Options>(jsonOption(command), tools, async ({ client, options }, id = "") => {
    const { open, none = false } = options;
    if (none && open) throw new UsageError("--none: goes without --open");
    const found =
      open || none
        ? await client.connections.openPrivateAddresses(id, open ?? [])
        : await client.connections.privateAddresses(id);
    show(found, options, detailOf);
  });
}

function detailOf({ id, name, app, owner_id, private_addresses }: Schemas["PrivateAddresses"]): string {
  return fields({ id, name, app, account: owner_id, open: private_addresses.join(", ") || "none" });
}
