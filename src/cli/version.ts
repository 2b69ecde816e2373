import type { Command } from "commander";
import { AppError } from "../lib/errors.ts";
import { version } from "../lib/version.ts";
import { print } from "./output/print.ts";
import { clientFor } from "./remote/client.ts";
import { explain } from "./remote/explain.ts";
import { accessOptions, chooseAccess, type RemoteTools } from "./remote/remote-command.ts";

/** Somebody waits for one line. */
const TIMEOUT_MS = 5000;

/** `headwater version`, which `headwater --version` means. */
export function versionCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("version")
    .description("print this version, and that of the server if there is one");
  accessOptions(command).action(async (_options, self: Command) => {
    print(version);
    const access = await chooseAccess(self, tools).catch((error: unknown) => {
      if (error instanceof AppError) return null;
      throw error;
    });
    if (!access) return;
    try {
      const document = (await clientFor(access).request(
        "get",
        "/openapi.json",
        {},
        { timeoutMs: TIMEOUT_MS, maxRetries: 0 },
      )) as { info?: { version?: string } };
      print(`server ${document?.info?.version ?? "unknown"} (${access.url})`);
    } catch (error) {
      const explained = explain(error, access.url);
      if (!(explained instanceof AppError)) throw explained;
      // What was asked for is printed: a stopped server does not make this fail.
      process.stderr.write(`${explained.message}\n`);
    }
  });
}
