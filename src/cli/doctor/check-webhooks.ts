import { Webhooks } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { type Finding, listed, note, ok } from "./finding.ts";

/** Ids read of each kind. */
const MOST = 1000;

/** Lists webhooks whose endpoints fail, and those that were disabled for it: only their owners can change that. */
export async function checkWebhooks({ mongo }: Pick<Platform, "mongo">): Promise<Finding[]> {
  const [failing, disabled] = await Promise.all([
    Webhooks(mongo)
      .find({ active: true, failing_since_ms: { $gt: 0 } }, { _id: 1 })
      .hint("failing")
      .limit(MOST)
      .lean(),
    Webhooks(mongo)
      .find({ disabled_reason: { $gt: "" } }, { _id: 1 })
      .hint("disabled")
      .limit(MOST)
      .lean(),
  ]);
  const found: Finding[] = [];
  const idsOf = (webhooks: { _id: string }[]) => listed(webhooks.map(({ _id }) => _id));
  if (failing.length > 0) {
    const message = `${failing.length} are failing: ${idsOf(failing)}`;
    found.push(
      note("webhooks", message, "their owners see each attempt (docs/troubleshooting.md, question 6)"),
    );
  }
  if (disabled.length > 0) {
    const message = `${disabled.length} were disabled: ${idsOf(disabled)}`;
    found.push(
      note("webhooks", message, "their owners enable and recover them (docs/troubleshooting.md, question 7)"),
    );
  }
  return found.length > 0 ? found : [ok("webhooks", "none is failing or disabled")];
}
