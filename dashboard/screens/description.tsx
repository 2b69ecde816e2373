import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import { type Code, codeBody } from "../api/code";
import { inAccount } from "../api/session";
import { Badge, Notice } from "../ui/basics";
import { Prose } from "../ui/prose";

type Described = Schemas["DescribedCode"];

/** What the code in an editor is, as it was checked last. `check` is for the editor. */
export function useDescription() {
  const [described, setDescribed] = useState<Described | null>(null);
  const latest = useRef<Code | null>(null);
  const check = async (code: Code, file = "") => {
    latest.current = code;
    const found = await inAccount().components.describe(codeBody(code));
    // Code that can't be parsed is described in no time, and what was there before it may come later.
    if (latest.current === code) setDescribed(found);
    return found.errors.filter(error => (error.file ?? code.entry) === file);
  };
  return { described, check };
}

/** Such as `lib/app.mjs, line 3`; `word` begins it where there is one file. */
export const placed = ({ file, line }: { file: string | null; line: number | null }, word = "line") =>
  `${file === null ? word : `${file}, line`} ${line}`;

/** The package of an import, which may name a version or a range of its own: `lodash` of `lodash@^4`. */
function packageOf(specifier: string): string {
  const at = specifier.indexOf("@", 1);
  return at === -1 ? specifier : specifier.slice(0, at);
}

interface AboutProps {
  described: Described | null;
  /** What else is wrong, such as why it was not deployed. */
  children?: ComponentChildren;
}

/** What the code is, at the foot of its editor: its name, its packages with their versions, and what is wrong with it. */
export const About = ({ described, children }: AboutProps) => (
  // Keyboards scroll it.
  <section class="card-foot stack tight" tabIndex={0} aria-label="Component">
    {children}
    {described === null && <p class="muted">It is being read …</p>}
    {described?.errors.map(one => (
      <Notice key={one.message} tone="bad">
        {one.line !== null && `${placed(one, "Line")}: `}
        {one.message}
      </Notice>
    ))}
    {described?.component && <Named component={described.component} />}
  </section>
);

const Named = ({ component }: { component: NonNullable<Described["component"]> }) => (
  <div class="row">
    <strong>{component.name}</strong> <span class="sub">{component.version}</span>
    {component.description && (
      <span class="muted">
        <Prose text={component.description} />
      </span>
    )}
    {Object.entries(component.packages ?? {}).map(([name, version]) => (
      <Badge key={name} isPlain tone="info">
        {packageOf(name)}@{version}
      </Badge>
    ))}
  </div>
);
