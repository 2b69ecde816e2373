/** A built program of the project as a process `{name, program, args}`, from the path of its source. */
export function builtProgram(source) {
  return { name: source, program: "node", args: [`dist/${source.replace(/\.ts$/, ".js")}`] };
}

/** The same process run from its TypeScript source, without a build. Processes of other programs stay as they are. */
export function sourceProgram(process) {
  const source = sourceOf(process);
  if (process.program !== "node" || !source) return process;
  const script = process.args.findIndex(isBuilt);
  const args = [
    ...process.args.slice(0, script),
    "--import",
    "tsx",
    source,
    ...process.args.slice(script + 1),
  ];
  return { ...process, args };
}

/** The path of the source that a process runs, built or not; undefined if it runs another program. */
export function sourceOf({ args }) {
  const built = args.find(isBuilt);
  if (built) return built.replace(/^dist\//, "").replace(/\.js$/, ".ts");
  return args.find(arg => arg.endsWith(".ts"));
}

function isBuilt(arg) {
  return arg.startsWith("dist/") && arg.endsWith(".js");
}
