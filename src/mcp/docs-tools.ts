import { invalidField, notFound } from "../lib/errors.ts";
import { type DocsPage, readDocs, searchDocs } from "./docs.ts";
import type { InputSchema } from "./tool-schemas.ts";

/** A tool that reads what the release has with it: no account, and so no route. */
interface DocsTool {
  name: string;
  title: string;
  description: string;
  input: InputSchema;
  output: object;
  read: (given: Record<string, unknown>) => Promise<object>;
}

/** A longer page is shown by its headings. */
const WHOLE_PAGE_CHARS = 12_000;

const text = (description: string) => ({ type: "string", minLength: 1, maxLength: 200, description });
const textProperty = { type: "string" };

export const DOCS_TOOLS: readonly DocsTool[] = [
  {
    name: "search_docs",
    title: "Search the documentation",
    description: "Find sections of this version's documentation by words. read_doc has the whole of one.",
    input: {
      type: "object",
      properties: { text: text("Words, such as `retry schedule`.") },
      required: ["text"],
      additionalProperties: false,
    },
    output: {
      type: "object",
      properties: {
        data: {
          type: "array",
          items: {
            type: "object",
            properties: { page: textProperty, heading: textProperty, excerpt: textProperty },
          },
        },
      },
      required: ["data"],
    },
    read: async given => ({ data: await searchDocs(String(given.text)) }),
  },
  {
    name: "read_doc",
    title: "Read the documentation",
    description:
      "Read a page of this version's documentation, or one section of it by its heading. Pages: see search_docs.",
    input: {
      type: "object",
      properties: {
        page: text("Such as `rest-api`."),
        heading: text("Of the section; the whole page without it."),
      },
      required: ["page"],
      additionalProperties: false,
    },
    output: {
      type: "object",
      properties: {
        data: {
          type: "object",
          properties: {
            page: textProperty,
            text: { type: "string", description: "Markdown." },
            headings: {
              type: "array",
              items: textProperty,
              description: "Of a long page, which is read by section.",
            },
          },
        },
      },
      required: ["data"],
    },
    async read(given) {
      const pages = await readDocs();
      const page = pages.get(String(given.page));
      if (!page) throw invalidField("body", "page", `must be one of ${[...pages.keys()].join(", ")}`);
      return { data: { page: page.name, ...shown(page, given.heading) } };
    },
  },
];

/** Returns the section with this heading, or the page: a long one as its beginning and its headings. */
function shown({ text: whole, sections }: DocsPage, heading: unknown): { text: string; headings?: string[] } {
  if (heading !== undefined) {
    const wanted = String(heading).toLowerCase();
    const section = sections.find(one => one.heading.toLowerCase() === wanted);
    if (!section) throw notFound("heading");
    return { text: section.text };
  }
  if (whole.length <= WHOLE_PAGE_CHARS) return { text: whole };
  return { text: sections[0]?.text ?? "", headings: sections.slice(1).map(one => one.heading) };
}
