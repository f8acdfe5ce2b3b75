import { failure } from '../../errors.ts';
import type { Writer } from './writer.ts';

/**
 * The generator refuses a schema whose mutations write the columns that users sign in with. This
 * check covers models from another source, and rows that are made by the key that they were looked
 * for.
 *
 * @throws AppError `FORBIDDEN`
 */
export function assertIdentityKept(
  { model, rules }: Writer,
  entity: string,
  { column, name }: { readonly column: string; readonly name: string },
): void {
  const user = model.project.auth?.user;
  if (!user || user.entity !== entity || rules.writesIdentity) return;
  if (user.identity.includes(column))
    throw failure.forbidden(`${name} is changed by the flows of signing in alone`);
}
