import type { Transaction } from 'kysely';
import type { OwnApplication } from '@twofold/runtime/kernel';
import type { AuthParts } from '../parts.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';

/**
 * A link that signs the operator in to an application, once, for ten minutes. The code stands behind
 * `#`, so that it is in no access log and no `Referer`.
 *
 * @example await hostLink(parts, application) // 'http://localhost:8080/console#code=…'
 */
export async function hostLink(
  { oneTime, kernel, config }: AuthParts,
  { client, path }: OwnApplication,
): Promise<string> {
  const options = { data: { client }, newestOnly: false };
  const code = await oneTime.issue(kernel.store.db, 'host_link', null, options);
  return `${config.appUrl}${path}#code=${code}`;
}

/** Uses the code of such a link up. @throws AppError 400 `Invalid or expired token` */
export async function useHostLink(
  { oneTime }: AuthParts,
  trx: Transaction<any>,
  code: string,
  client: string | null,
): Promise<void> {
  const { data } = await oneTime.consume(trx, 'host_link', code);
  if (client === null || data['client'] !== client) throw invalidToken();
}
