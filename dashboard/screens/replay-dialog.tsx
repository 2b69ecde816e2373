import { useEffect, useState } from "preact/hooks";
import { type Replay, readReplay, startReplay, stopReplay } from "../api/calls";
import { messageOf } from "../api/client";
import { useResource } from "../api/resource";
import { count, counted } from "../lib/format";
import { Button, Notice } from "../ui/basics";
import { useCountCheck } from "../ui/count-check";
import { Dialog } from "../ui/dialog";
import { Check, Select } from "../ui/form";

const POLL_MS = 1000;
const ANY = "";
const STATES = [
  { value: "failed", label: "Failed" },
  { value: "cancelled", label: "Cancelled" },
  { value: "pending", label: "Pending" },
  { value: "delivered", label: "Delivered" },
  { value: ANY, label: "Any state" },
];

type Filter = Record<string, string | number>;

interface ReplayDialogProps {
  /** Those of the moment when the dialog opens: what was counted is what is sent. */
  filter: Filter;
  onClose: () => void;
}

/**
 * Counts what the present filters match, and sends it again, over all pages: of what they match, what failed, unless its
 * reader chooses otherwise. Something besides the state must narrow it.
 */
export function ReplayDialog({ filter: given, onClose }: ReplayDialogProps) {
  const [filter] = useState(given);
  const { state: _, ...narrowing } = filter;
  return (
    <Dialog isQuestion title="Replay by filter" onClose={onClose}>
      {Object.keys(narrowing).length > 0 ? (
        <Chosen filter={filter} onClose={onClose} />
      ) : (
        <>
          <p>
            Narrow the list first, such as by its webhook or its time: without a filter, everything that was
            ever sent would be sent again.
          </p>
          <div class="row end">
            <Button onClick={onClose}>Close</Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function Chosen({ filter, onClose }: ReplayDialogProps) {
  const [state, setState] = useState(String(filter.state ?? "failed"));
  const [isAllowed, setAllowed] = useState(false);
  const { state: _, ...rest } = filter;
  const chosen: Filter = state === ANY ? rest : { ...rest, state };
  const counting = useResource(
    async call => ({ ...(await startReplay({ ...chosen, dry_run: true }, call)), state }),
    [state],
  );
  const delivered = useResource(
    async call =>
      state === ANY ? await startReplay({ ...rest, state: "delivered", dry_run: true }, call) : null,
    [state],
  );
  // That of another state is kept until this one is counted.
  const found = counting.data?.state === state ? counting.data : undefined;
  const again = state === "delivered" ? found?.count : (delivered.data?.count ?? 0);
  const check = useCountCheck(found?.count ?? 0);
  const [replay, setReplay] = useState<Replay | null>(null);
  if (replay) return <Progress replay={replay} onChange={setReplay} onClose={onClose} />;
  return (
    <>
      {counting.error !== undefined && <Notice tone="bad">{messageOf(counting.error)}</Notice>}
      <Select
        label="State"
        value={state}
        choices={STATES}
        onChange={next => {
          setState(next);
          setAllowed(false);
        }}
      />
      <p>
        {found
          ? `${found.count_is_exact ? "" : "About "}${counted(found.count, "delivery matches", "deliveries match")} these filters. Each is sent again under its own id, at the pace of its webhook.`
          : counting.error === undefined && "Counting …"}
      </p>
      {again !== undefined && again > 0 && (
        <Check
          label={`Send ${counted(again, "delivery", "deliveries")} once more that arrived already`}
          isOn={isAllowed}
          onChange={setAllowed}
        />
      )}
      {check.field}
      <div class="row end">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="danger"
          isDisabled={
            !found ||
            found.count === 0 ||
            !check.isDone ||
            again === undefined ||
            (again > 0 && !isAllowed) ||
            delivered.isLoading
          }
          onClick={async () => setReplay(await startReplay(chosen))}
        >
          {found ? `Replay ${count(found.count)}` : "Replay"}
        </Button>
      </div>
    </>
  );
}

interface ProgressProps {
  replay: Replay;
  onChange: (replay: Replay) => void;
  onClose: () => void;
}

function Progress({ replay, onChange, onClose }: ProgressProps) {
  useEffect(() => {
    if (replay.id == null || replay.state !== "running") return;
    const timer = setTimeout(
      // Another object where it failed, so that it is asked again.
      async () => onChange(await readReplay(replay.id ?? "").catch(() => ({ ...replay }))),
      POLL_MS,
    );
    return () => clearTimeout(timer);
  }, [replay]);
  const share = replay.count ? (100 * (replay.replayed + replay.skipped)) / replay.count : 100;
  return (
    <>
      <div class="stack tight" role="status">
        <p>
          {count(replay.replayed)} of {count(replay.count)} are on their way
          {replay.skipped > 0 && `, ${count(replay.skipped)} could not be sent`}.
        </p>
        {replay.reason && <Notice tone="bad">It ended early: {replay.reason}.</Notice>}
        <div class="meter">
          <div style={{ width: `${share}%` }} />
        </div>
      </div>
      <div class="row end">
        {replay.state === "running" && (
          <Button onClick={async () => replay.id && (await stopReplay(replay.id))}>Stop</Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </div>
    </>
  );
}
