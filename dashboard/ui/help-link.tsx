import { HELP, type HelpTopic } from "../lib/help";

/** A question mark beside what it explains, in a tab of its own: nothing that was typed is lost. */
export const HelpLink = ({ topic }: { topic: HelpTopic }) => (
  <a
    class="help"
    href={HELP[topic].address}
    target="_blank"
    rel="noopener"
    title={`Help: ${HELP[topic].title}`}
    aria-label={`Help: ${HELP[topic].title}`}
  >
    ?
  </a>
);
