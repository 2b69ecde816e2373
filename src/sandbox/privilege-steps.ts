import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Limits that the kernel enforces for one process. */
export interface KernelLimits {
  cpuSeconds: number;
  dataMb: number;
  fileMb: number;
}

/** What a process becomes: its user, if that is another one, and what it may reach. */
export interface Confinement extends Reachable {
  id: number | undefined;
}

/** One way to reduce the privileges of a process: arguments put before its command, or ids passed to Node's `spawn`. */
export interface Step {
  name: string;
  prefix: (confinement: Confinement) => string[];
  /** Set if this step changes the user id: through the prefix, or through the options of `spawn`. */
  setsId?: "by prefix" | "by spawn";
}

const TOOL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];
const USER_ID = "separate user id";
const NETWORK = "separate network namespace";
const LIMITS = "kernel limits";
const NO_NEW_PRIVILEGES = "no new privileges";
const LANDLOCK = "Landlock";
/** The names of all kinds of steps. */
export const ALL_STEPS = [NETWORK, LIMITS, USER_ID, NO_NEW_PRIVILEGES, LANDLOCK];

/**
 * Returns the variants of each kind of step, the best variant first. The kinds are in the order of their prefixes in
 * the command. `canHaveIds`: the worker may start processes as other users. `deno` is the real path of the program.
 */
export function stepsOf(limits: KernelLimits, canHaveIds: boolean, deno: string): Step[][] {
  const [unshare, prlimit, setpriv, perl] = ["unshare", "prlimit", "setpriv", "perl"].map(findTool);
  const steps: Step[][] = [];
  if (unshare) {
    const user = canHaveIds ? [] : ["--user", "--map-current-user"];
    steps.push([{ name: NETWORK, prefix: () => [unshare, ...user, "--net"] }]);
  }
  if (prlimit) {
    steps.push([{ name: LIMITS, prefix: ({ id }) => [prlimit, ...kernelLimits(limits, id !== undefined)] }]);
  }
  if (canHaveIds) steps.push(setUserId(setpriv));
  if (setpriv) {
    // After the change of the user id, which would clear the signal that ends a sandbox with its worker.
    steps.push([{ name: NO_NEW_PRIVILEGES, prefix: () => [setpriv, "--no-new-privs", "--pdeathsig=KILL"] }]);
  }
  if (perl) {
    // The last one, because the tools before it need more, and because the kernel asks for no new privileges.
    steps.push([{ name: LANDLOCK, prefix: reachable => landlockPrefix(perl, deno, reachable) }]);
  }
  return steps;
}

function setUserId(setpriv: string | undefined): Step[] {
  const bySpawn: Step = { name: USER_ID, setsId: "by spawn", prefix: () => [] };
  if (!setpriv) return [bySpawn];
  const byPrefix = (...more: string[]): Step => ({
    name: USER_ID,
    setsId: "by prefix",
    prefix: ({ id }) => [setpriv, `--reuid=${id}`, `--regid=${id}`, "--clear-groups", ...more],
  });
  // Capabilities in the bounding set could be regained. Clearing it needs a capability that a container may lack.
  return [byPrefix("--bounding-set=-all", "--inh-caps=-all"), byPrefix(), bySpawn];
}

function kernelLimits({ cpuSeconds, dataMb, fileMb }: KernelLimits, hasUserId: boolean): string[] {
  const megabytes = (count: number) => `${count * 1024 * 1024}:${count * 1024 * 1024}`;
  return [
    "--core=0:0",
    "--nofile=256:256",
    `--fsize=${megabytes(fileMb)}`,
    `--data=${megabytes(dataMb)}`,
    `--cpu=${cpuSeconds}:${cpuSeconds + 5}`,
    // The kernel counts threads by user: under the worker's own id, this would limit the worker as well.
    ...(hasUserId ? ["--nproc=128:128"] : []),
  ];
}

function findTool(name: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  return TOOL_FOLDERS.map(folder => join(folder, name)).find(existsSync);
}

/** The flag `O_CLOEXEC` in `/proc/self/fdinfo`. */
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Returns the file descriptors that this process inherited and would pass on to its children, such as a supervisor's
 * pipe or listening socket. Node marks the descriptors it opens itself as close-on-exec. Returns an empty array on
 * systems other than Linux.
 */
export function inheritedDescriptors(): number[] {
  const numbers = readNames("/proc/self/fd").map(Number);
  return numbers.filter(number => number > 2 && !isCloseOnExec(number));
}

function isCloseOnExec(number: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    // The descriptor with which `readNames` read the folder.
    return true;
  }
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What a confined process may reach; paths that do not exist are left out. */
interface Reachable {
  readable: readonly string[];
  writable: readonly string[];
}

/** The dynamic loader, and the libraries that deno is linked with. */
const EXECUTABLE = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
const READABLE = ["/etc/ld.so.cache", "/proc/self"];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/urandom"];

/**
 * Confines itself by Landlock, and becomes the command after `--`. Perl, which Debian's base system has, because neither Node nor
 * util-linux before 2.40 can do it. The calls have the same numbers on all architectures. Each version of the kernel's
 * interface knows more rights; all that this one knows are taken away, but those to what is listed: files, TCP, and from version
 * 6 on abstract sockets and signals outside. What is confined can't trace or look into other processes either.
 */
const SCRIPT = `
my $version = syscall(444, 0, 0, 1);
$version > 0 or die "no Landlock";
my $all = (1 << 13) - 1;
$all |= 1 << 13 if $version >= 2;
$all |= 1 << 14 if $version >= 3;
$all |= 1 << 15 if $version >= 5;
my @handled = ($all, $version >= 4 ? 3 : (), $version >= 6 ? 3 : ());
my $attributes = pack "Q*", @handled;
my $rules = syscall(444, $attributes, length $attributes, 0);
$rules >= 0 or die "no rules: $!";
my %rights = (r => 12, x => 13, w => $all);
my $ofFiles = 7 | $all & 3 << 14;
while ((my $rule = shift) ne "--") {
  my ($kind, $path) = split /:/, $rule, 2;
  sysopen(my $opened, $path, 010000000) or next;
  my $right = $rights{$kind} & (-d $opened ? $all : $ofFiles);
  syscall(445, $rules, 1, pack("Ql", $right, fileno $opened), 0) == 0 or die "no rule for $path: $!";
}
syscall(446, $rules, 0) == 0 or die "not confined: $!";
exec @ARGV or die "not executed: $!";
`;

/** Returns the arguments before a command that confine it. The process must not be able to gain privileges any more. */
export function landlockPrefix(perl: string, deno: string, { readable, writable }: Reachable): string[] {
  return [
    ...[perl, "-e", SCRIPT],
    ...[...EXECUTABLE, deno].map(path => `x:${path}`),
    ...[...READABLE, ...readable].map(path => `r:${path}`),
    ...[...DEVICES, ...writable].map(path => `w:${path}`),
    "--",
  ];
}
