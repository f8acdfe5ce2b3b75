import { call } from '../../call.ts';
import type { Deployment } from './types.ts';

/** Sends an archive, which is built and deployed. The answer comes before the build begins. */
export function uploadSource(
  config: Readonly<Record<string, unknown>>,
  source: File,
): Promise<Deployment> {
  const form = new FormData();
  form.set('config', JSON.stringify(config));
  form.set('source', source);
  return call<Deployment>('POST', '/api/deploy', form);
}
