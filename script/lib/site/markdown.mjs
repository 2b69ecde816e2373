import GithubSlugger from "github-slugger";
import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import yaml from "highlight.js/lib/languages/yaml";
import { Marked } from "marked";

const LANGUAGES = { sh: bash, js: javascript, json, python, ts: typescript, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

const parser = new Marked();

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escapeHtml = text => text.replaceAll(/[&<>"]/g, one => escapes[one]);

/** The words of a token, without its marks. */
export function plainText(token) {
  if (token.type === "html" || token.type === "space") return "";
  if (token.type === "table") return [token.header, ...token.rows].flat().map(plainText).join(" ");
  const inner = token.items ?? token.tokens;
  const between = token.type === "list" || token.type === "list_item" ? " " : "";
  return inner ? inner.map(plainText).join(between) : (token.text ?? "");
}

/** The first heading of a document. */
export const titleOf = markdown => {
  const heading = parser.lexer(markdown).find(({ type }) => type === "heading");
  return heading ? plainText(heading) : "";
};

/**
 * Renders a document: its HTML, its headings with the anchors that GitHub gives them, its first paragraph, and its sections for the
 * search. `addressOf` and `imageOf` return what links and pictures lead to; a link to nothing becomes its text.
 */
export function render(markdown, { addressOf, imageOf }) {
  const tokens = parser.lexer(markdown);
  const slugger = new GithubSlugger();
  const headings = [];
  const sections = [];
  for (const token of tokens) {
    if (token.type === "heading") {
      const heading = { depth: token.depth, text: plainText(token) };
      token.heading = { ...heading, id: slugger.slug(heading.text) };
      headings.push(token.heading);
      sections.push({ ...token.heading, words: [] });
    } else sections.at(-1)?.words.push(plainText(token));
  }
  const description = plainText(tokens.find(({ type }) => type === "paragraph") ?? { text: "" });
  const html = new Marked({ renderer: rendererFor({ addressOf, imageOf }) }).parser(tokens);
  return { html, headings, description: description.replaceAll(/\s+/g, " "), sections };
}

const rendererFor = ({ addressOf, imageOf }) => ({
  heading({ tokens, depth, heading }) {
    const inner = this.parser.parseInline(tokens);
    if (!heading) return `<h${depth}>${inner}</h${depth}>`;
    const anchor = `<a class="anchor" href="#${heading.id}" aria-label="Link to this heading">#</a>`;
    return `<h${depth} id="${heading.id}">${inner}${depth > 1 ? anchor : ""}</h${depth}>`;
  },
  code({ text, lang = "" }) {
    const [language = ""] = lang.split(/\s/);
    const isKnown = highlighter.getLanguage(language) !== undefined;
    const code = isKnown ? highlighter.highlight(text, { language }).value : escapeHtml(text);
    return `<pre class="scroll"><code>${code}</code></pre>`;
  },
  link({ href, tokens }) {
    const inner = this.parser.parseInline(tokens);
    const address = addressOf(href);
    return address === null ? inner : `<a href="${escapeHtml(address)}">${inner}</a>`;
  },
  image: ({ href, text }) =>
    `<img src="${escapeHtml(imageOf(href))}" alt="${escapeHtml(text)}" loading="lazy">`,
  html: ({ text }) =>
    text
      .replaceAll(/\bsrc="([^":]+)"/g, (_, href) => `src="${escapeHtml(imageOf(href))}"`)
      .replaceAll(/\bhref="([^"]+)"/g, (_, href) => `href="${escapeHtml(addressOf(href) ?? "#")}"`),
  table(token) {
    const cell = ({ tokens, header }) => {
      const name = header ? "th" : "td";
      return `<${name}>${this.parser.parseInline(tokens)}</${name}>`;
    };
    const row = cells => `<tr>${cells.map(cell).join("")}</tr>`;
    const rows = token.rows.map(row).join("");
    return `<div class="scroll"><table><thead>${row(token.header)}</thead><tbody>${rows}</tbody></table></div>`;
  },
});

/** The document with other links: for readers of Markdown, whose addresses end in `.md`. */
export function withLinks(markdown, { addressOf, imageOf }) {
  const relink = (whole, picture, text, href) => {
    const address = picture ? imageOf(href) : addressOf(href);
    return address === null ? whole : `${picture}${text}(${address})`;
  };
  return markdown
    .split(/(^ *```.*?^ *```)/ms)
    .map((part, i) => (i % 2 ? part : part.replaceAll(/(!?)(\[[^\]]*\])\(([^()\s]+)\)/g, relink)))
    .join("");
}
