/** Start of every HTML page of Headwater's own. `title` must be safe in HTML. */
export const pageHead = (title: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
  '<meta name="viewport" content="width=device-width, initial-scale=1">';

const STYLE =
  "body{font:16px/1.5 sans-serif;max-width:44em;margin:2em auto;padding:0 1em}label,input,button{font:inherit}";

/** Returns a page of text, without scripts. `title` and `body` must be safe in HTML. */
export const textPage = (title: string, body: string): string =>
  `${pageHead(title)}<style>${STYLE}</style></head><body>${body}</body></html>`;

/** The content security policy of a text page: nothing is loaded, and forms are sent to this origin only. */
export const TEXT_PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
