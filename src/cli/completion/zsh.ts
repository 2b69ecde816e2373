import { type CompletedCommand, flat, nameOf } from "./command-tree.ts";

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** An entry of `_describe`, in which a colon parts name and description. */
const entry = (name: string, description: string) => quoted(`${name.replaceAll(":", "\\:")}:${description}`);

/** Returns a script that completes the commands, options and names of `headwater` in zsh. */
export function zshScript(tree: CompletedCommand): string {
  const commands = flat(tree);
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => quoted(path.join(" ")));
  const lists = commands.map(({ path, subcommands, options, takesName }) => {
    const below = subcommands.map(one => entry(nameOf(one), one.description));
    const given = options.flatMap(({ names, description }) => names.map(name => entry(name, description)));
    return `    ${quoted(path.join(" "))}) below=(${below.join(" ")}); given=(${given.join(" ")})${takesName ? "; named=yes" : ""} ;;`;
  });
  return `#compdef headwater
# Completion of headwater for zsh
_headwater() {
  local i at= named= known
  local -a below given values
  known=(${paths.join(" ")})
  for ((i = 2; i < CURRENT; i++)); do
    if (( \${known[(Ie)\${at:+$at }\${words[i]}]} )); then at="\${at:+$at }\${words[i]}"; fi
  done
  case "$at \${words[CURRENT-1]}" in
${valueCases(commands).join("\n")}
  esac
  case $at in
${lists.join("\n")}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe -o option given
  elif [[ -n $named ]]; then
    _headwater_names
  elif (( \${#below} )); then
    _describe command below
  else
    _files
  fi
}
# Offers the names that the server knows. They are text: none is expanded, and zsh quotes each.
_headwater_names() {
  local -a names
  names=(\${(f)"$(command headwater __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)"})
  compadd -a names
}
compdef _headwater headwater
`;
}

/** Behind an option with a value: its choices or names, or else files. */
const valueCases = (commands: CompletedCommand[]): string[] =>
  commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ names, choices, takesName }) => {
        const patterns = names.map(name => quoted(`${path.join(" ")} ${name}`));
        const complete =
          choices.length > 0
            ? `values=(${choices.map(quoted).join(" ")}); _describe value values`
            : takesName
              ? "_headwater_names"
              : "_files";
        return `    ${patterns.join("|")}) ${complete}; return ;;`;
      }),
  );
