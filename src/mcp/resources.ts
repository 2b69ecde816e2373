import type { CallRoute } from "../http/call-route.ts";
import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { readDocs } from "./docs.ts";
import { RpcError, URIS } from "./protocol.ts";
import { type Envelope, toolResult } from "./result.ts";
import type { Calling, FindRoute } from "./tools.ts";

interface ShownResource {
  uri: string;
  name: string;
  title: string;
  mimeType: string;
}

/** What clients can attach to a conversation: pages of the documentation, and sources. */
export interface Resources {
  list: (
    cursor: string | undefined,
    calling: Calling,
  ) => Promise<{ resources: ShownResource[]; nextCursor?: string }>;
  read: (
    uri: string,
    calling: Calling,
  ) => Promise<{ contents: { uri: string; mimeType: string; text: string }[] }>;
}

export const TEMPLATES = [
  {
    uriTemplate: `${URIS.docs}{page}`,
    name: "docs",
    title: "Documentation",
    description: "A page of this version's documentation.",
    mimeType: "text/markdown",
  },
  {
    uriTemplate: `${URIS.source}{source}`,
    name: "source",
    title: "Source",
    description: "A source, by its id or name slug.",
    mimeType: "application/json",
  },
];

const unknown = (uri: string) => new RpcError("invalidParams", "resource not found", { data: { uri } });

export function resourcesOf<Deps>(find: FindRoute<Deps>, callRoute: CallRoute<Deps>): Resources {
  const routes = { list: find("listMySources"), get: find("getSource") };
  return {
    async list(cursor, calling) {
      const { data, page_info: page } = (await callRoute(routes.list, {
        ...calling,
        params: {},
        fields: { limit: LIMITS.toolRows.value, ...(cursor !== undefined && { after: cursor }) },
      }).catch((error: unknown) => {
        throw error instanceof AppError && error.code === "invalid"
          ? new RpcError("invalidParams", "cursor must be that of an earlier page")
          : error;
      })) as Envelope;
      const sources = data as { id: string; name: string }[];
      // The first page has the documentation too.
      const pages = cursor === undefined ? [...(await readDocs()).values()] : [];
      const isLast = sources.length < LIMITS.toolRows.value;
      return {
        resources: [
          ...pages.map(({ name, title }) => ({
            uri: URIS.docs + name,
            name,
            title,
            mimeType: "text/markdown",
          })),
          ...sources.map(({ id, name }) => ({
            uri: URIS.source + id,
            name: id,
            title: name,
            mimeType: "application/json",
          })),
        ],
        ...(!isLast && page?.end_cursor && { nextCursor: page.end_cursor }),
      };
    },
    async read(uri, calling) {
      if (uri.startsWith(URIS.docs)) {
        const page = (await readDocs()).get(uri.slice(URIS.docs.length));
        if (!page) throw unknown(uri);
        return { contents: [{ uri, mimeType: "text/markdown", text: page.text }] };
      }
      const id = uri.startsWith(URIS.source) ? uri.slice(URIS.source.length) : "";
      if (id === "") throw unknown(uri);
      const source = (await callRoute(routes.get, { ...calling, params: { id }, fields: {} }).catch(
        (error: unknown) => {
          throw error instanceof AppError && error.code === "not-found" ? unknown(uri) : error;
        },
      )) as Envelope;
      const [content] = toolResult(source, {
        quotesStrangers: false,
        list: { isFirstPage: true, isSparse: false },
      }).content;
      return { contents: [{ uri, mimeType: "application/json", text: content?.text ?? "" }] };
    },
  };
}
