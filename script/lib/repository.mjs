import { run } from "./commands.mjs";

/**
 * Returns the public address of the repository that `root` is a clone of, as npm wants it: of the workflow that runs, else of the
 * remote `origin`. Undefined if there is none, or it is a path.
 */
export async function repositoryOf(root, env = process.env) {
  if (env.GITHUB_REPOSITORY) return `git+${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}.git`;
  const { code, output } = await run("git", ["config", "remote.origin.url"], { cwd: root });
  return code === 0 ? publicAddress(output.trim()) : undefined;
}

/** Returns the https address of a remote, without what may sign in to it. */
export function publicAddress(remote) {
  const [, host, path] =
    /^(?:https:\/\/|ssh:\/\/)?(?:[^/@]+@)?([\w.-]+\.\w+)(?::\d+)?[/:](.+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return host === undefined ? undefined : `git+https://${host}/${path}.git`;
}
