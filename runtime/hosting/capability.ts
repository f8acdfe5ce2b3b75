import type { Capability } from '@twofold/runtime/kernel';
import { hostedParts } from './hosted-part.ts';
import { createHosting } from './hosting.ts';

/**
 * Hosting of container apps, configured by the manifest's `hosting` section.
 *
 * @example defineApp({ project, capabilities: [auth(), hosting(), models()] });
 */
export function hosting(): Capability {
  return {
    name: 'hosting',
    create: (kernel, all) => {
      const model = kernel.project.hosting;
      return model && createHosting({ kernel, model, parts: hostedParts(all) });
    },
  };
}
