import { relative } from "node:path";

const COLOURS = [36, 33, 32, 35, 34, 31];

/**
 * Returns a function `(name, line) => void` that prints a line of a process as `name | line`, with the names in one
 * column. Names are coloured on a terminal, unless NO_COLOR is set.
 */
export function linePrinter(names, stream = process.stdout) {
  const width = Math.max(...names.map(name => name.length));
  const coloured = stream.isTTY && !process.env.NO_COLOR;
  return (name, line) => {
    const label = `${name.padEnd(width)} |`;
    const colour = COLOURS[names.indexOf(name) % COLOURS.length];
    stream.write(`${coloured ? `\u001b[${colour}m${label}\u001b[0m` : label} ${line}\n`);
  };
}

/** Returns a path as a person who is in the present folder would write it. */
export function pathFromHere(file) {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") ? file : path;
}
