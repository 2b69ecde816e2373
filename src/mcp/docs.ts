import { readdir, readFile } from "node:fs/promises";
import { openOnce } from "../lib/lazy.ts";
import { packageRoot } from "../lib/package-root.ts";

/** A page of the documentation that comes with this release. */
export interface DocsPage {
  /** Its path in docs/ without `.md`. */
  name: string;
  title: string;
  text: string;
  sections: Section[];
}

/** A heading with what stands below it, up to the next heading. */
export interface Section {
  heading: string;
  text: string;
}

/** Returns the pages of docs/ and its folders, but for records of decisions, by name; read once. */
export const readDocs = async (): Promise<ReadonlyMap<string, DocsPage>> => docs.get();

const docs = openOnce(async () => {
  const found = await readdir(`${packageRoot}docs`, { recursive: true });
  const files = found.filter(file => /^(?!decisions\/)[a-z/-]+\.md$/.test(file)).sort();
  const pages = await Promise.all(
    files.map(async file => pageOf(file.slice(0, -3), await readFile(`${packageRoot}docs/${file}`, "utf8"))),
  );
  return new Map(pages.map(page => [page.name, page]));
});

function pageOf(name: string, text: string): DocsPage {
  const sections = sectionsOf(text);
  return { name, title: sections[0]?.heading ?? name, text, sections };
}

/** Divides a page at its headings; a line of code that begins with `#` is none. */
function sectionsOf(text: string): Section[] {
  const sections: Section[] = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    const [, heading] = (!isCode && /^#{1,4} (.+)$/.exec(line)) || [];
    const last = sections.at(-1);
    if (heading !== undefined) sections.push({ heading: heading.replaceAll(/[`*]/g, ""), text: `${line}\n` });
    else if (last) last.text += `${line}\n`;
  }
  return sections;
}

export interface Found {
  page: string;
  heading: string;
  /** The paragraph that has the words. */
  excerpt: string;
}

const MOST_FOUND = 8;
const EXCERPT_CHARS = 400;

/** Returns the sections that have the most of the words; one in a heading counts for three. */
export async function searchDocs(text: string): Promise<Found[]> {
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_$.-]+/gu) ?? [])];
  const count = (where: string) => words.filter(word => where.includes(word)).length;
  const pages = [...(await readDocs()).values()];
  const scored = pages.flatMap(page =>
    page.sections.map(section => {
      const heading = `${page.name} ${section.heading}`.toLowerCase();
      return { page, section, score: count(section.text.toLowerCase()) + 2 * count(heading) };
    }),
  );
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_FOUND)
    .map(({ page, section }) => {
      const paragraphs = section.text.split(/\n\s*\n/);
      const best = paragraphs.reduce((a, b) => (count(b.toLowerCase()) > count(a.toLowerCase()) ? b : a));
      return { page: page.name, heading: section.heading, excerpt: best.slice(0, EXCERPT_CHARS) };
    });
}
