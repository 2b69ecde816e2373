const COLOURS = [36, 33, 32, 35, 34, 31];

/**
 * Prints lines of several processes as `name | line`, the names in columns; in colours only on a terminal
 * (and not with NO_COLOR). Gives `(name, line) => void`.
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
