import { didYouMean } from '../../did-you-mean.ts';
import type { Manifest } from '../../parse/manifest.ts';
import type { Finding } from '../../parse/places.ts';
import { finding, type Rule } from '../../rules/finding.ts';
import { rolesOf } from '../build.ts';

/** Paths of other parts of the server. Everything below them belongs to these parts too. */
const TAKEN = ['/api', '/auth', '/metrics'] as const;
const PERMISSION = /^(\*|\*:read|[a-z][\w-]*:(\*|[a-z][\w-]*))$/;

/**
 * CONSOLE_PATH_TAKEN, CONSOLE_ROLES_WITHOUT_AUTH, CONSOLE_ROLE_UNKNOWN, CONSOLE_PERMISSION_INVALID:
 * values of the console section that must fit the rest of the manifest.
 */
export const settings: Rule = function* ({ facts: { manifest } }) {
  const section = manifest.values.console;
  if (!section) return;
  yield* pathFindings(manifest, section.path);
  if (section.roles !== undefined && !manifest.values.auth?.roles)
    return yield finding('CONSOLE_ROLES_WITHOUT_AUTH', manifest.at(['console', 'roles']), {
      summary: 'console.roles names roles, and nobody has one',
      why: 'the manifest has no auth.roles',
      fix: 'auth: { roles: { list: [Owner, Member], first: Owner } }',
    });
  if (section.roles !== undefined) yield* roleFindings(manifest, rolesOf(section, manifest.values));
};

function* pathFindings({ values, at }: Manifest, path: string): Generator<Finding> {
  const { metrics } = values.observability;
  const page = typeof metrics === 'object' ? [metrics.path] : [];
  // The router ignores letter case.
  const asked = `${path.toLowerCase()}/`;
  const taken = [...TAKEN, values.api.path, ...page].find((other) =>
    asked.startsWith(`${other.toLowerCase()}/`),
  );
  if (path !== '/' && taken === undefined) return;
  yield finding('CONSOLE_PATH_TAKEN', at(['console', 'path']), {
    summary: `console.path: ${path} belongs to another part of the server`,
    why: path === '/' ? 'every path is below it' : `${taken} answers there`,
    fix: 'path: /console',
  });
}

function* roleFindings(
  { values, at }: Manifest,
  roles: Readonly<Record<string, readonly string[]>>,
): Generator<Finding> {
  const known = values.auth?.roles?.list ?? [];
  for (const [role, permissions] of Object.entries(roles)) {
    if (!known.includes(role))
      yield finding('CONSOLE_ROLE_UNKNOWN', at(['console', 'roles']), {
        summary: `console.roles: ${role} is no role`,
        why: `auth.roles.list has ${known.join(', ')}`,
        fix: didYouMean(role, known) ?? `roles: [${known[0]}]`,
      });
    for (const permission of permissions.filter((each) => !PERMISSION.test(each)))
      yield finding('CONSOLE_PERMISSION_INVALID', at(['console', 'roles', role]), {
        summary: `console.roles.${role}: ${permission} is no permission`,
        why: 'a permission is area:action, area:*, *:read or *',
        fix: 'data:read',
      });
  }
}
