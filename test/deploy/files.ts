import { join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { parseAllDocuments, parse as parseYaml } from "yaml";
import { read, root } from "../docs/repository.ts";

/** A process as a deploy file starts it. */
export interface Deployed {
  /** Where it is written: a file, and its name there. */
  where: string;
  /** The words after `deploy/start`. */
  command: string[];
  /** Environment variables by name; the value is undefined where the host asks for it or makes it. */
  env: Record<string, string | undefined>;
  /** How long after SIGTERM it is killed. Milliseconds. */
  graceMs: number | undefined;
}

type Json = Record<string, unknown>;

/** The parts of a Kubernetes object that these tests look at. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  spec?: any;
  data?: Record<string, string>;
}

/** Reads the objects of a stream of YAML documents. Throws for a document that can't be parsed. */
export const manifestsIn = (text: string): Manifest[] =>
  parseAllDocuments(text, { merge: true }).map(document => {
    if ("errors" in document && document.errors[0]) throw document.errors[0];
    return (document as { toJS(): Manifest }).toJS();
  });

/** Reads deploy/compose.yaml, its anchors and merges resolved. */
export const compose = (): {
  services: Record<string, Json & { command?: string[]; image?: string; environment?: Json }>;
} => parseYaml(read("deploy/compose.yaml"), { merge: true });

const seconds = (text: unknown): number => Number(/^(\d+)s$/.exec(String(text))?.[1]) * 1000;

/** The processes of Headwater in compose.yaml; the stores and the monitoring are other programs. */
export function composeProcesses(): Deployed[] {
  return Object.entries(compose().services)
    .filter(([, service]) => service.image?.includes("HEADWATER_IMAGE"))
    .map(([name, service]) => ({
      where: `compose.yaml ${name}`,
      command: service.command ?? [],
      env: (service.environment ?? {}) as Record<string, string>,
      graceMs: service.stop_grace_period === undefined ? undefined : seconds(service.stop_grace_period),
    }));
}

interface RenderEnv {
  key?: string;
  value?: string;
  fromGroup?: string;
}

/** The services of render.yaml, each with the variables of the groups that it names. */
export function renderProcesses(): Deployed[] {
  const blueprint = parseYaml(read("deploy/render.yaml"), { merge: true }) as {
    services: (Json & {
      name: string;
      dockerCommand?: string;
      preDeployCommand?: string;
      envVars?: RenderEnv[];
    })[];
    envVarGroups: { name: string; envVars: RenderEnv[] }[];
  };
  const envOf = (vars: RenderEnv[]): Record<string, string | undefined> =>
    Object.assign(
      {},
      ...vars.map(({ key, value, fromGroup }) => {
        if (key) return { [key]: value };
        const group = blueprint.envVarGroups.find(({ name }) => name === fromGroup);
        if (!group) throw new Error(`render.yaml has no group ${fromGroup}`);
        return envOf(group.envVars);
      }),
    );
  return blueprint.services.flatMap(({ name, dockerCommand, preDeployCommand, envVars = [], ...rest }) =>
    [dockerCommand, preDeployCommand]
      .filter(command => command !== undefined)
      .map(command => ({
        where: `render.yaml ${name}`,
        command: command.replace(/^(tini -- )?deploy\/start /, "").split(" "),
        env: envOf(envVars),
        graceMs: Number(rest.maxShutdownDelaySeconds) * 1000,
      })),
  );
}

/** The process groups of fly.toml, and its release command. */
export function flyProcesses(): Deployed[] {
  const fly = parseToml(read("deploy/fly.toml")) as unknown as {
    kill_timeout: string;
    env: Record<string, string>;
    deploy: { release_command: string };
    processes: Record<string, string>;
  };
  return Object.entries({ ...fly.processes, release: fly.deploy.release_command }).map(([name, command]) => ({
    where: `fly.toml ${name}`,
    command: command.split(" "),
    env: fly.env,
    graceMs: seconds(fly.kill_timeout),
  }));
}

/** How much memory a host gives a process. */
export interface Sized {
  where: string;
  /** The process, as the Procfile names it. */
  name: string;
  env: Record<string, string | undefined>;
  memoryMb: number;
}

/** Megabytes of the plans of hosts, as their documentation lists them. */
const HEROKU_MB: Record<string, number> = { "standard-1x": 512, "standard-2x": 1024 };
const RENDER_MB: Record<string, number> = { starter: 512, standard: 2048 };

export function herokuSizes(): Sized[] {
  const app = JSON.parse(read("app.json")) as {
    env: Record<string, { value?: string }>;
    formation: Record<string, { size: string }>;
  };
  const env = Object.fromEntries(Object.entries(app.env).map(([name, { value }]) => [name, value]));
  return Object.entries(app.formation).map(([name, { size }]) => ({
    where: `app.json ${name}`,
    name,
    env,
    memoryMb: HEROKU_MB[size] ?? Number.NaN,
  }));
}

export function flySizes(): Sized[] {
  const fly = parseToml(read("deploy/fly.toml")) as unknown as {
    env: Record<string, string>;
    vm: { processes: string[]; memory: string }[];
  };
  return fly.vm.flatMap(({ processes, memory }) =>
    processes.map(name => {
      const [, number, unit] = /^(\d+)(mb|gb)$/.exec(memory) ?? [];
      const memoryMb = Number(number) * (unit === "gb" ? 1024 : 1);
      return { where: `fly.toml ${name}`, name, env: fly.env, memoryMb };
    }),
  );
}

export function renderSizes(): Sized[] {
  const { services } = parseYaml(read("deploy/render.yaml"), { merge: true }) as {
    services: { name: string; plan: string }[];
  };
  return renderProcesses()
    .filter(({ command }) => !command.includes("release"))
    .map(({ where, command, env }) => {
      const plan = services.find(({ name }) => where.endsWith(` ${name}`))?.plan ?? "";
      return { where, name: command.join(" "), env, memoryMb: RENDER_MB[plan] ?? Number.NaN };
    });
}

/** The processes among the objects of Kubernetes. */
export function podProcesses(where: string, manifests: Manifest[]): Deployed[] {
  const settings = manifests.filter(({ kind }) => kind === "ConfigMap").map(({ data }) => data ?? {});
  return manifests
    .filter(({ kind }) => kind === "Deployment" || kind === "Job")
    .map(({ metadata, spec }) => {
      const { containers, terminationGracePeriodSeconds } = spec.template.spec;
      const [container] = containers as [{ args: string[]; env?: { name: string; value: string }[] }];
      const env = (container.env ?? []).map(({ name, value }) => [name, value]);
      return {
        where: `${where} ${metadata.name}`,
        command: container.args,
        env: Object.assign({}, ...settings, Object.fromEntries(env)),
        graceMs: (terminationGracePeriodSeconds ?? 30) * 1000,
      };
    });
}

/** The path of a file or folder of deploy/. */
export const deployPath = (...names: string[]): string => join(root, "deploy", ...names);
