import { type CompletedCommand, type CompletedOption, flat, nameOf } from "./command-tree.ts";

const NAMES = "'(__headwater_names)'";
const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** Returns a script that completes the commands, options and names of `headwater` in fish. */
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
# The names that the server knows. They are text: none is expanded, and fish quotes each.
function __headwater_names
    command headwater __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null </dev/null
end
${commands.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, subcommands, options, takesName }: CompletedCommand): string[] {
  const at = `complete -c headwater -n ${quoted(`__headwater_at "${path.join(" ")}"`)}`;
  return [
    ...subcommands.map(one => `${at} -f -a ${quoted(nameOf(one))} -d ${quoted(one.description)}`),
    ...(takesName ? [`${at} -f -a ${NAMES}`] : []),
    ...options.map(option => `${at} ${optionWords(option)}`),
  ];
}

function optionWords({ names, description, takesValue, choices, takesName }: CompletedOption): string {
  const flags = names.map(name => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const words = choices.length > 0 ? quoted(choices.join(" ")) : takesName ? NAMES : "";
  const values = words !== "" ? ` -x -a ${words}` : takesValue ? " -r" : "";
  return `${flags.join(" ")} -d ${quoted(description)}${values}`;
}
