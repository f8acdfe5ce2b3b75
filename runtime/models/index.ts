/** `@twofold/models`: everything that a project may import. */
import type { HostedPart } from '@twofold/hosting';
import { modelFlows } from './flows/index.ts';
import { createModelKeys } from './keys/model-keys.ts';
import { readModelKey } from './keys/present-key.ts';
import { modelMigrations } from './keys/tables.ts';
import { createModels } from './models.ts';

/**
 * Local language models, as `hosting.models` of the manifest says.
 *
 * @example defineApp({ project, capabilities: [auth(), hosting(), models()] });
 */
export function models(): HostedPart {
  return {
    name: 'models',
    flows: modelFlows,
    create: () => null,
    hosted: {
      migrations: modelMigrations,
      before: ({ store, now }) => [readModelKey(createModelKeys(store, now))],
      createWork: createModels,
    },
  };
}
