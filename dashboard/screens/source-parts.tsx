import type { Schemas } from "../api/client";
import { Badge } from "../ui/basics";

/** What the command that makes a first source sends. */
export const FIRST_SOURCE = {
  name: "hello",
  component_code:
    "export default { name: 'Hello', version: '0.0.1', props: { http: '$.interface.http' }, run(event) { this.$emit(event.body) } }",
};

/** How a run ended. */
export const RunOutcome = ({ outcome }: Pick<Schemas["Run"], "outcome">) => (
  <Badge tone={outcome === "ok" ? "good" : "bad"}>{outcome}</Badge>
);

/** Whether a source runs. */
export const SourceBadge = ({ source: { active } }: { source: Pick<Schemas["Source"], "active"> }) => (
  <Badge tone={active ? "good" : "none"}>{active ? "Active" : "Inactive"}</Badge>
);
