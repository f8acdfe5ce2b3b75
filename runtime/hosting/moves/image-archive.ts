import type { Header, Pack } from 'tar-stream';
import { readBytes } from '../read-bytes.ts';
import { type Member, readMembers } from '../archives/tar-members.ts';
import { packed, writeMember } from '../archives/tar-write.ts';
import { refusedStream } from './failures.ts';

const MAX_JSON = 8 * 1024 * 1024;
/** Layers of an image, by their folder, and links between layers that are equal. */
const NAME = /^(?:\.\/)?[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\/?$/;
const LINK = /^(?:\.\.\/)?[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;
const TYPES = ['file', 'directory', 'symlink'];

/**
 * Passes an archive of `docker save` on with one tag, in place of the tags in it. Otherwise the
 * source could give any image the tag of another app's image, or of a base image.
 *
 * @throws AppError `MOVE_REFUSED`
 */
export const withOneTag = (chunks: AsyncIterable<Buffer>, tag: string): AsyncGenerator<Buffer> =>
  packed((to) =>
    copyMembers(
      readMembers(chunks, ({ message }) => refusedStream(message)),
      to,
      tag,
    ),
  );

async function copyMembers(from: AsyncIterable<Member>, to: Pack, tag: string): Promise<void> {
  let manifests = 0;
  for await (const { header, data } of from) {
    if (to.destroyed) return;
    const { name, type = 'file', size = 0, linkname } = header;
    assertMember(header);
    const change = REWRITTEN[name];
    if (change) {
      manifests += Number(name === 'manifest.json');
      const json = Buffer.from(JSON.stringify(change(await parse(data), tag)));
      await writeMember(to, { name, size: json.length }, [json]);
    } else if (name !== 'repositories') {
      const kept = { name, type, size: type === 'file' ? size : 0, mode: 0o644 };
      await writeMember(to, { ...kept, ...(linkname && { linkname }) } as Header, data);
    }
  }
  if (manifests !== 1) throw refusedStream('its image has no manifest');
}

function assertMember({ name, type, linkname }: Header): void {
  const kind = type ?? 'file';
  const isPlain = NAME.test(name) && TYPES.includes(kind) && name.length <= 300;
  if (!isPlain || (kind === 'symlink' && !LINK.test(linkname ?? '')))
    throw refusedStream(`its image has a member ${JSON.stringify(name.slice(0, 100))}`);
}

/** Where engines look for tags: the older form, and that of the Open Container Initiative. */
const REWRITTEN: Readonly<Record<string, (json: any, tag: string) => unknown>> = {
  'manifest.json': (json, tag) => {
    if (!Array.isArray(json) || json.length !== 1)
      throw refusedStream('its image archive does not have exactly one image');
    return [{ ...json[0], RepoTags: [tag] }];
  },
  'index.json': (json, tag) => {
    if (!Array.isArray(json?.manifests) || json.manifests.length !== 1)
      throw refusedStream('its image archive does not have exactly one image');
    const annotations = { 'io.containerd.image.name': tag };
    return { ...json, manifests: [{ ...json.manifests[0], annotations }] };
  },
};

async function parse(data: AsyncIterable<Buffer>): Promise<unknown> {
  try {
    return JSON.parse((await readBytes(data, MAX_JSON)).toString());
  } catch {
    throw refusedStream('a manifest of its image cannot be read');
  }
}
