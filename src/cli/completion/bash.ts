import { type CompletedCommand, flat, nameOf } from "./command-tree.ts";

/** Returns a script that completes the commands and options of `headwater` in bash. */
export function bashScript(tree: CompletedCommand): string {
  const commands = flat(tree);
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => `"${path.join(" ")}"`);
  const words = commands.map(command => {
    const all = [...command.subcommands.map(nameOf), ...command.options.flatMap(({ names }) => names)];
    return `    "${command.path.join(" ")}") words="${all.join(" ")}" ;;`;
  });
  return `# Completion of headwater for bash
_headwater() {
  local i at= words= current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${at:+$at }\${COMP_WORDS[i]}" in
      ${paths.join("|")}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  case $at in
${words.join("\n")}
  esac
  case "$at $previous" in
${valueCases(commands).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _headwater headwater
`;
}

/** Behind an option with a value: its choices, or else files. */
const valueCases = (commands: CompletedCommand[]): string[] =>
  commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ names, choices }) => {
        const patterns = names.map(name => `"${path.join(" ")} ${name}"`);
        return `    ${patterns.join("|")}) words="${choices.join(" ")}" ;;`;
      }),
  );
