import { type CompletedCommand, flat, nameOf } from "./command-tree.ts";

/** Returns a script that completes the commands, options and names of `headwater` in bash. */
export function bashScript(tree: CompletedCommand): string {
  const commands = flat(tree);
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => `"${path.join(" ")}"`);
  const words = commands.map(command => {
    const all = [...command.subcommands.map(nameOf), ...command.options.flatMap(({ names }) => names)];
    const names = command.takesName ? " names=yes" : "";
    return `    "${command.path.join(" ")}") words="${all.join(" ")}"${names} ;;`;
  });
  return `# Completion of headwater for bash
_headwater() {
  local i rest=\${COMP_LINE:0:COMP_POINT} at= words= names= line=()
  # What bash parts at a colon and the like is one word for headwater.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $i == 0 || $rest == [[:blank:]]* ]]; then
      line+=("\${COMP_WORDS[i]}")
    else
      line[\${#line[@]}-1]+=\${COMP_WORDS[i]}
    fi
    rest=\${rest#"\${rest%%[![:blank:]]*}"} rest=\${rest#"\${COMP_WORDS[i]}"}
  done
  local current=\${line[\${#line[@]}-1]} previous=\${line[\${#line[@]}-2]}
  for ((i = 1; i < \${#line[@]} - 1; i++)); do
    case "\${at:+$at }\${line[i]}" in
      ${paths.join("|")}) at="\${at:+$at }\${line[i]}" ;;
    esac
  done
  case $at in
${words.join("\n")}
  esac
  case "$at $previous" in
${valueCases(commands).join("\n")}
  esac
  COMPREPLY=()
  if [[ $names && $current != -* ]]; then _headwater_names "$current" "\${line[@]:1}"; fi
  if ((\${#COMPREPLY[@]} == 0)); then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
}
# Adds the names that the server knows. They are text: none is expanded, and each is quoted as the word is.
_headwater_names() {
  local name quote= current=$1 kept=\${1%"\${COMP_WORDS[COMP_CWORD]}"}
  case \${current//\\\\[\\"\\']/} in
    \\"*|\\'*) quote=\${current:0:1} ;;
    *[\\"\\']*) return ;;
  esac
  if [[ $current == *[:=@] ]]; then kept=$current; fi
  while IFS= read -r name; do
    case $quote in
      \\") if [[ $name == *[\\"\\$\\\`\\\\!]* ]]; then continue; fi ;;
      \\') if [[ $name == *\\'* ]]; then continue; fi ;;
      *) printf -v name %q "$name" ;;
    esac
    COMPREPLY+=("\${name#"$kept"}")
  done < <(command headwater __complete -- "\${@:2}" 2>/dev/null </dev/null)
}
complete -o default -F _headwater headwater
`;
}

/** Behind an option with a value: its choices or names, or else files. */
const valueCases = (commands: CompletedCommand[]): string[] =>
  commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ names, choices, takesName }) => {
        const patterns = names.map(name => `"${path.join(" ")} ${name}"`);
        return `    ${patterns.join("|")}) words="${choices.join(" ")}" names=${takesName ? "yes" : ""} ;;`;
      }),
  );
