import { parseDocument } from 'yaml';
import type { ImportedAccess } from './imported.ts';

/**
 * A manifest with `database.managed` set; nothing else of its text changes where the value is
 * there already.
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
 * A manifest with the roles that the rules of the schema name, and the type that signs in. What is
 * there already stays.
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
  // The last one of the list is what a new user gets: those that are there keep their places.
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
