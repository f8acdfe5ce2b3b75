import type Dockerode from 'dockerode';

/**
 * Reads a build's output for the last image of each stage. The classic builder and Podman leave
 * them behind without a name.
 */
export interface StageReader {
  line(text: string): void;
  /** Ids, short as they are printed. */
  images(): readonly string[];
}

/** Docker says `Step 1/7 : FROM a`, Podman `STEP 1/2: FROM a` or `[1/3] STEP 1/2: FROM a`. */
const FROM = /^(?:\[\d+\/\d+\] )?step \d+(?:\/\d+)? ?: FROM /i;
const IMAGE = /^-+> (?:Using cache )?([0-9a-f]{11,64})$/;

export function createStageReader(): StageReader {
  const found: string[] = [];
  let last: string | null = null;
  return {
    line(text) {
      for (const line of text.split('\n')) {
        if (FROM.test(line)) {
          if (last !== null) found.push(last);
          last = null;
        }
        last = IMAGE.exec(line.trim())?.[1] ?? last;
      }
    },
    images: () => [...new Set(last === null ? found : [...found, last])],
  };
}

/**
 * Gives the stages of a build a name in `repository`, so that they are kept as the app's cache, and
 * removes the names that its earlier builds gave.
 */
export async function keepStages(
  client: Dockerode,
  { repository, images }: { readonly repository: string; readonly images: readonly string[] },
): Promise<void> {
  const kept = new Set<string>();
  for (const id of images) {
    const image = await client.getImage(id).inspect();
    const own = `${repository}:${image.Id.replace(/^sha256:/, '').slice(0, 12)}`;
    const others = (image.RepoTags ?? []).filter((tag) => tag !== own);
    if (others.length > 0) continue;
    kept.add(own);
    const [repo, tag] = [repository, own.slice(repository.length + 1)];
    await client.getImage(id).tag({ repo, tag });
  }
  for (const { RepoTags } of await client.listImages())
    for (const tag of RepoTags ?? [])
      if (tag.startsWith(`${repository}:`) && !kept.has(tag)) await client.getImage(tag).remove();
}
