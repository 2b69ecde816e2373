import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { SITE } from "./address.mjs";
import { titleOf } from "./markdown.mjs";

const DECISIONS = "docs/decisions";

/** Pages that are not named after their file. */
const ADDRESSES = {
  "docs/README.md": SITE,
  "README.md": `${SITE}/overview`,
  "deploy/README.md": `${SITE}/deploy`,
};

/** The address of a document's page; null for a file that is none. */
export function addressOf(file) {
  if (!file.endsWith(".md")) return null;
  const [, inside] = /^docs\/(.+)\.md$/.exec(file) ?? [];
  if (ADDRESSES[file] !== undefined) return ADDRESSES[file];
  if (inside !== undefined) return `${SITE}/${inside}`;
  return file.includes("/") ? null : `${SITE}/${basename(file, ".md").toLowerCase()}`;
}

/**
 * Reads the site of `root`: its pages, each with address, title and Markdown, and the sections of its navigation (docs/site.yaml).
 * What each error means is taken from the program that was compiled into `compiled`.
 */
export async function readPages(root, compiled) {
  const pages = new Map();
  const add = page => pages.set(page.address, { title: titleOf(page.markdown), ...page });
  for (const file of documentsOf(root)) {
    add({ file, address: addressOf(file), markdown: readFileSync(join(root, file), "utf8") });
  }
  const decisions = [...pages.values()].filter(({ file }) => file.startsWith(`${DECISIONS}/`));
  add({ file: `${DECISIONS}/README.md`, address: `${SITE}/decisions`, markdown: listOfDecisions(decisions) });
  add({ file: "docs/errors", address: `${SITE}/errors`, markdown: await errorsText(compiled) });
  const sections = Object.entries(parse(readFileSync(join(root, "docs/site.yaml"), "utf8"))).map(
    ([title, entries]) => ({ title, entries: entries.map(entry => entryOf(entry, pages)) }),
  );
  return { pages, sections };
}

/** An entry of the navigation: what is shown, and its address. */
function entryOf(entry, pages) {
  const [name, label] = typeof entry === "string" ? [entry] : Object.entries(entry)[0];
  const address = addressOf(name) ?? `${SITE}/${name}`;
  return { address, label: label ?? pages.get(address)?.title ?? name };
}

function documentsOf(root) {
  const inDocs = readdirSync(join(root, "docs"), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith(".md"))
    .map(entry => join(entry.parentPath, entry.name).slice(root.length).replace(/^\//, ""));
  const others = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/README.md"];
  return [...inDocs.sort(), ...others.filter(file => existsSync(join(root, file)))];
}

const listOfDecisions = decisions =>
  "# Decisions\n\nWhy disputable things are as they are: what was decided, what was not taken, and the price.\n\n" +
  decisions.map(({ file, title }) => `- [${title}](${basename(file)})\n`).join("");

async function errorsText(compiled) {
  const { PROBLEMS } = await import(pathToFileURL(join(compiled, "src/http/problem.js")).href);
  const items = Object.entries(PROBLEMS).map(
    ([code, { status, title, meaning }]) => `## ${code}\n\n**${status} ${title}.** ${meaning}\n`,
  );
  return `# Errors\n\nEach error of the API is a problem (RFC 9457). Its \`type\` ends with one of these words.\n\n${items.join("\n")}`;
}
