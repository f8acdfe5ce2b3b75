import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import { volumeName } from '../deploy/containers.ts';

export function volumeHandlers(core: Core) {
  return {
    async listVolumes({ params }: Call) {
      const app = core.apps.byName(params['name'] as string);
      const { volumes } = app.spec;
      const sizes = volumes.length > 0 ? await core.connection.engine().volumeSizes() : new Map();
      const bytesOf = (name: string) => sizes.get(volumeName(core.naming, app, name)) ?? null;
      return reply(200, {
        volumes: volumes.map(({ name, path }) => ({ name, path, bytes: bytesOf(name) })),
        total: volumes.length,
      });
    },
  };
}
