import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { configureProps } from "../../props/configure.ts";
import type { DescribedProp } from "../../sandbox/protocol.ts";
import { placeOf } from "../output.ts";
import type { WantedComponent } from "./component.ts";

type Described = Pick<Schemas["Component"], "configurable_props" | "additional_props">;

/**
 * Returns what is wrong with a source or an action of a file before anything is saved: code that can't be, and props that its
 * component does not know or lacks. Other values are for the server to check. Throws the client's errors.
 */
export async function propProblems(
  client: Headwater,
  at: string,
  props: Record<string, unknown>,
  component: WantedComponent,
): Promise<string[]> {
  if ("saved" in component) return problemsOf(at, props, component.saved);
  if (component.code === null) return [];
  const body = { component_code: component.code };
  const { errors, component: described } = await client.request("post", "/components/describe", { body });
  if (described !== null) return problemsOf(at, props, described);
  return errors.map(error => `${at}: ${error.path}: ${error.message}${placeOf(error)}`);
}

/** As `configureProps` says it. */
const OF_NAMES = new Set(["is required", "the component has no such prop"]);

function problemsOf(at: string, props: Record<string, unknown>, described: Described): string[] {
  try {
    configureProps(
      described.configurable_props as DescribedProp[],
      props,
      {},
      { mayHaveOthers: described.additional_props },
    );
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.fields
      .filter(({ message }) => OF_NAMES.has(message))
      .map(({ path, message }) => `${at}.${path.replace(/^configured_props/, "props")}: ${message}`);
  }
}
