import { parseDocument } from 'yaml';
import type { ImportedAccess } from './imported.ts';

/**
 * Sets `database.managed` in a manifest. The rest of the text stays if the key is there already.
 *
 * @example setManaged('name: shop\n', false) // 'name: shop\ndatabase:\n  managed: false\n'
 */
export function setManaged(text: string, managed: boolean): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const known = document.getIn(['database', 'managed']);
  if (known === managed || (known === undefined && managed)) return text;
  document.setIn(['database', 'managed'], managed);
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
