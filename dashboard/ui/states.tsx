import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ApiError, isReachable, messageOf } from "../api/client";
import type { Resource } from "../api/resource";
import { loadMe } from "../api/session";
import { orgId } from "../lib/shown-account";
import { Button, CopyBlock, Notice } from "./basics";
import { Icon, type IconName } from "./icon";

export const Loading = ({ lines = 4 }: { lines?: number }) => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, i) => (
      <div key={i} />
    ))}
  </div>
);

export function Failed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const isMissing = error instanceof ApiError && error.status === 404;
  useEffect(() => {
    // Perhaps the reader is no member any more.
    if (isMissing && orgId.value !== null) loadMe().catch(() => undefined);
  }, [isMissing]);
  return (
    <div class="state failed" role="alert">
      <span class="blob">
        <Icon name="alert" size={24} />
      </span>
      <h2>{isMissing ? "There is nothing here" : "This did not load"}</h2>
      <p>{isMissing ? "It does not exist, or it belongs to another account." : messageOf(error)}</p>
      {!isMissing && (
        <Button icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Above what was loaded before; while a store is away, the banner says it. */
const Outdated = ({ error, onRetry }: { error: unknown; onRetry: () => void }) => (
  <Notice tone="bad">
    <div class="spread">
      <span>This could not be loaded again: {messageOf(error)}</span>
      <Button isSmall icon="refresh" onClick={onRetry}>
        Try again
      </Button>
    </div>
  </Notice>
);

export const NothingMatches = ({ onClear }: { onClear: () => void }) => (
  <div class="state">
    <span class="blob">
      <Icon name="search" size={24} />
    </span>
    <h2>Nothing matches</h2>
    <p>No entry fits these filters.</p>
    <Button icon="x" onClick={onClear}>
      Clear filters
    </Button>
  </div>
);

interface NothingYetProps {
  icon: IconName;
  title: string;
  children: ComponentChildren;
  /** The command that fills the list. */
  command?: string;
  action?: ComponentChildren;
}

export const NothingYet = ({ icon, title, children, command, action }: NothingYetProps) => (
  <div class="state">
    <span class="blob">
      <Icon name={icon} size={24} />
    </span>
    <h2>{title}</h2>
    <p>{children}</p>
    {command && <CopyBlock text={command} label="Command" />}
    {action}
  </div>
);

/** Loading, failed, or what was loaded; with a notice if it could not be loaded again. */
export function Loaded<T>({
  resource,
  children,
  lines,
}: {
  resource: Resource<T>;
  children: (data: T) => ComponentChildren;
  lines?: number;
}) {
  const { data, error, reload } = resource;
  if (data !== undefined) {
    return (
      <>
        {error !== undefined && isReachable.value && <Outdated error={error} onRetry={reload} />}
        {children(data)}
      </>
    );
  }
  if (error !== undefined) return <Failed error={error} onRetry={reload} />;
  return <Loading lines={lines ?? 4} />;
}
