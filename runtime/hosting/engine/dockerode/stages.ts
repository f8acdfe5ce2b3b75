import type Dockerode from 'dockerode';

/**
 * Reads a build's output and finds the last image of each stage. The classic builder and Podman
 * leave these images without a tag.
 */
export interface StageReader {
  line(text: string): void;
  /** Image ids, in the short form in which they were printed. */
  images(): readonly string[];
}

/** Docker prints `Step 1/7 : FROM a`, Podman `STEP 1/2: FROM a` or `[1/3] STEP 1/2: FROM a`. */
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
 * Tags the stages of a build in `repository`, so that they are kept as the app's build cache, and
 * removes the tags that earlier builds of the app set.
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
