import { headwater, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { type SourceResource, updateSource } from "../api/source";
import { Button, Notice } from "../ui/basics";
import { toast } from "../ui/toasts";
import { Changes } from "./gallery";

/** Owner of what came with a release. */
const GALLERY_OWNER = "headwater";

/** Says that the gallery has a later version of what a source runs, and what is new in it; nothing is updated by itself. */
export function GalleryUpdate({
  component: { owner_id, key, version },
  resource,
}: {
  component: Pick<Schemas["Component"], "owner_id" | "key" | "version">;
  resource: SourceResource;
}) {
  const isOfGallery = owner_id === GALLERY_OWNER && key !== null;
  const latest = useResource(async call => (isOfGallery ? headwater.gallery.get(key, call) : null), [key]);
  const source = resource.data;
  const entry = latest.data;
  const id = entry?.component_id;
  if (!source || !entry || !id || entry.version === version) return null;
  const update = async () => {
    resource.put(await updateSource(source, { component_id: id }));
    toast(`Updated to ${entry.version}.`, "good");
  };
  return (
    <Notice>
      <div class="spread">
        <span>
          Version {entry.version} of {entry.name} is available; this source runs {version}.
        </span>
        <Button isSmall icon="refresh" onClick={update}>
          Update
        </Button>
      </div>
      <Changes entry={entry} since={version} />
    </Notice>
  );
}
