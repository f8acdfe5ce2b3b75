import { quote, refuse } from '../archives/refuse.ts';

/** The options of a `--mount` flag of RUN, by their full names. */
export type Mount = Readonly<Record<string, string>>;

const FULL_NAMES: Readonly<Record<string, string>> = {
  dst: 'target',
  destination: 'target',
  src: 'source',
  ro: 'readonly',
  rw: 'readwrite',
};

/** Propagation and labels are missing on purpose: they change the machine's own mounts and files. */
const KNOWN = ['type', 'target', 'source', 'from', 'id', 'sharing', 'readonly', 'readwrite'].concat(
  'required',
  'mode',
  'uid',
  'gid',
  'size',
  'env',
);

const TYPES = ['bind', 'cache', 'tmpfs', 'secret'];

/**
 * Reads a flag of RUN whose quotes have been removed. Null for another flag.
 *
 * @example readMount('--mount=type=cache,dst=/x') // { type: 'cache', target: '/x' }
 */
export function readMount(flag: string): Mount | null {
  if (!flag.startsWith('--mount=')) return null;
  const mount: Record<string, string> = {};
  for (const field of flag.slice('--mount='.length).replaceAll('"', '').split(',')) {
    const [, key = '', value = 'true'] = /^([^=]*)(?:=([^]*))?$/.exec(field.trim()) ?? [];
    const name = key.trim().toLowerCase();
    mount[FULL_NAMES[name] ?? name] = value.trim();
  }
  return { type: 'bind', ...mount };
}

/**
 * Refuses what leads out of a build: some engines join these paths with folders of the machine.
 * @throws AppError 422
 */
export function assertMount(mount: Mount, flag: string): void {
  if (mount['type'] === 'ssh')
    throw refuse(
      'RUN --mount=type=ssh is not allowed: builds have no SSH agent, use build.secrets',
    );
  if (!TYPES.includes(mount['type'] as string))
    throw refuse(`RUN ${quote(flag)} is not allowed: its type is none of ${TYPES.join(', ')}`);
  const unknown = Object.keys(mount).find((key) => !KNOWN.includes(key));
  if (unknown !== undefined)
    throw refuse(`RUN ${quote(flag)} is not allowed: the option ${quote(unknown)} is not known`);
  const leaving = ['source', 'target', 'id'].some((key) => mount[key]?.split('/').includes('..'));
  if (leaving) throw refuse(`RUN ${quote(flag)} is not allowed: it has .. in a path`);
}
