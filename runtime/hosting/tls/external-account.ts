import type { Settings } from '@twofold/runtime/kernel';
import type { ExternalAccount } from './acme.ts';

/**
 * The account at a certificate authority, from the environment. Half of it is reported to
 * `settings`.
 */
export function externalAccountOf(settings: Settings): ExternalAccount | null {
  const id = settings.text('ACME_EAB_ID');
  const key = settings.text('ACME_EAB_KEY');
  if (id !== undefined && key !== undefined) return { id, key };
  if (id !== undefined || key !== undefined)
    settings.problem('ACME_EAB_ID and ACME_EAB_KEY belong together: set both, or neither');
  return null;
}
