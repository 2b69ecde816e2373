/** What a confined process may reach; paths that do not exist are left out. */
export interface Reachable {
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
