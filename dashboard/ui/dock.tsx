import type { ComponentChildren } from "preact";

interface DockProps {
  /** The card of the code. */
  code: ComponentChildren;
  /** Panes. */
  children: ComponentChildren;
}

/** Where code is written: the editor stays in sight, and what belongs to it stands side by side below it. */
export const Dock = ({ code, children }: DockProps) => (
  <div class="dock">
    <section class="card dock-code">{code}</section>
    <div class="dock-panes">{children}</div>
  </div>
);

interface PaneProps {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of a dock, which scrolls by itself where its content is long. */
export const Pane = ({ title, actions, children }: PaneProps) => (
  <section class="card pane">
    <div class="card-head">
      <h2>{title}</h2>
      {actions}
    </div>
    {/* Keyboards scroll it. */}
    <section class="card-body" tabIndex={0} aria-label={title}>
      {children}
    </section>
  </section>
);
