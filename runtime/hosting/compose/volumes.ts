import type { AppVolume } from '../records/app.ts';
import { type FileField, MAX_FILES } from '../records/process-fields.ts';
import type { ComposeContext, SourceFile } from './compose-app.ts';
import { type Entry, isMapping, itemsOf, membersOf, type Problems } from './problems.ts';
import { needsSource, sourcePathOf, textOf } from './values.ts';

/** The volumes of the file, by their names in it. */
export type DeclaredVolumes = ReadonlyMap<
  string,
  { readonly name: string; readonly external: boolean }
>;

export interface ServiceVolumes {
  readonly volumes: readonly AppVolume[];
  readonly files: readonly FileField[];
}

interface Mount {
  readonly entry: Entry;
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** Named volumes are the project's. A path of the source is copied in. */
export function volumesOf(
  entry: Entry | undefined,
  declared: DeclaredVolumes,
  { context, problems }: { readonly context: ComposeContext; readonly problems: Problems },
): ServiceVolumes {
  const mounts = entry ? itemsOf(entry).flatMap((item) => readMount(item, problems) ?? []) : [];
  const isPath = ({ source }: Mount) => /^[./~]/.test(source);
  const files = mounts.filter(isPath).flatMap((mount) => copiesOf(mount, context, problems));
  const bytes = files.reduce((sum, { content }) => sum + Buffer.byteLength(content, 'base64'), 0);
  if (entry && bytes > MAX_FILES)
    problems.add(entry.path, `copies ${bytes} bytes, and at most ${MAX_FILES} are copied`);
  const named = mounts.filter((mount) => !isPath(mount));
  return { files, volumes: named.flatMap((mount) => volumeOf(mount, declared, problems) ?? []) };
}

function volumeOf(
  { entry: { path }, source, target, readOnly }: Mount,
  declared: DeclaredVolumes,
  problems: Problems,
): AppVolume | undefined {
  const volume = declared.get(source);
  if (!volume) problems.add(path, `names the volume ${source}, which volumes does not have`);
  else if (readOnly) problems.add(path, 'is a read-only volume, which is not supported');
  else if (volume.external) return { name: volume.name, path: target, external: true };
  else return { name: volume.name, path: target, shared: true };
  return undefined;
}

function copiesOf(
  { entry, source: text, target }: Mount,
  { source }: ComposeContext,
  problems: Problems,
): FileField[] {
  const path = sourcePathOf(entry.path, text, problems);
  if (path === undefined) return [];
  if (!source) return (needsSource(entry, problems), []);
  const file = source.file(path);
  if (file) return [copyOf(target, file)];
  const below = source.folder(path);
  if (below.size === 0)
    problems.add(entry.path, `is not in the source, or holds more than 1 MiB: ${text}`);
  return [...below].map(([name, each]) => copyOf(`${target}/${name}`, each));
}

const copyOf = (path: string, { content, executable }: SourceFile): FileField => ({
  path,
  executable,
  encoding: 'base64',
  content: content.toString('base64'),
});

function readMount(entry: Entry, problems: Problems): Mount | undefined {
  if (isMapping(entry.value)) return readLong(entry, problems);
  const text = textOf(entry, problems) ?? '';
  const [source = '', target, mode = 'rw', ...rest] = text.split(':');
  if (target === undefined) problems.add(entry.path, 'is a volume without a name: give it one');
  else if (rest.length > 0 || !/^(rw|ro|z|Z)$/.test(mode))
    problems.add(entry.path, 'must be name:/path or ./path:/path, with :ro or :rw');
  else return checkTarget({ entry, source, target, readOnly: mode === 'ro' }, problems);
  return undefined;
}

function readLong(entry: Entry, problems: Problems): Mount | undefined {
  const members = membersOf(entry, problems, ['type', 'source', 'target', 'read_only']);
  const text = (key: string) => {
    const member = members.get(key);
    return (member && textOf(member, problems)) ?? '';
  };
  const [type, source, target] = [text('type'), text('source'), text('target')];
  if (type !== 'volume' && type !== 'bind')
    problems.add(`${entry.path}.type`, `${type} is not supported`);
  else if (source === '') problems.add(entry.path, 'is a volume without a name: give it one');
  else {
    const readOnly = text('read_only') === 'true';
    const path = type === 'bind' && !/^[./~]/.test(source) ? `./${source}` : source;
    return checkTarget({ entry, source: path, target, readOnly }, problems);
  }
  return undefined;
}

function checkTarget(mount: Mount, problems: Problems): Mount | undefined {
  const target = mount.target.replace(/\/+$/, '');
  if (/^\/[A-Za-z0-9_./-]{1,254}$/.test(target)) return { ...mount, target };
  problems.add(mount.entry.path, 'needs an absolute path in the container');
  return undefined;
}

/** The section `volumes` of the file. */
export function declaredVolumes(entry: Entry | undefined, problems: Problems): DeclaredVolumes {
  const declared = new Map<string, { name: string; external: boolean }>();
  if (!entry || entry.value === null) return declared;
  for (const [key, volume] of membersOf(entry, problems)) {
    if (!/^[a-z0-9][a-z0-9_.-]{0,62}$/.test(key))
      problems.add(volume.path, 'must consist of lower-case letters, digits, dots, hyphens and _');
    const allowed = ['external', 'name', 'labels'];
    const members = volume.value === null ? new Map() : membersOf(volume, problems, allowed);
    const external = members.get('external')?.value === true;
    const name = members.get('name');
    if (name && !external) problems.add(name.path, 'is only taken with external: true');
    const full = (name && textOf(name, problems)) ?? key;
    if (!/^[A-Za-z0-9][\w.-]{0,200}$/.test(full))
      problems.add(volume.path, 'is no name of a volume');
    declared.set(key, { name: full, external });
  }
  return declared;
}
