import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../api/client";
import { liveState } from "../api/live";
import { payloadOf, runIdOf, type Summary, wholeEvent } from "../api/source";
import { to } from "../lib/address";
import { clockTime, exactTime } from "../lib/format";
import { Badge, Button, CopyButton, LinkButton } from "../ui/basics";
import { Icon } from "../ui/icon";
import { JsonTree } from "../ui/json-tree";
import { Failed, Loading } from "../ui/states";
import { toast } from "../ui/toasts";
import type { LiveRows } from "./live-rows";
import { RunError } from "./run-error";

const PREVIEW_LENGTH = 220;

/** In place of rows that are not there yet, or could not be read; nothing once they are. */
export function NoRows({ live }: { live: LiveRows }) {
  const { stored, rows } = live;
  if (rows.length > 0 || stored.data !== undefined) return null;
  if (stored.error !== undefined) return <Failed error={stored.error} onRetry={stored.reload} />;
  return <Loading />;
}

/** "Live", or what the stream does instead. */
export function LiveBadge({ isPaused }: { isPaused: boolean }) {
  if (isPaused) return <Badge tone="warn">Paused</Badge>;
  if (liveState.value === "live")
    return (
      <Badge tone="good" isLive>
        Live
      </Badge>
    );
  return <Badge>{liveState.value === "ended" ? "Stream ended" : "Connecting"}</Badge>;
}

export const LiveControls = ({ live }: { live: LiveRows }) => (
  <>
    <LiveBadge isPaused={live.isPaused} />
    <Button isSmall icon={live.isPaused ? "play" : "pause"} onClick={() => live.setPaused(!live.isPaused)}>
      {live.isPaused ? "Continue" : "Pause"}
    </Button>
  </>
);

/** Above the rows: how many arrived while the list stood still. */
export const Waiting = ({ live }: { live: LiveRows }) =>
  live.waiting === 0 ? null : (
    <button
      type="button"
      class="waiting"
      onClick={() => {
        live.setPaused(false);
        scrollTo({ top: 0 });
      }}
    >
      <Icon name="refresh" size={14} /> {live.waiting} new
    </button>
  );

/** A line of JSON for a row. */
function preview(row: Summary): string {
  if (row.metadata.summary) return row.metadata.summary;
  const { event } = row;
  if (row.metadata.name === "$logs") return String(event.message ?? "");
  if (row.metadata.name === "$errors")
    return (event.error as { message?: string } | undefined)?.message ?? "Error";
  return (JSON.stringify(payloadOf(row)) ?? "").slice(0, PREVIEW_LENGTH);
}

function ChannelBadge({ row }: { row: Summary }) {
  const { name } = row.metadata;
  if (name === "$errors") return <Badge tone="bad">error</Badge>;
  if (name === "$logs") return <Badge tone="info">{String(row.event.level ?? "log")}</Badge>;
  return <Badge tone={name ? "accent" : "none"}>{name || "default"}</Badge>;
}

interface EventRowProps {
  row: Summary;
  isSource?: boolean;
  /** Absent where events are not deleted. */
  onDelete?: (row: Summary) => void;
}

/** One event: a line, and below it on request the whole of it. */
export function EventRow({ row, isSource = true, onDelete }: EventRowProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li class="event">
      <button type="button" class="event-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "down" : "right"} size={14} />
        <time class="mono" title={exactTime(row.indexed_at_ms)}>
          {clockTime(row.indexed_at_ms)}
        </time>
        <ChannelBadge row={row} />
        <span class="event-text">{preview(row)}</span>
      </button>
      {isOpen && <EventDetail row={row} isSource={isSource} onDelete={onDelete} />}
    </li>
  );
}

function EventDetail({ row, isSource = true, onDelete }: EventRowProps) {
  const [whole, setWhole] = useState(row);
  useEffect(() => {
    if (!row.metadata.truncated || !isSource) return;
    wholeEvent(row).then(setWhole, error => toast(messageOf(error), "bad"));
  }, []);
  const payload = payloadOf(whole);
  const { emitter_id: emitter, emit_id, name } = row.metadata;
  const runId = runIdOf(emit_id);
  const isError = name === "$errors";
  return (
    <div class="event-detail">
      <div class="row">
        <code class="sub">{row.id}</code>
        <span class="grow" />
        <CopyButton text={JSON.stringify(payload, null, 2)} label="Copy event as JSON" />
        {onDelete && (
          <Button kind="ghost" isSmall icon="trash" label="Delete event" onClick={() => onDelete(row)} />
        )}
        {runId && (
          <LinkButton isSmall icon="play" href={to(`/runs/${runId}`)}>
            Run
          </LinkButton>
        )}
        {isError && isSource && (
          <LinkButton isSmall icon="code" href={to(`/sources/${emitter}/code`, { input: row.id })}>
            Open in the editor
          </LinkButton>
        )}
        <LinkButton isSmall icon="route" href={to(`/events/${emitter}/${row.id}`)}>
          Where did it go?
        </LinkButton>
      </div>
      {whole.metadata.truncated && <p class="sub">This event is cut to its first KB.</p>}
      {isError ? (
        <RunError event={whole.event} sourceId={isSource ? emitter : undefined} errorId={row.id} />
      ) : (
        <JsonTree value={payload} />
      )}
    </div>
  );
}
