import { parseDocument } from 'yaml';
import type { IdKind } from '@twofold/schema';
import type { ImportedAccess } from './imported.ts';

/** What an import says of the database. */
export interface DatabaseSection {
  readonly managed: boolean;
  readonly ids: IdKind;
}

/**
 * Sets `database.managed` in a manifest, and `database.ids` where it has none. The rest of the text
 * stays.
 *
 * @example withDatabase('name: shop\n', { managed: false, ids: 'integer' }) // 'name: shop\ndatabase:\n  managed: false\n'
 */
export function withDatabase(text: string, { managed, ids }: DatabaseSection): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const manages = document.getIn(['database', 'managed']) ?? true;
  const names = ids === 'uuid' && !document.hasIn(['database', 'ids']);
  if (manages === managed && !names) return text;
  if (manages !== managed) document.setIn(['database', 'managed'], managed);
  if (names) document.setIn(['database', 'ids'], ids);
  return document.toString({ lineWidth: 0 });
}

/**
 * Adds the roles that the rules name, and the type that signs in, to a manifest. Values that are
 * there already stay.
 *
 * @example withAccess('name: shop\n', { roles: ['editor'] })
 */
export function withAccess(text: string, access: ImportedAccess | undefined): string {
  if (!access) return text;
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const auth = (document.toJS() as { auth?: AuthSection | null }).auth ?? {};
  const listed = auth.roles?.list ?? [];
  const missing = access.roles.filter((role) => !listed.includes(role));
  const names = access.user !== undefined && auth.user === undefined;
  if (missing.length === 0 && !names && document.has('auth')) return text;
  if (!document.get('auth')) document.set('auth', document.createNode({}));
  if (names) document.setIn(['auth', 'user'], access.user);
  // A new user gets the last role of the list, so new roles are added before those that are there.
  if (missing.length > 0)
    document.setIn(
      ['auth', 'roles', 'list'],
      document.createNode([...missing, ...listed], { flow: true }),
    );
  return document.toString({ lineWidth: 0 });
}

interface AuthSection {
  readonly user?: string;
  readonly roles?: { readonly list?: readonly string[] };
}
