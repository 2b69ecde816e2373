import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bundleForBrowsers } from "./browser-bundle.mjs";
import { markdownAddress, relativeTo, SITE } from "./site/address.mjs";
import { pageHtml } from "./site/layout.mjs";
import { Links } from "./site/links.mjs";
import { render, withLinks } from "./site/markdown.mjs";
import { Output } from "./site/output.mjs";
import { readPages } from "./site/pages.mjs";
import { searchIndex } from "./site/search-index.mjs";

/**
 * Builds the documentation site of `root` into `outDir`: from its Markdown, from site/ and, for what each error means, from the program
 * in `compiled`. src/ops/docs-site.ts serves it. Throws UserError for code that can't be parsed.
 */
export async function buildSite(root, compiled, outDir) {
  const { pages, sections } = await readPages(root, compiled);
  const output = new Output(outDir);
  const links = new Links(root, pages);
  const rendered = renderAll({ root, pages, links, output });
  const assets = {
    ...(await bundle(root, output)),
    index: output.asset("search.json", searchIndex(rendered, addressesForUsers(sections))),
  };
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const one of rendered) {
    const { address } = one.page;
    output.page(address, "html", pageHtml({ ...one, sections, assets, version }));
    output.page(markdownAddress(address), "md", one.markdown);
  }
  for (const file of links.files) output.page(`${SITE}/files/${file}`, "txt", readFileSync(join(root, file)));
  output.page("/llms.txt", "md", llmsText(sections, rendered));
  output.finish();
}

/** The addresses of all sections but the last, which is for those who change Headwater. */
const addressesForUsers = sections =>
  new Set(sections.slice(0, -1).flatMap(({ entries }) => entries.map(({ address }) => address)));

/** Renders all pages, and the lists of folders that they link to. */
function renderAll({ root, pages, links, output }) {
  const imageName = file => output.asset(basename(file), readFileSync(file));
  const renderOne = page => {
    const { address } = page;
    const imageOf = href =>
      /^https?:/.test(href) ? href : relativeTo(address, links.image(page, href, imageName));
    const hrefOf = href => {
      const target = links.resolve(page, href);
      return target?.startsWith("/") ? relativeTo(address, target) : target;
    };
    const markdownHrefOf = href => {
      const target = links.resolve(page, href);
      if (!target?.startsWith("/")) return target;
      const [path, ...anchor] = target.split("#");
      const shown = pages.has(path) ? markdownAddress(path) : path;
      return relativeTo(markdownAddress(address), [shown, ...anchor].join("#"));
    };
    return {
      page,
      ...render(page.markdown, { addressOf: hrefOf, imageOf }),
      markdown: withLinks(page.markdown, { addressOf: markdownHrefOf, imageOf }),
    };
  };
  const rendered = [...pages.values()].map(renderOne);
  return [...rendered, ...[...links.folders].map(folder => renderOne(folderPage(root, folder)))];
}

function folderPage(root, folder) {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(join(root, folder).length + 1));
  const list = files.sort().map(file => `- [${file}](${file})\n`);
  const title = `Files of ${folder}`;
  const markdown = `# ${title}\n\n${list.join("")}`;
  return { file: `${folder}/README.md`, address: `${SITE}/files/${folder}`, title, markdown };
}

/** Bundles what the browser gets, from site/; returns the names of the files by what they are. */
async function bundle(root, output) {
  const metafile = await bundleForBrowsers(root, "the documentation site", {
    entryPoints: ["main.ts", "colours.ts", "style.css"].map(name => join(root, "site", name)),
    outdir: output.assets,
  });
  const named = end =>
    basename(Object.entries(metafile.outputs).find(([, one]) => one.entryPoint?.endsWith(end))[0]);
  return { main: named("main.ts"), colours: named("colours.ts"), style: named("style.css") };
}

/** The index for programs that read: https://llmstxt.org. */
function llmsText(sections, rendered) {
  const byAddress = new Map(rendered.map(one => [one.page.address, one]));
  const lists = sections.map(({ title, entries }) => {
    const items = entries
      .filter(({ address }) => byAddress.has(address))
      .map(
        ({ address, label }) =>
          `- [${label}](${markdownAddress(address)}): ${byAddress.get(address).description}`,
      );
    return `## ${title}\n\n${items.join("\n")}\n`;
  });
  return `# Headwater\n\n> ${byAddress.get(`${SITE}/overview`)?.description ?? "Event sources, subscriptions, webhooks."}\n\n${lists.join("\n")}`;
}
