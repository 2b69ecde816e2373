import { useState } from "preact/hooks";
import { headwater, PreconditionFailedError, type Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { usePaged } from "../api/paged";
import type { SourceResource } from "../api/source";
import { Badge, Button, Time } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { TextField } from "../ui/form";
import { later } from "../ui/later";
import { List } from "../ui/list";
import { toast } from "../ui/toasts";
import type { VersionDiffProps } from "./version-diff";

type Version = Schemas["CodeVersion"];

const VersionDiff = later<VersionDiffProps>(async () => (await import("./version-diff")).VersionDiff);

/** The versions of a source's code: who deployed each and when, what it changed, and the way back to it. */
export function SourceVersions({ resource }: { resource: SourceResource }) {
  const source = resource.data;
  const id = source?.id ?? "";
  const {
    filters,
    resource: versions,
    read,
  } = usePaged<Version>((cursor, call) => headwater.sources.versions(id, cursor, call));
  useFresh(versions, { of: id, on: ["runs"] });
  const [restored, setRestored] = useState<Version>();
  if (!source) return null;
  const all = versions.data?.data ?? [];
  const shown = all.find(({ number }) => String(number) === filters.query.version) ?? all[0];
  const before = all.find(({ number }) => String(number) === filters.query.against);
  const reload = async () => {
    versions.reload();
    resource.put(await headwater.sources.get(id));
  };
  const restore = async (number: number, comment: string) => {
    try {
      const body = comment === "" ? {} : { comment };
      const { secrets_removed } = await headwater.sources.restoreVersion(id, number, body, {
        ifMatch: source.revision,
      });
      toast(`The source has the code of version ${number} again.`, "good");
      if (secrets_removed.length > 0) toast(`Set again: ${secrets_removed.join(", ")}.`, "bad");
    } catch (error) {
      if (error instanceof PreconditionFailedError) await reload();
      throw error;
    }
    filters.set({ version: undefined, against: undefined });
    await reload();
  };
  return (
    <div class="stack">
      <section class="card">
        <div class="card-head">
          <h2>Versions of the code</h2>
        </div>
        <List
          things="versions"
          resource={versions}
          read={read}
          filters={filters}
          // There is always one.
          empty={null}
          columns={[
            { head: "Version", cell: version => <Named version={version} /> },
            { head: "Deployed", label: true, cell: version => <By version={version} /> },
            { head: "Code", label: true, cell: version => <Hash version={version} /> },
            {
              head: "",
              cell: version => (
                <span class="row end">
                  <Button
                    isSmall
                    label={`Changes of version ${version.number}`}
                    isDisabled={!version.can_restore}
                    onClick={() => filters.set({ version: String(version.number), against: undefined })}
                  >
                    Changes
                  </Button>
                  {!version.is_current && (
                    <Button
                      changes
                      isSmall
                      label={`Restore version ${version.number}`}
                      isDisabled={!version.can_restore}
                      onClick={() => setRestored(version)}
                    >
                      Restore
                    </Button>
                  )}
                </span>
              ),
            },
          ]}
        />
      </section>
      {shown && (
        <VersionDiff
          id={id}
          versions={all}
          after={shown}
          before={before ?? all[all.indexOf(shown) + 1]}
          onChoose={number => filters.set({ version: String(shown.number), against: String(number) })}
        />
      )}
      {restored && (
        <Restore
          version={restored}
          next={(all[0]?.number ?? 0) + 1}
          isActive={source.active}
          onRestore={comment => restore(restored.number, comment)}
          onClose={() => setRestored(undefined)}
        />
      )}
    </div>
  );
}

const Named = ({ version: { number, is_current, comment } }: { version: Version }) => (
  <>
    <span class="title">{number}</span> {is_current && <Badge tone="good">Current</Badge>}
    {comment && <div class="sub">{comment}</div>}
  </>
);

const WAYS: Record<string, string> = {
  component_code: "code that was sent",
  files: "files that were sent",
  component_url: "an address",
  component_id: "a component by its id",
  key: "a component by its key",
};

const By = ({ version }: { version: Version }) => {
  const { username, user_id, key_id, created_at, from, restored_from } = version;
  if (created_at === null) return <span class="muted">Before versions were kept</span>;
  const way = from === null ? null : (WAYS[from] ?? from);
  return (
    <>
      {username ?? user_id ?? "–"}, <Time seconds={created_at} />
      <div class="sub">
        {restored_from === null ? `From ${way}` : `Version ${restored_from} restored`}
        {key_id && `, by the API key ${key_id}`}
      </div>
    </>
  );
};

const Hash = ({ version: { code_hash, component_version, component_url } }: { version: Version }) =>
  code_hash === null ? (
    <span class="muted">Deleted, or of another member</span>
  ) : (
    <>
      <code>{code_hash.slice(0, 8)}</code> <span class="sub">{component_version}</span>
      {component_url && <div class="sub">{component_url}</div>}
    </>
  );

interface RestoreProps {
  version: Version;
  next: number;
  isActive: boolean;
  onRestore: (comment: string) => Promise<void>;
  onClose: () => void;
}

function Restore({ version: { number }, next, isActive, onRestore, onClose }: RestoreProps) {
  const [comment, setComment] = useState("");
  return (
    <Confirm
      title={`Restore version ${number}?`}
      action="Restore"
      onClose={onClose}
      onConfirm={() => onRestore(comment.trim())}
    >
      <p>
        Its code is deployed now, as version {next}; version {next - 1} stays in the list.{" "}
        {isActive
          ? "The next run has it, and hooks are called as by any deployment."
          : "The source stays inactive."}
      </p>
      <p>
        Props and secrets stay as they are now. If one does not fit this code, nothing is changed and you see
        which. A component of another account loses the secrets.
      </p>
      <TextField label="Comment (optional)" value={comment} onInput={setComment} />
    </Confirm>
  );
}
