import type { Declaration } from "../apply/schema.ts";
import { plain } from "../output.ts";
import type { Imported } from "./declare.ts";
import { type HandKind, KINDS_OF_HANDS } from "./hands.ts";

/** What an import is about. */
export interface About {
  /** Address of the other server. */
  url: string;
  /** Name of the file beside the report. */
  file: string;
}

/** Returns how many things of each kind a declaration has. */
export const countsOf = ({ project: _, ...parts }: Declaration): Record<string, number> =>
  Object.fromEntries(Object.entries(parts).map(([part, things]) => [part, Object.keys(things).length]));

/** Returns the report for a person, in Markdown. */
export function reportOf({ declaration, hands }: Imported, { url, file }: About): string {
  const counts = Object.entries(countsOf(declaration)).map(([part, count]) => `${count} ${part}`);
  const sections = (Object.keys(KINDS_OF_HANDS) as HandKind[]).flatMap(kind => {
    const lines = hands
      .filter(hand => hand.kind === kind)
      .map(({ thing, text }) => `- **${marked(thing)}**: ${marked(text)}`);
    return lines.length === 0 ? [] : [`## ${KINDS_OF_HANDS[kind]}\n\n${lines.join("\n")}`];
  });
  const head = `# Imported from ${url}

\`${file}\` has ${counts.join(", ") || "nothing"}. Nothing was changed on either server. Read it, see to what is below, then:

    headwater apply -f ${file} --plan
    headwater apply -f ${file}

The other server goes on: disable its sources once these work, so that nothing is done twice. Events and their history stay there.
Addresses of webhooks are in the file as they are; some have secrets in them.`;
  return `${[head, ...sections].join("\n\n")}\n`;
}

/** One line without tags, whatever the other server calls its things. */
const marked = (text: string): string => plain(text).replaceAll(/[<>]+/g, " ");
