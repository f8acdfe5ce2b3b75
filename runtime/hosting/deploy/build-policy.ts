import type { Core } from '../core.ts';
import type { DockerfilePolicy } from '../source/dockerfile.ts';

/** What Dockerfiles may do. A registry whose user was set by the API counts as named in `from`. */
export async function buildPolicy({ model, registries }: Core): Promise<DockerfilePolicy> {
  const { allowAddUrl, from } = model.build;
  return { allowAddUrl, from: [...from, ...(await registries.named())] };
}
