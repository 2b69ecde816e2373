import { posix } from "node:path";

/** Where the site is. */
export const SITE = "/docs";

/** The address of a page's Markdown. */
export const markdownAddress = address => (address === SITE ? `${SITE}/index.md` : `${address}.md`);

/** From one path of the server to another, without naming its root: a proxy may have added a prefix. */
export function relativeTo(from, to) {
  const [path, anchor] = to.split("#");
  if (path === from && anchor !== undefined) return `#${anchor}`;
  const folder = posix.relative(posix.dirname(from), posix.dirname(path));
  const relative = folder === "" ? posix.basename(path) : `${folder}/${posix.basename(path)}`;
  return anchor === undefined ? relative : `${relative}#${anchor}`;
}
