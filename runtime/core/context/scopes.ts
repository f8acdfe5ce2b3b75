/** The format of a scope of an API key or a role: `posts:read`, `posts:*`, `*:read` or `*`. */
export const SCOPE = /^(\*|\*:read|[a-z][A-Za-z0-9_-]*:(\*|[a-z][A-Za-z0-9_-]*))$/;

/**
 * Whether a list of scopes or permissions includes the wanted one. `posts:*` includes every action
 * on posts, `*:read` every read, `*` everything. A wanted wildcard is included only by the same or
 * a wider one.
 *
 * @example hasScope(['posts:*'], 'posts:read') // true
 */
export function hasScope(held: readonly string[], wanted: string): boolean {
  return held.some(
    (scope) =>
      scope === '*' ||
      scope === wanted ||
      (scope.endsWith(':*') && wanted.startsWith(scope.slice(0, -1))) ||
      (scope === '*:read' && wanted.endsWith(':read')),
  );
}
