/** A line of a stack, and the place in the component's own files that it names. */
export interface Frame {
  text: string;
  file?: string;
  line?: number;
}

/** Files of the component are relative: those of packages, of Node and of Deno begin otherwise. */
const PLACE = /^\s+at (?:.* \(|async )?((?!node:|ext:|file:|npm:|\/)[^()]+?):(\d+):\d+\)?$/;

/** The frames of a stack, without the message above them; the first with a place is its author's. */
export function framesOf(stack: string): Frame[] {
  const lines = stack.split("\n");
  const first = lines.findIndex(line => /^\s+at /.test(line));
  if (first === -1) return [];
  return lines.slice(first).map(text => {
    const [, file, line] = PLACE.exec(text) ?? [];
    return file === undefined ? { text } : { text, file, line: Number(line) };
  });
}

/** Which of a component's files a stack means: it names them from the folder of the main one; undefined if none has that name. */
export function fileInStack(paths: string[], entry: string, named: string): string | undefined {
  if (paths.length === 1) return paths[0];
  const folder = entry.split("/").slice(0, -1);
  for (const part of named.split("/")) {
    if (part === "..") folder.pop();
    else folder.push(part);
  }
  const path = folder.join("/");
  return paths.includes(path) ? path : undefined;
}
