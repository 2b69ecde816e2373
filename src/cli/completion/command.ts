import { Argument, type Command } from "commander";
import { print } from "../output.ts";
import type { RemoteTools } from "../remote/remote-command.ts";
import { namesCommand } from "./names-command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

const HELP = `
  bash   headwater completion bash > ~/.local/share/bash-completion/completions/headwater
  zsh    headwater completion zsh > "\${fpath[1]}/_headwater"      (and compinit in ~/.zshrc)
  fish   headwater completion fish > ~/.config/fish/completions/headwater.fish`;

export function completionCommand(program: Command, tools: RemoteTools): void {
  namesCommand(program, tools);
  program
    .command("completion")
    .description("print a script that completes commands, options and the names of your things in your shell")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText("after", HELP)
    .action(async (shell: Shell) => {
      const { commandTree } = await import("./command-tree.ts");
      print((await scripts[shell]())(commandTree(program)).trimEnd());
    });
}

const scripts = {
  bash: async () => (await import("./bash.ts")).bashScript,
  zsh: async () => (await import("./zsh.ts")).zshScript,
  fish: async () => (await import("./fish.ts")).fishScript,
};
