import { chmod, chown, link, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { removeFolder } from "./home.ts";

/** What one sandbox has on disk. Another sandbox with an id of its own can't even look in. */
export interface Room {
  /** The private folder. */
  files: string;
  /** The component's code. */
  module: string;
  /** Where its gateway is to listen. */
  gatewayPath: string;
  /** To be called when the gateway listens: the sandbox may connect to it then. */
  giveAway(): Promise<void>;
  close(): Promise<void>;
}

export interface RoomOptions {
  home: string;
  name: string;
  modulePath: string;
  /** User and group of the sandbox, when it has its own. */
  id: number | undefined;
}

/** The room belongs to the worker, may be entered by the sandbox's group, and only the private folder is its own. */
export async function openRoom({ home, name, modulePath, id }: RoomOptions): Promise<Room> {
  const path = join(home, name);
  const files = join(path, "files");
  const module = join(path, "component.mjs");
  const gatewayPath = join(path, "out.sock");
  await mkdir(path, { mode: 0o700 });
  await Promise.all([mkdir(files, { mode: 0o700 }), link(modulePath, module)]);
  if (id !== undefined) {
    await chown(files, id, id);
    await chown(path, process.getuid?.() ?? 0, id);
    await chmod(path, 0o710);
  }
  return {
    files,
    module,
    gatewayPath,
    async giveAway() {
      if (id === undefined) return;
      await chown(gatewayPath, id, id);
      await chmod(gatewayPath, 0o600);
    },
    close: () => removeFolder(path),
  };
}
