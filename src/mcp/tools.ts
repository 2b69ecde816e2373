import type { CallRoute, Given } from "../http/call-route.ts";
import type { AnyRoute } from "../http/route.ts";
import { compileCheck } from "../http/validate.ts";
import { invalidFields } from "../lib/errors.ts";
import { openPer } from "../lib/lazy.ts";
import { DOCS_TOOLS } from "./docs-tools.ts";
import { type Envelope, structured, type ToolResult, toolResult } from "./result.ts";
import { type InputSchema, inputOf, outputOf } from "./tool-schemas.ts";
import { READ_TOOLS, type ToolSpec } from "./tool-table.ts";

/** Who calls a tool, and for which organization. */
export type Calling = Pick<Given, "ctx" | "caller" | "orgId">;

/** A tool as `tools/list` shows it. */
export interface ShownTool {
  name: string;
  title: string;
  description: string;
  inputSchema: object;
  outputSchema: object;
  annotations: { title: string; readOnlyHint: true; openWorldHint: boolean };
}

export interface Tool {
  shown: ShownTool;
  /** Throws what the model is told. */
  call: (given: Record<string, unknown>, calling: Calling) => Promise<ToolResult>;
}

/** Returns the route with this operation id. Throws if there is none. */
export type FindRoute<Deps> = (id: string) => AnyRoute<Deps>;

/** Returns the tools by name, in the order in which they are listed. */
export function toolsOf<Deps>(find: FindRoute<Deps>, callRoute: CallRoute<Deps>): ReadonlyMap<string, Tool> {
  const ofRoutes = READ_TOOLS.map(spec => {
    const inOrganization = find(spec.ofOrganization ?? spec.route);
    return routeTool(spec, { own: find(spec.route), inOrganization }, callRoute);
  });
  const ofDocs = DOCS_TOOLS.map(
    ({ input, output, read, ...described }): Tool => ({
      shown: shownTool(described, input, output),
      call: async given => structured(await read(checked(input, given))),
    }),
  );
  return new Map([...ofRoutes, ...ofDocs].map(tool => [tool.shown.name, tool]));
}

const shownTool = (
  { name, title, description, reachesOut }: Pick<ToolSpec, "name" | "title" | "description" | "reachesOut">,
  inputSchema: object,
  outputSchema: object,
): ShownTool => ({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations: { title, readOnlyHint: true, openWorldHint: reachesOut === true },
});

interface Routes<Deps> {
  own: AnyRoute<Deps>;
  inOrganization: AnyRoute<Deps>;
}

function routeTool<Deps>(spec: ToolSpec, routes: Routes<Deps>, callRoute: CallRoute<Deps>): Tool {
  const { schema, parameterOf, inPath } = inputOf(routes.own, spec);
  return {
    shown: shownTool(spec, schema, outputOf(routes.own, spec)),
    async call(given, { ctx, caller, orgId }) {
      const route = orgId === undefined ? routes.own : routes.inOrganization;
      const named = Object.entries(checked(schema, given)).map(
        ([name, value]) => [parameterOf(name), value] as const,
      );
      const params = named.filter(([name]) => inPath(name)).map(([name, value]) => [name, String(value)]);
      const fields = named.filter(([name]) => !inPath(name));
      const envelope = await callRoute(route, {
        ...{ ctx, caller, orgId },
        params: { ...Object.fromEntries(params), ...(route.access.kind === "member" && { org_id: orgId }) },
        fields: { ...Object.fromEntries(fields), ...spec.always },
      });
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
