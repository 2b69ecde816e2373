import { safeLink } from "../lib/address";

const PART = /\[([^\]]+)\]\(([^\s)]+)\)|\*\*([^*]+)\*\*|`([^`]+)`/g;

/** A description as authors of components write them: links, bold and code of Markdown, and the rest as it is. */
export function Prose({ text }: { text: string }) {
  const shown = [];
  let end = 0;
  for (const match of text.matchAll(PART)) {
    const [all, label, url, bold, code] = match;
    shown.push(text.slice(end, match.index));
    end = match.index + all.length;
    const link = url === undefined ? undefined : safeLink(url);
    if (link !== undefined) {
      shown.push(
        <a href={link} target="_blank" rel="noopener noreferrer">
          {label}
        </a>,
      );
    } else if (bold !== undefined) shown.push(<strong>{bold}</strong>);
    else if (code !== undefined) shown.push(<code>{code}</code>);
    else shown.push(all);
  }
  return (
    <>
      {shown}
      {text.slice(end)}
    </>
  );
}
