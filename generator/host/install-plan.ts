import { envValues, printEnv } from './env-file.ts';
import { assertOptions, PATHS, type HostPlace, type InstallOptions } from './place.ts';
import type { HostSystem } from './system.ts';
import { foldersFile, ingressUnit, podmanDropIn, serverUnit, usersFile } from './units.ts';

/** A file of the system. `mode` in octal digits: `"0600"`. */
export interface HostFile {
  readonly path: string;
  readonly mode: string;
  readonly text: string;
}

/** A program with its arguments; no shell is between. */
export type HostCommand = readonly [program: string, ...args: string[]];

/** The project that is installed. */
export interface InstalledProject {
  readonly name: string;
  readonly root: string;
  /** The names in its folder. */
  readonly entries: readonly string[];
  /** The text of its `.env`. */
  readonly env: string | null;
  readonly ports: HostPorts;
  /** Of the API. */
  readonly port: number;
}

/** What is on the machine already. */
export interface HostFacts {
  /** The folders of earlier releases, oldest first, also those that are not whole. */
  readonly releases: readonly string[];
  /** The release that `current` points to. */
  readonly current: string | null;
  /** The text of `/etc/twofold/env`. */
  readonly env: string | null;
  readonly engine: 'docker' | 'podman' | null;
}

export interface InstallInput {
  readonly system: HostSystem;
  readonly project: InstalledProject;
  readonly options: InstallOptions;
  readonly facts: HostFacts;
  /** The name of the release's folder. */
  readonly release: string;
  /** The program that runs the server: that of this command. */
  readonly node: string;
  readonly secret?: () => string;
}

export interface InstallPlan {
  readonly files: readonly HostFile[];
  readonly commands: readonly HostCommand[];
  /** For the operator to run. */
  readonly firewall: readonly string[];
  readonly notes: readonly string[];
}

/** How many releases stay: the running one, and those to go back to. */
const KEPT = 3;

/** Never part of a release: what the server writes, settings with secrets, and history. */
const LEFT_OUT = /^(data|\.env(\..*)?|\.git|\.cache)$/;

/**
 * What installs a project as services of systemd, or upgrades it. Every command can be repeated, so
 * a run that was interrupted is finished by the next.
 *
 * @throws CommandError for an option or a setting that cannot be used.
 * @example planInstall({ system, project, options, facts, release: '20261123T101500Z', node }).commands
 */
export function planInstall(input: InstallInput): InstallPlan {
  assertOptions(input.options);
  const { system, project, options, facts } = input;
  const podman = facts.engine === 'podman';
  return {
    files: filesOf(input, podman),
    commands: [
      ['systemd-sysusers', PATHS.users],
      ['systemd-tmpfiles', '--create', PATHS.folders],
      // The data of an installation before this one may belong to a user who is gone.
      ...(facts.current === null ? [ownData(options)] : []),
      ...removals(options, facts),
      ...placeRelease(input),
      ...startServices(podman),
    ],
    firewall: firewallLines(project.ports),
    notes: facts.engine === null ? [missingEngine(system)] : [],
  };
}

function filesOf({ project, options, facts, secret }: InstallInput, podman: boolean): HostFile[] {
  const env = envValues({
    existing: facts.env,
    project: project.env,
    port: project.port,
    options,
    ...(secret && { secret }),
  });
  const file = (path: string, text: string, mode = '0644'): HostFile => ({ path, mode, text });
  return [
    file(PATHS.users, usersFile(options, !podman)),
    file(PATHS.folders, foldersFile(options)),
    file(PATHS.env, printEnv(env), '0600'),
    file(PATHS.ingress, ingressUnit(project.name, options)),
    file(PATHS.server, serverUnit(project.name, options)),
    ...(podman ? [file(PATHS.podman, podmanDropIn(options))] : []),
  ];
}

const ownData = ({ user, dir }: HostPlace): HostCommand => [
  ...(['chown', '-R', `${user}:${user}`, `${dir}/data`] as const),
];

/** Removes what an interrupted run left, and releases that nobody goes back to. */
function removals({ dir }: HostPlace, { releases, current }: HostFacts): HostCommand[] {
  const whole = releases.filter((name) => !name.endsWith('.part') && name !== current);
  const gone = [
    ...releases.filter((name) => name.endsWith('.part')),
    ...whole.slice(0, Math.max(0, whole.length - (KEPT - 2))),
  ];
  return gone.map((name) => ['rm', '-rf', '--', `${dir}/releases/${name}`]);
}

/** Copies the project and its packages to a folder of their own, which gets its name when it is whole. */
function placeRelease({ project, options, release, node }: InstallInput): HostCommand[] {
  const { dir } = options;
  const [part, whole] = [`${dir}/releases/${release}.part`, `${dir}/releases/${release}`];
  const sources = project.entries
    .filter((name) => !LEFT_OUT.test(name))
    .map((name) => `${project.root}/${name}`);
  return [
    ['mkdir', '-p', `${part}/bin`],
    ['cp', '-a', '--reflink=auto', '--', ...sources, part],
    ['cp', '--reflink=auto', '--', node, `${part}/bin/node`],
    ['chown', '-R', 'root:root', part],
    ['chmod', '-R', 'u=rwX,go=rX', part],
    ['ln', '-sfn', `${dir}/data`, `${part}/data`],
    ['mv', '-T', part, whole],
    ...switchTo(dir, release),
  ];
}

/** Makes an earlier release the running one again. */
export function planReturn({ dir }: HostPlace, release: string): HostCommand[] {
  return [...switchTo(dir, release), ['systemctl', 'restart', 'twofold.service']];
}

const switchTo = (dir: string, release: string): HostCommand[] => [
  ['ln', '-sfn', `releases/${release}`, `${dir}/current.part`],
  ['mv', '-T', `${dir}/current.part`, `${dir}/current`],
];

/** Only the server is restarted: the ingress lets requests wait meanwhile. */
function startServices(podman: boolean): HostCommand[] {
  return [
    ['systemctl', 'daemon-reload'],
    ...(podman ? PODMAN : []),
    ['systemctl', 'enable', 'twofold-ingress.service', 'twofold.service'],
    ['systemctl', 'start', 'twofold-ingress.service'],
    ['systemctl', 'restart', 'twofold.service'],
  ];
}

const PODMAN: readonly HostCommand[] = [
  ['systemctl', 'enable', 'podman.socket'],
  ['systemctl', 'restart', 'podman.socket'],
];

function missingEngine({ id }: HostSystem): string {
  const install = id === 'fedora' ? 'dnf install moby-engine' : 'apt-get install docker.io';
  return `no container engine was found; apps run when there is one: ${install}`;
}

/** The ports that clients must reach. */
interface HostPorts {
  readonly http: number;
  readonly https: number;
}

/** Lines for the operator: which of them is right depends on the firewall in use. None is run. */
function firewallLines({ http, https }: HostPorts): readonly string[] {
  return [
    `ufw allow ${http}/tcp && ufw allow ${https}/tcp`,
    `firewall-cmd --permanent --add-port=${http}/tcp --add-port=${https}/tcp && firewall-cmd --reload`,
    `nft add rule inet filter input tcp dport { ${http}, ${https} } accept`,
  ];
}
