import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import { pack, type Pack } from 'tar-stream';
import { readMembers } from '../../archives/tar-members.ts';
import { type VolumeEntry, type VolumeFiles, toEntries, volumeHeader } from '../volume-files.ts';
import { writeMember } from '../../archives/tar-write.ts';
import { call, nullIfNotFound } from './calls.ts';
import type { Dialect } from './dialect.ts';
import { readFolder } from './read-folder.ts';

/**
 * Where the volume is mounted. Docker gives an empty volume the owner and the mode of the image's
 * folder at that path, so the image has none there.
 */
const FOLDER = 'volume';
const IMAGE = 'localhost/twofold-empty';
/** An image has at least one file. */
const IN_IMAGE = 'empty';

/**
 * Opens a volume through a container that is never started: engines read and write the files of
 * such a container too. Its image is empty, so it needs no image of an app.
 */
export async function openVolume(
  client: Dockerode,
  { volumeWrites, readsOwners }: Dialect,
  { volume, labels }: { readonly volume: string; readonly labels: VolumeLabels },
): Promise<VolumeFiles> {
  const options = {
    _query: { name: `${volume}-files-${randomBytes(3).toString('hex')}` },
    _body: {
      Image: await ensureEmptyImage(client),
      Cmd: ['-'],
      Labels: { ...labels },
      HostConfig: { Binds: [`${volume}:/${FOLDER}`], NetworkMode: 'none' },
    },
  };
  const container = await client.createContainer(options as Dockerode.ContainerCreateOptions);
  return {
    read: () => (readsOwners ? readArchive(container) : readMountpoint(client, volume)),
    write: (entries) => call(() => writeArchive(container, volumeWrites, entries)),
    close: async () =>
      void (await nullIfNotFound(() => container.remove({ force: true, v: false }))),
  };
}

type VolumeLabels = Readonly<Record<string, string>>;

/** Podman's archives say that root owns every file, so there the volume's folder itself is read. */
async function* readMountpoint(client: Dockerode, volume: string): AsyncGenerator<VolumeEntry> {
  const { Mountpoint } = await call(() => client.getVolume(volume).inspect());
  yield* readFolder(Mountpoint);
}

/** Podman ignores the tag of an import, so the image is looked up by its name alone. */
async function ensureEmptyImage(client: Dockerode): Promise<string> {
  const known = await nullIfNotFound(() => client.getImage(`${IMAGE}:latest`).inspect());
  if (known) return known.Id;
  const archive = pack();
  archive.entry({ name: IN_IMAGE, type: 'directory', mode: 0o755 });
  archive.finalize();
  const answer = await client.importImage(archive as unknown as Readable, {
    repo: IMAGE,
    tag: 'latest',
  });
  for await (const _message of answer as unknown as AsyncIterable<Buffer>);
  return (await client.getImage(`${IMAGE}:latest`).inspect()).Id;
}

async function* readArchive(container: Dockerode.Container): AsyncGenerator<VolumeEntry> {
  const answer = (await container.getArchive({ path: `/${FOLDER}` })) as unknown as Readable;
  yield* toEntries(readMembers(answer), `${FOLDER}/`);
}

async function writeArchive(
  container: Dockerode.Container,
  { into, prefix }: Dialect['volumeWrites'],
  entries: AsyncIterable<VolumeEntry>,
): Promise<void> {
  const archive = pack();
  const fed = packEntries(entries, archive, prefix);
  fed.catch((error: Error) => archive.destroy(error));
  try {
    const answer = await container.putArchive(archive as unknown as Readable, { path: into });
    (answer as unknown as Readable).resume?.();
  } finally {
    archive.destroy();
    // The failure of the source says more than that of the call that it has cut.
    await fed;
  }
}

async function packEntries(
  entries: AsyncIterable<VolumeEntry>,
  archive: Pack,
  prefix: string,
): Promise<void> {
  for await (const entry of entries)
    await writeMember(archive, volumeHeader(entry, prefix), entry.data);
  archive.finalize();
}
