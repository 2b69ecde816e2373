import type { CallRoute, Given } from "../http/call-route.ts";
import type { AnyRoute } from "../http/route.ts";
import { compileCheck } from "../http/validate.ts";
import { invalidFields } from "../lib/errors.ts";
import { openPer } from "../lib/lazy.ts";
import { DOCS_TOOLS } from "./docs-tools.ts";
import { type CheckConfigured, secretsCheck } from "./no-secrets.ts";
import { done, type Envelope, structured, type ToolResult, toolResult } from "./result.ts";
import { type Shorten, shortener } from "./short-schema.ts";
import { type InputSchema, inputOf, outputOf } from "./tool-schemas.ts";
import { READ_TOOLS, type ToolSpec } from "./tool-table.ts";
import { WRITE_TOOLS, type WriteToolSpec } from "./write-table.ts";

/** Who calls a tool, and for which organization. */
export interface Calling extends Pick<Given, "ctx" | "caller" | "orgId"> {
  /** False: there are no tools that change anything. */
  mayWrite: boolean;
}

/** A tool as `tools/list` shows it. */
export interface ShownTool {
  name: string;
  title: string;
  description: string;
  inputSchema: object;
  outputSchema: object;
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint: boolean;
  };
}

export interface Tool {
  shown: ShownTool;
  /** True if it changes something. */
  writes: boolean;
  /** Throws what the model is told. */
  call: (given: Record<string, unknown>, calling: Calling) => Promise<ToolResult>;
}

/** Returns the route with this operation id. Throws if there is none. */
export type FindRoute<Deps> = (id: string) => AnyRoute<Deps>;

/** True if the tool is there for who calls: for all others, there is none of this name. */
export const isOffered = ({ writes }: Tool, { mayWrite }: Calling): boolean => mayWrite || !writes;

/** Returns the tools by name, in the order in which they are listed. */
export function toolsOf<Deps>(find: FindRoute<Deps>, callRoute: CallRoute<Deps>): ReadonlyMap<string, Tool> {
  const making = { callRoute, shorten: shortener() };
  const check = secretsCheck(find, callRoute);
  const routesOf = ({ route, ofOrganization = route }: ToolSpec): Routes<Deps> => ({
    own: find(route),
    inOrganization: find(ofOrganization),
  });
  const reading = READ_TOOLS.map(spec => routeTool(spec, routesOf(spec), making));
  const writing = WRITE_TOOLS.map(spec => routeTool(spec, routesOf(spec), making, spec.configures && check));
  const ofDocs = DOCS_TOOLS.map(
    ({ input, output, read, ...described }): Tool => ({
      shown: shownTool(described, input, output),
      writes: false,
      call: async given => structured(await read(checked(input, given))),
    }),
  );
  return new Map([...reading, ...ofDocs, ...writing].map(tool => [tool.shown.name, tool]));
}

const shownTool = (
  { name, title, description, reachesOut, writes }: Omit<ToolSpec, "route">,
  inputSchema: object,
  outputSchema: object,
): ShownTool => ({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations: {
    title,
    readOnlyHint: writes === undefined,
    ...(writes && { destructiveHint: writes.isDestructive, idempotentHint: writes.isIdempotent }),
    openWorldHint: reachesOut === true,
  },
});

interface Routes<Deps> {
  own: AnyRoute<Deps>;
  inOrganization: AnyRoute<Deps>;
}

function routeTool<Deps>(
  spec: ToolSpec | WriteToolSpec,
  routes: Routes<Deps>,
  { callRoute, shorten }: { callRoute: CallRoute<Deps>; shorten: Shorten },
  check: CheckConfigured = async given => given,
): Tool {
  const { schema, parameterOf, inPath } = inputOf(routes.own, spec);
  return {
    shown: shownTool(spec, schema, outputOf(routes.own, spec, shorten)),
    writes: spec.writes !== undefined,
    async call(given, calling) {
      const { ctx, caller, orgId } = calling;
      const route = orgId === undefined ? routes.own : routes.inOrganization;
      const named = Object.entries(await check(checked(schema, given), calling)).map(
        ([name, value]) => [parameterOf(name), value] as const,
      );
      const params = named.filter(([name]) => inPath(name)).map(([name, value]) => [name, String(value)]);
      const fields = named.filter(([name]) => !inPath(name));
      const envelope = await callRoute(route, {
        ...{ ctx, caller, orgId },
        params: { ...Object.fromEntries(params), ...(route.access.kind === "member" && { org_id: orgId }) },
        fields: { ...Object.fromEntries(fields), ...spec.always },
      });
      if (envelope === null) return done();
      return toolResult(envelope as Envelope, {
        quotesStrangers: spec.quotesStrangers ?? false,
        list: { isFirstPage: given.cursor === undefined, isSparse: spec.isSparse ?? false },
      });
    },
  };
}

const checkOf = openPer((schema: InputSchema) => compileCheck(schema, "body"));

/** Returns the arguments with their defaults. Throws `invalid`, which names those that are wrong. */
function checked(schema: InputSchema, given: Record<string, unknown>): Record<string, unknown> {
  const found = structuredClone(given);
  const errors = checkOf(schema)(found);
  if (errors.length > 0) throw invalidFields(errors);
  return found;
}
