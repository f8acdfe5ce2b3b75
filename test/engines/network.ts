import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, succeeds } from './command.ts';

/** The part of the private address space that one engine may use. */
export interface Network {
  /** Its first two numbers, such as `10.77`. */
  readonly prefix: string;
  /** A free name for the engine's default bridge. */
  readonly bridge: string;
}

/**
 * Reserves addresses that nothing on this machine uses, and remembers them in the folder for `releaseNetwork`.
 * Docker takes the even numbers and Podman the odd ones, so that both can choose at the same time.
 */
export function claimNetwork(directory: string, engine: 'docker' | 'podman'): Network {
  const used = run('ip', ['-4', 'route', 'show', 'table', 'all']);
  const numbers = Array.from(
    { length: 32 },
    (_, index) => 64 + 2 * index + (engine === 'docker' ? 0 : 1),
  );
  const free = numbers
    .map((number) => `10.${number}`)
    .filter((prefix) => !used.includes(`${prefix}.`));
  const prefix = free[randomInt(Math.max(free.length, 1))];
  if (!prefix)
    throw new Error(
      'no free network between 10.64.0.0 and 10.127.0.0; remove bridges of earlier runs: ip -4 addr',
    );
  writeFileSync(join(directory, 'network'), prefix);
  return { prefix, bridge: `tf${engine[0]}${randomBytes(4).toString('hex')}` };
}

/** Makes the bridge that Docker's default network uses. */
export function addBridge({ bridge, prefix }: Network): void {
  run('ip', ['link', 'add', bridge, 'type', 'bridge']);
  run('ip', ['addr', 'add', `${prefix}.0.1/24`, 'dev', bridge]);
  run('ip', ['link', 'set', bridge, 'up']);
}

/** Takes away the bridges and packet rules of an engine that is gone; what others own stays. */
export function releaseNetwork(directory: string): void {
  const file = join(directory, 'network');
  if (!existsSync(file)) return;
  const prefix = `${readFileSync(file, 'utf8')}.`;
  const bridges = bridgesOf(prefix);
  for (const table of ['filter', 'nat']) removeRules(table, [prefix, ...bridges]);
  for (const bridge of bridges) succeeds('ip', ['link', 'del', bridge]);
}

function bridgesOf(prefix: string): string[] {
  const lines = run('ip', ['-4', '-o', 'addr']).split('\n');
  return lines
    .filter((line) => line.includes(` ${prefix}`))
    .map((line) => line.split(/\s+/)[1] ?? '');
}

function removeRules(table: string, marks: readonly string[]): void {
  const rules = run('iptables', ['-t', table, '-S'])
    .split('\n')
    .filter((rule) => rule.startsWith('-A '));
  const named = rules.filter((rule) =>
    rule.split(/[ /]/).some((word) => marks.some((mark) => isMarked(word, mark))),
  );
  const ports = named.flatMap(
    (rule) => /--dport \d+ -j DNAT/.exec(rule)?.[0].replace('-j DNAT', '') ?? [],
  );
  // Podman leads a published port through three rules, and only one of them names the container's address.
  const ours = rules.filter(
    (rule) =>
      named.includes(rule) ||
      (rule.includes('NETAVARK') && ports.some((port) => rule.includes(port))),
  );
  // The listing is quoted for a shell, so a shell has to read it.
  for (const rule of ours)
    succeeds('sh', ['-c', `iptables -t ${table} ${rule.replace('-A', '-D')}`]);
}

/** A prefix ends with a dot and begins an address; a bridge is the whole word. */
function isMarked(word: string, mark: string): boolean {
  return mark.endsWith('.') ? word.startsWith(mark) : word === mark;
}
