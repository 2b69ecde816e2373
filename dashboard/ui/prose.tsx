import { safeLink } from "../lib/address";

/** To a page of somebody else, beside this one; a text only, where the address is none of a page. */
export function OutsideLink({ label, url }: { label: string; url: string }) {
  const link = safeLink(url);
  if (link === undefined) return <>{label}</>;
  return (
    <a href={link} target="_blank" rel="noopener noreferrer">
      {label}
    </a>
  );
}

const PART = /\[([^\]]+)\]\(([^\s)]+)\)|\*\*([^*]+)\*\*|`([^`]+)`/g;

/** A description as authors of components write them: links, bold and code of Markdown, and the rest as it is. */
export function Prose({ text }: { text: string }) {
  const shown = [];
  let end = 0;
  for (const match of text.matchAll(PART)) {
    const [all, label, url, bold, code] = match;
    shown.push(text.slice(end, match.index));
    end = match.index + all.length;
    if (url !== undefined && safeLink(url) !== undefined) {
      shown.push(<OutsideLink label={label ?? url} url={url} />);
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
