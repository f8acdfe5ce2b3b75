import type { Trx } from '../tables.ts';
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

/**
 * A link for the operator, or why there can be none: the application is absent or closed, or does
 * not let them in.
 */
export type EntryLink =
  | { readonly ok: true; readonly link: string }
  | { readonly ok: false; readonly reason: 'absent' | 'closed' | 'host' };

/** Makes the link for an application that the operator may enter now. */
export async function linkTo(parts: AuthParts, client: string): Promise<EntryLink> {
  const application = parts.applications.get(client);
  if (!application) return { ok: false, reason: 'absent' };
  if (!application.open) return { ok: false, reason: 'closed' };
  if (!application.host) return { ok: false, reason: 'host' };
  return { ok: true, link: await hostLink(parts, application) };
}

/** Redeems the code of a link for the operator. @throws AppError 400 `Invalid or expired token` */
export async function useHostLink(
  { oneTime }: AuthParts,
  trx: Trx,
  code: string,
  client: string | null,
): Promise<void> {
  const { data } = await oneTime.consume(trx, 'host_link', code);
  if (client === null || data['client'] !== client) throw invalidToken();
}
