import { type CompletedCommand, flat, nameOf } from "./command-tree.ts";

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** An entry of `_describe`, in which a colon parts name and description. */
const entry = (name: string, description: string) => quoted(`${name.replaceAll(":", "\\:")}:${description}`);

/** Returns a script that completes the commands and options of `headwater` in zsh. */
export function zshScript(tree: CompletedCommand): string {
  const commands = flat(tree);
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => quoted(path.join(" ")));
  const lists = commands.map(({ path, subcommands, options }) => {
    const below = subcommands.map(one => entry(nameOf(one), one.description));
    const given = options.flatMap(({ names, description }) => names.map(name => entry(name, description)));
    return `    ${quoted(path.join(" "))}) below=(${below.join(" ")}); given=(${given.join(" ")}) ;;`;
  });
  return `#compdef headwater
# Completion of headwater for zsh
_headwater() {
  local i at= known
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
  elif (( \${#below} )); then
    _describe command below
  else
    _files
  fi
}
compdef _headwater headwater
`;
}

/** Behind an option with a value: its choices, or else files. */
const valueCases = (commands: CompletedCommand[]): string[] =>
  commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ names, choices }) => {
        const patterns = names.map(name => quoted(`${path.join(" ")} ${name}`));
        const complete =
          choices.length > 0 ? `values=(${choices.map(quoted).join(" ")}); _describe value values` : "_files";
        return `    ${patterns.join("|")}) ${complete}; return ;;`;
      }),
  );
