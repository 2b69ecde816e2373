import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client";
import { isViewer } from "../api/session";
import { now } from "../lib/clock";
import { copyText } from "../lib/copy";
import { focusMain } from "../lib/focus";
import { ago, exactTime } from "../lib/format";
import { Icon, type IconName } from "./icon";
import { toast } from "./toasts";

type Kind = "primary" | "danger" | "ghost" | "plain";

interface ButtonProps {
  children?: ComponentChildren;
  icon?: IconName;
  kind?: Kind;
  isSmall?: boolean;
  /** Needed where the button shows an icon only. */
  label?: string;
  type?: "button" | "submit";
  isDisabled?: boolean;
  /** It changes or runs what the shown account owns, which a viewer of an organization may not. */
  changes?: boolean;
  /** A promise disables the button until it is settled; its error is shown. */
  onClick?: () => unknown;
}

const classOf = (kind: Kind, isSmall: boolean, isIcon: boolean) =>
  `button ${kind}${isSmall ? " small" : ""}${isIcon ? " icon" : ""}`;

export function Button({
  children,
  icon,
  kind = "plain",
  isSmall = false,
  label,
  type = "button",
  isDisabled: isOff = false,
  changes = false,
  onClick,
}: ButtonProps) {
  const isBarred = changes && isViewer.value;
  const isDisabled = isOff || isBarred;
  const [isBusy, setBusy] = useState(false);
  const self = useRef<HTMLButtonElement>(null);
  // What was done may have ended the button too. An effect would be undone when the button, and its focus, are gone.
  useLayoutEffect(
    () => () => {
      if (self.current === document.activeElement) focusMain();
    },
    [],
  );
  // What is disabled loses the focus too.
  useLayoutEffect(() => {
    if (!isDisabled || self.current !== document.activeElement) return;
    self.current?.blur();
    focusMain();
  }, [isDisabled]);
  const act = async () => {
    if (isBusy) return;
    const result = onClick?.();
    if (!(result instanceof Promise)) return;
    setBusy(true);
    try {
      await result;
    } catch (error) {
      toast(messageOf(error), "bad");
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      ref={self}
      type={type}
      class={classOf(kind, isSmall, icon !== undefined && !children)}
      aria-label={label}
      title={isBarred ? "You view this organization: this needs the role member." : label}
      // Not `disabled` while it is busy: the focus would be lost.
      disabled={isDisabled}
      aria-busy={isBusy}
      onClick={type === "submit" ? undefined : act}
    >
      {icon && <Icon name={icon} size={isSmall ? 14 : 16} />}
      {children}
    </button>
  );
}

interface LinkButtonProps {
  href: string;
  children: ComponentChildren;
  icon?: IconName;
  kind?: Kind;
  isSmall?: boolean;
  /** It leads to a form that is of no use to a viewer of an organization. */
  changes?: boolean;
}

export const LinkButton = ({
  href,
  children,
  icon,
  kind = "plain",
  isSmall = false,
  changes = false,
}: LinkButtonProps) =>
  changes && isViewer.value ? null : (
    <a class={classOf(kind, isSmall, false)} href={href}>
      {icon && <Icon name={icon} size={isSmall ? 14 : 16} />}
      {children}
    </a>
  );

export type Tone = "good" | "bad" | "warn" | "info" | "accent" | "none";

export const Badge = ({
  tone = "none",
  children,
  isLive = false,
  isPlain = false,
}: {
  tone?: Tone;
  children: ComponentChildren;
  isLive?: boolean;
  isPlain?: boolean;
}) => <span class={`badge ${tone}${isLive ? " live" : ""}${isPlain ? " plain" : ""}`}>{children}</span>;

/** "5 min ago", with the exact time for pointers and for screen readers. */
export function Time(props: { ms: number | null | undefined } | { seconds: number | null }) {
  const ms = "ms" in props ? props.ms : props.seconds && 1000 * props.seconds;
  // Its tick may be seconds ago: what happened since would lie in the future.
  const at = Math.max(now.value, Date.now());
  if (ms === null || ms === undefined) return <span class="muted blank">–</span>;
  return (
    <time class="nowrap" dateTime={new Date(ms).toISOString()} title={exactTime(ms)}>
      {ago(ms, at)}
    </time>
  );
}

/** A time with its date beside it, where there is room for both. */
export const Moment = ({ ms }: { ms: number }) => (
  <>
    <Time ms={ms} /> <span class="sub">{exactTime(ms)}</span>
  </>
);

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 1600);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <Button
      kind="ghost"
      isSmall
      icon={isDone ? "check" : "copy"}
      label={isDone ? "Copied" : label}
      onClick={async () => setDone(await copyText(text))}
    />
  );
}

/** A text to copy: a command, a key. */
export const CopyBlock = ({ text, label }: { text: string; label: string }) => (
  <div class="copy-block">
    {/* Keyboards scroll it. */}
    <section tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
    <CopyButton text={text} label={`Copy ${label.charAt(0).toLowerCase()}${label.slice(1)}`} />
  </div>
);

/** An id or a short value with its copy button. */
export const Copyable = ({ text, label }: { text: string; label: string }) => (
  <span class="copyable">
    <code>{text}</code>
    <CopyButton text={text} label={`Copy ${label}`} />
  </span>
);

const NOTICE_ICONS: Record<string, IconName> = { info: "info", bad: "alert", warn: "alert", good: "check" };

export const Notice = ({
  tone = "info",
  children,
}: {
  tone?: "info" | "bad" | "warn" | "good";
  children: ComponentChildren;
}) => (
  <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : undefined}>
    <Icon name={NOTICE_ICONS[tone] ?? "info"} />
    <div>{children}</div>
  </div>
);

interface PageProps {
  title: string;
  crumbs?: ComponentChildren;
  about?: ComponentChildren;
  badge?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A screen: its heading, what can be done, and its content. */
export function Page({ title, crumbs, about, badge, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Headwater`;
  }, [title]);
  return (
    <main class="page" id="main" tabIndex={-1}>
      <header class="page-head">
        <div>
          {crumbs && (
            <nav class="crumbs" aria-label="Breadcrumb">
              {crumbs}
            </nav>
          )}
          <div class="row">
            <h1>{title}</h1>
            {badge}
          </div>
          {about && <p>{about}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

export const Card = ({
  title,
  actions,
  children,
  isPadded = true,
}: {
  title?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  isPadded?: boolean;
}) => (
  <section class="card">
    {title && (
      <div class="card-head">
        <h2>{title}</h2>
        {actions}
      </div>
    )}
    {isPadded ? <div class="card-body">{children}</div> : children}
  </section>
);

export interface Tab {
  label: string;
  href: string;
  isCurrent: boolean;
}

export function Tabs({ tabs, label }: { tabs: Tab[]; label: string }) {
  const bar = useRef<HTMLElement>(null);
  const current = tabs.findIndex(({ isCurrent }) => isCurrent);
  useEffect(() => {
    const tab = bar.current?.children[current];
    // Only sideways: the page stays where it is.
    if (tab instanceof HTMLElement)
      bar.current?.scrollTo({ left: tab.offsetLeft - bar.current.offsetLeft - 40 });
  }, [current]);
  return (
    <nav ref={bar} class="tabs" aria-label={label}>
      {tabs.map(tab => (
        <a key={tab.href} href={tab.href} aria-current={tab.isCurrent ? "page" : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
