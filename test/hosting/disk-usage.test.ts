import type Dockerode from 'dockerode';
import { describe, expect, it } from 'vitest';
import { volumeSizes } from '../../runtime/hosting/engine/dockerode/build-cache.ts';

const GONE =
  'failed to get state of container 7d2: container 7d2 does not exist in database: no such container';

/** An engine that answers with these errors first. */
function engineWith(errors: string[]) {
  const df = async () => {
    const message = errors.shift();
    if (message) throw Object.assign(new Error(message), { statusCode: 500 });
    return { Volumes: [{ Name: 'data', UsageData: { Size: 7 } }] };
  };
  return { df } as unknown as Dockerode;
}

describe('what an engine holds', () => {
  it('is counted again when a container went away meanwhile, with which Podman fails', async () => {
    expect(await volumeSizes(engineWith([GONE, GONE]))).toEqual(new Map([['data', 7]]));
  });

  it('is not counted again when the engine fails for another reason', async () => {
    await expect(volumeSizes(engineWith(['the disk is broken']))).rejects.toThrow('disk is broken');
  });
});
