import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import { type Header, pack } from 'tar-stream';
import { type Member, readMembers } from '../../archives/tar-members.ts';
import type { ContainerSpec } from '../engine.ts';
import { call, nullIfNotFound } from './calls.ts';

/**
 * Gives new volumes to the user that the container runs as. Docker leaves them to root, unless the
 * image has a folder of its own at that path. A volume counts as new as long as it is empty and
 * root's, so that a server that was killed meanwhile catches up with it, and files of an app are
 * never touched.
 */
export async function giveNewVolumes(
  container: Dockerode.Container,
  { volumes }: Pick<ContainerSpec, 'volumes'>,
): Promise<void> {
  if (volumes.length === 0) return;
  const owner = await ownerOf(container);
  if (owner === null || owner.uid === 0) return;
  for (const { path } of volumes) {
    const [folder, first] = await headersAt(container, path);
    if (folder?.type !== 'directory' || folder.uid !== 0 || first !== undefined) continue;
    await setOwner(container, path, { ...folder, ...owner });
  }
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The numbers of the container's user; null when the image does not know the name. */
async function ownerOf(container: Dockerode.Container): Promise<Owner | null> {
  const { User: user } = (await call(() => container.inspect())).Config;
  if (!user || /^(?:root|0)(?::|$)/.test(user)) return null;
  const [passwd, group] = await Promise.all(
    ['/etc/passwd', '/etc/group'].map((path) => readText(container, path)),
  );
  return parseOwner(user, { passwd: passwd ?? '', group: group ?? '' });
}

/**
 * Resolves a user as engines do: names and numbers are looked up in the image's files, and a user
 * without a group has the one of its line in `/etc/passwd`.
 *
 * @param user As `node`, `1000`, `node:users` or `1000:1000`.
 */
export function parseOwner(
  user: string,
  { passwd, group }: { readonly passwd: string; readonly group: string },
): Owner | null {
  const [name = '', groupName] = user.split(':');
  const [, , knownUid, knownGid] = find(passwd, name) ?? [];
  const [, , groupGid] = (groupName && find(group, groupName)) || [];
  const uid = Number(knownUid ?? name);
  const gid = Number(groupName ? (groupGid ?? groupName) : (knownGid ?? 0));
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : null;
}

/** The fields of the line whose first field is the name, or else whose third one is the number. */
function find(text: string, name: string): string[] | undefined {
  const lines = text.split('\n').map((line) => line.split(':'));
  return lines.find(([first]) => first === name) ?? lines.find(([, , number]) => number === name);
}

/** The most bytes of `/etc/passwd`, which the image's author may have written. */
const MAX_TEXT = 1024 * 1024;

async function readText(container: Dockerode.Container, path: string): Promise<string | null> {
  for await (const { header, data } of membersAt(container, path)) {
    if (header.type !== 'file' || (header.size ?? 0) > MAX_TEXT) return null;
    return Buffer.concat(await Array.fromAsync(data)).toString('utf8');
  }
  return null;
}

/** The header of a folder, and of the first thing in it. The rest is not read. */
async function headersAt(container: Dockerode.Container, path: string): Promise<Header[]> {
  const headers: Header[] = [];
  for await (const { header } of membersAt(container, path)) if (headers.push(header) === 2) break;
  return headers;
}

/** What the container has at a path; nothing when there is no such path. */
async function* membersAt(container: Dockerode.Container, path: string): AsyncGenerator<Member> {
  const answer = await nullIfNotFound(() => container.getArchive({ path }));
  if (answer) yield* readMembers(answer as unknown as Readable);
}

/** Docker sets the owner of a volume's own folder only from its parent. */
async function setOwner(
  container: Dockerode.Container,
  path: string,
  { uid, gid, mode, mtime }: Header,
): Promise<void> {
  const name = `${posix.normalize(path).replace(/^\/|\/$/g, '')}/`;
  const archive = pack();
  archive.entry({ name, type: 'directory', uid, gid, mode, mtime } as Header);
  archive.finalize();
  await call(() => container.putArchive(archive as unknown as Readable, { path: '/' }));
}
