import type { Command } from "commander";
import type { JsonText } from "../lib/json-text.ts";
import { parseJsonOption } from "./json-option.ts";
import type { Run } from "./run.ts";

export function emitCommand(program: Command, run: Run): void {
  program
    .command("emit")
    .description("emit an event as a workflow or source; prints {emit_id}")
    .argument("<emitter id>", "p_… or dc_…")
    .requiredOption("--event <json>", "the event, any JSON value", parseJsonOption)
    .option("--name <channel>", "channel (default: the default channel)")
    .option("--id <id>", "identity of the event: repeating it does not emit the event again")
    .action((emitterId: string, options: { event: JsonText; name?: string; id?: string }) =>
      run(async platform => {
        const { emit } = await import("./emit-event.ts");
        return emit(platform, {
          emitter_id: emitterId,
          emit_id: options.id,
          event: options.event,
          ...(options.name !== undefined && { name: options.name }),
        });
      }),
    );
}
