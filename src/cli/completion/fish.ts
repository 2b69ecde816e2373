import { type CompletedCommand, type CompletedOption, flat, nameOf } from "./command-tree.ts";

const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** Returns a script that completes the commands and options of `headwater` in fish. */
export function fishScript(tree: CompletedCommand): string {
  const commands = flat(tree);
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => quoted(path.join(" ")));
  return `# Completion of headwater for fish
set -g __headwater_paths ${paths.join(" ")}
function __headwater_at
    set -l at ""
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        if contains -- "$next" $__headwater_paths
            set at "$next"
        end
    end
    test "$at" = "$argv[1]"
end
${commands.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, subcommands, options }: CompletedCommand): string[] {
  const at = `complete -c headwater -n ${quoted(`__headwater_at "${path.join(" ")}"`)}`;
  return [
    ...subcommands.map(one => `${at} -f -a ${quoted(nameOf(one))} -d ${quoted(one.description)}`),
    ...options.map(option => `${at} ${optionWords(option)}`),
  ];
}

function optionWords({ names, description, takesValue, choices }: CompletedOption): string {
  const flags = names.map(name => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takesValue ? " -r" : "";
  return `${flags.join(" ")} -d ${quoted(description)}${values}`;
}
